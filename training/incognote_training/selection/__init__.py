"""Which notes to annotate and train on: CIPHER's features, outliers and strata (its table 1 and the text below it)."""

from incognote_training.selection.features import FEATURES, features
from incognote_training.selection.sampling import outliers, robust_z, select

__all__ = ["FEATURES", "features", "outliers", "robust_z", "select"]
