"""Names of persons: parse, compare, guess gender and locale, and render with other parts."""

from __future__ import annotations

from incognote.relex.names.components import components, fit, settled
from incognote.relex.names.guess import Guess, gender, locale
from incognote.relex.names.parsed import NamePiece, Parsed, fullest, key, render
from incognote.relex.names.reading import parse, readings

__all__ = [
    "Guess",
    "NamePiece",
    "Parsed",
    "components",
    "fit",
    "fullest",
    "gender",
    "key",
    "locale",
    "parse",
    "readings",
    "render",
    "settled",
]
