"""The finders for Spanish: names, institutions and towns from the word lists."""

from __future__ import annotations

from incognote.detectors.rules.listed import finders

FINDERS = finders("es")
VALIDATORS = {}
EXAMPLE = ""
