"""Score predictions against annotated texts: `evaluate` returns a ScoreReport."""

from incognote.evaluation.report import ScoreReport
from incognote.evaluation.scores import evaluate

__all__ = ["ScoreReport", "evaluate"]
