"""After its spans are gone, nothing of a text remains in memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.detectors.rules import RulesDetector
from incognote.nouns import Span, Text

STEM = "zerq"  # planted words are assembled at run time so that no code object holds them as constants


@pytest.fixture
def rare() -> str:
    """A lowercase word that is in neither the lexicon nor any gazetteer."""
    return "".join((STEM, "kot", "ovax"))


def _found(rare: str) -> list[Span]:
    name, shout = rare.title(), rare.upper()
    text = Text(
        f"Patient: {shout}, Marisol\nMRN: {len(rare)}4711{rare}\n"
        f"Dr. {name}-Smith saw Mrs {name}’s son Non-{name} at {name} General Hospital, 12 {name} Street, {name}ville.\n"
        f"She met {name} and Élodie {name}é, a {rare} operator from {name}. Signed by {name} RN\n"
        f"{rare} called. The {name} clamp was used; {name}s were seen by J. {name}.\n"
    )
    return RulesDetector().detect([text])[0]


def test_no_word_of_a_text_outlives_its_spans(rare: str, held: Callable[[str], list[str]]) -> None:
    spans = _found(rare)
    assert len(spans) > 4
    assert held(rare)  # the walk finds live objects
    del spans
    assert held(rare) == []
