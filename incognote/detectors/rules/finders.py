"""The finders that RulesDetector runs over each text, one module per family."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from incognote.detectors.rules import (
    demographics,
    hl7,
    names,
    organizations,
    patterns,
    places,
    professions,
    residue,
    tables,
)
from incognote.detectors.rules.view import Candidate, View

FINDERS: tuple[Callable[[View], Iterable[Candidate]], ...] = (
    patterns.find,
    tables.find,
    hl7.find,
    names.find,
    places.find,
    organizations.find,
    professions.find,
    demographics.find,
    residue.find,
)
