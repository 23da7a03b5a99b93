"""Scores against annotated texts: `evaluate` gives a Report."""

from incognote.evaluation.report import Report
from incognote.evaluation.scores import evaluate

__all__ = ["Report", "evaluate"]
