"""The finders for English that are more than patterns, one module per family."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from incognote.detectors.rules.view import Candidate, View
from incognote_en.rules import (
    demographics,
    hl7,
    holidays,
    names,
    neighbors,
    organizations,
    places,
    professions,
    residue,
    usernames,
)
from incognote_en.rules.holidays import is_holiday
from incognote_en.rules.names.words import vocabulary
from incognote_en.rules.validators import VALIDATORS

__all__ = ["EXAMPLE", "FINDERS", "NEUTRAL", "VALIDATORS", "is_holiday", "never_names"]

EXAMPLE = "Seen by Dr. Emily Carter in Springfield."
"""A text that makes every finder load its tables."""

NEUTRAL = ("network", "hl7")
"""The files of rules that hold in every language."""

FINDERS: tuple[Callable[[View], Iterable[Candidate]], ...] = (
    hl7.find,
    names.find,
    places.find,
    organizations.find,
    professions.find,
    demographics.find,
    neighbors.find,
    holidays.find,
    residue.find,
    usernames.find,
)


def never_names() -> frozenset[str]:
    """Words and pairs of words that are never names, folded."""
    return vocabulary()["never"]
