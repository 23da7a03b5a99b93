"""What is told of scores: of one corpus for a terminal and as JSON, of an experiment as a page.

scored      one system on one corpus, as `incognote evaluate` tells it
tables      the same, for a terminal
several     several systems on one corpus, pair by pair
"""

from incognote.evaluation.report.scored import Report, Row

__all__ = ["Report", "Row"]
