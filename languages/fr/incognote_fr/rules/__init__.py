"""The finders for French: names, institutions and towns from the word lists, and cues of their own."""

from __future__ import annotations

from incognote.detectors.rules.listed import finders
from incognote_fr.rules.cues import find
from incognote_fr.rules.validators import VALIDATORS

__all__ = ["EXAMPLE", "FINDERS", "VALIDATORS"]

FINDERS = (*finders("fr"), find)
EXAMPLE = "Vue par le Dr Claire Martin à Bordeaux."
