"""What is taken from notes without PHI."""

from __future__ import annotations

import pytest

from incognote.errors import ImpossibleSpan, UsageError
from incognote.evaluation.corpus import Label, Pair
from incognote.evaluation.metrics.overredaction import over_redaction


def test_the_notes_by_hand(notes: list[Pair]) -> None:
    # Only 100-03 is free of PHI. "Foley out, no fever." has 15 letters, Foley 5 of them.
    result = over_redaction(notes, resamples=50)
    assert (result.documents.value, result.documents.of) == (1, 1)
    assert (result.characters.value, result.characters.of) == (5 / 15, 15)
    assert result.types == {"PERSON": 1}


def test_a_note_left_alone_counts_too(notes: list[Pair]) -> None:
    # 6 letters more, none of them taken; no type is left out, and signs are no characters.
    result = over_redaction([*notes, Pair("4", "stable -", (), (Label(7, 8, "OCCUPATION"),)), Pair("5", "", (), ())])
    assert (result.documents.value, result.documents.of) == (2 / 3, 3)
    assert result.characters.value == 5 / 21
    assert result.types == {"PERSON": 1, "PROFESSION": 1}


def test_without_such_a_note_there_is_no_score(notes: list[Pair]) -> None:
    with pytest.raises(UsageError, match="without PHI"):
        over_redaction(notes[:2])


def test_a_finding_outside_its_text_is_refused() -> None:
    with pytest.raises(ImpossibleSpan):
        over_redaction([Pair("1", "out", (), (Label(0, 9, "PERSON"),))])
