"""The finders for French: names, institutions and towns from the word lists."""

from __future__ import annotations

from incognote.detectors.rules.listed import finders

FINDERS = finders("fr")
VALIDATORS = {}
EXAMPLE = ""
