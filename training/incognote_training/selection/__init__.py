"""Choose notes to annotate and train on, by CIPHER's features, outliers, and strata (table 1 and the text below)."""

from incognote_training.selection.features import FEATURES, features
from incognote_training.selection.sampling import outliers, robust_z, select

__all__ = ["FEATURES", "features", "outliers", "robust_z", "select"]
