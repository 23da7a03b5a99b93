"""The finders for Arabic: names, institutions and towns from the word lists."""

from __future__ import annotations

from incognote.detectors.rules.listed import finders

FINDERS = finders("ar")
VALIDATORS = {}
EXAMPLE = ""
