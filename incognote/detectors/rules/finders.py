"""The finders that RulesDetector runs over each text, one module per family."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from incognote.detectors.rules import patterns
from incognote.detectors.rules.view import Candidate, View

FINDERS: tuple[Callable[[View], Iterable[Candidate]], ...] = (patterns.find,)
