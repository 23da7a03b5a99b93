"""Reports of scores: for one corpus in a terminal and as JSON, for an experiment as a page.

scored      the scores of one system on one corpus, as `incognote evaluate` reports them
several     several systems on one corpus, compared pair by pair
gathered    all finished cells of an experiment, measured and named
curves      precision and recall over thresholds, and the cost of a note
charts      the figures of the page
drawing     figures as SVG and PNG
protocol    the layouts of RedactOR's tables
mistakes    misses and false alarms in their context
sections    the page's section on one corpus
markup      HTML
experiment  the page, the figures, and the JSON
"""

from incognote.evaluation.report.scored import ScoreReport, SliceScores

__all__ = ["ScoreReport", "SliceScores"]
