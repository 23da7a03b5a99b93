"""Shared test helpers of this folder: marked texts and a runner for one finder."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from incognote.detectors.rules import patterns
from incognote.detectors.rules.view import Candidate, View
from incognote.nouns import Text

PATTERNS = patterns.finder("en")
Find = Callable[[View], Iterable[Candidate]]


@pytest.fixture
def check() -> Callable[..., None]:
    """Assert that a finder's results of score 0.5 or more are exactly the text between ⟦ and ⟧, with one of the types.

    With `edges=False`, only letters and digits count, however many spans cover them: whether a comma at the edge is
    part of an address is a matter of taste.
    """

    def run(marked: str, *types: str, find: Find = PATTERNS, edges: bool = True) -> None:
        expected = []
        plain = ""
        for n, piece in enumerate(marked.replace("⟧", "⟦").split("⟦")):
            if n % 2:
                expected.append((len(plain), len(plain) + len(piece), piece))
            plain += piece
        candidates = [c for c in find(View(Text(plain))) if c.score >= 0.5]
        found = sorted({(c.start, c.end, plain[c.start : c.end]) for c in candidates})
        if edges:
            assert found == expected
        else:
            assert _letters(plain, found) == _letters(plain, expected)
        if types:
            assert {c.type for c in candidates} <= set(types)

    return run


def _letters(text: str, spans: Iterable[tuple[int, int, str]]) -> set[int]:
    """The positions of letters and digits covered by spans."""
    return {i for start, end, _ in spans for i in range(start, end) if text[i].isalnum()}
