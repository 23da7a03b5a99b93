"""What is left in memory of a text once its spans are gone: nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from incognote.detectors.rules import RulesDetector
from incognote.nouns import Span, Text

STEM = "zerq"  # each planted word is made while the test runs, so that no constant of a code object holds it


@pytest.fixture
def rare() -> str:
    """A word that neither the lexicon nor any gazetteer has, in small letters."""
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
    assert held(rare)  # the walk sees what is alive
    del spans
    assert held(rare) == []
