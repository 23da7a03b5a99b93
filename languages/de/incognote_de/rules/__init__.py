"""The finders for German: names, institutions and towns from the word lists."""

from __future__ import annotations

from incognote.detectors.rules.listed import finders

FINDERS = finders("de")
VALIDATORS = {}
EXAMPLE = ""
