"""The finders for Spanish: names, institutions and towns from the word lists."""

from __future__ import annotations

from incognote.detectors.rules.listed import finders
from incognote_es.rules import names, occupations, places
from incognote_es.rules.validators import VALIDATORS

__all__ = ["EXAMPLE", "FINDERS", "VALIDATORS"]

FINDERS = (names.find, places.find, occupations.find, *finders("es")[1:])
EXAMPLE = "Vista por la Dra. Carmen Ruiz Molina en Sevilla."
