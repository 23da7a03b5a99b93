"""The finders for Arabic: names, institutions, towns, and occupations from the word lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from incognote.detectors.rules.view import Candidate, View
from incognote_ar.rules.jobs import jobs
from incognote_ar.rules.names import names
from incognote_ar.rules.places import places
from incognote_ar.rules.validators import VALIDATORS
from incognote_ar.rules.vowels import without_vowels

__all__ = ["EXAMPLE", "FINDERS", "VALIDATORS"]

FINDERS: tuple[Callable[[View], Iterable[Candidate]], ...] = tuple(map(without_vowels, (names, places, jobs)))
EXAMPLE = "المريض: محمد أحمد العتيبي، ٣٤ سنة، الرياض، موعد ١٢ مايو ٢٠٢٣."
