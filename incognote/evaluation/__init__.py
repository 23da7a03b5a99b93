"""Scores against annotated texts: `evaluate` gives a Report."""

from incognote.evaluation.report import ScoreReport
from incognote.evaluation.scores import evaluate

__all__ = ["ScoreReport", "evaluate"]
