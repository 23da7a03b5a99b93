"""The finders for German: names, institutions and towns from the word lists, searched patterns, and occupations."""

from __future__ import annotations

from incognote.detectors.rules.listed import finders
from incognote_de.rules import searched, work
from incognote_de.rules.validators import VALIDATORS

__all__ = ["EXAMPLE", "FINDERS", "VALIDATORS"]

FINDERS = (*finders("de"), searched.find, work.find)
EXAMPLE = "Frau Dr. Anna Müller aus Köln, Lehrerin, wurde am 3.4.2019 in der Klinik Sonnenhof aufgenommen."
