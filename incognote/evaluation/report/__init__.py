"""What is reported of scores: of one corpus for a terminal and as JSON, of an experiment as a page.

scored      one system on one corpus, as `incognote evaluate` reports it
several     several systems on one corpus, pair by pair
gathered    all finished cells of an experiment, measured and named
curves      precision and recall over thresholds, and what a note costs
charts      its figures
drawing     figures as SVG and PNG
protocol    the layouts of RedactOR's tables
mistakes    misses and false alarms in their context
sections    the page's part on one corpus
markup      HTML
experiment  the page, the figures, the JSON
"""

from incognote.evaluation.report.scored import ScoreReport, SliceScores

__all__ = ["ScoreReport", "SliceScores"]
