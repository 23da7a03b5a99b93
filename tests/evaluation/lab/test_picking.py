"""Which excerpts of a pool become examples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from incognote.errors import UsageError
from incognote.evaluation.corpus import Gold, LabeledSpan
from incognote.evaluation.lab.picking import STRATEGIES, Strategy, form, picked, unseen
from incognote.evaluation.lab.pool import LEAST, annotated, candidates
from incognote.extraction.chunks import length
from incognote.prompts.overlay import Example

FILLER = "and the wound was looked at twice a day by somebody from the team until it was dry"


def document(number: int, *marked: tuple[str, str], filler: str = FILLER) -> Gold:
    text, labels = f"Note {number}: ", []
    for type_, words in marked:
        labels.append(LabeledSpan(len(text), len(text) + len(words), type_))
        text += f"{words} came, "
    return Gold(f"d{number}", text + f"{filler} {number}", tuple(labels))


POOL = [
    document(0, ("PATIENT", "Ana Ruiz")),
    document(1, ("PATIENT", "Bo Lind")),
    document(2, ("DATE", "3/1/2024"), ("PATIENT", "Cy Park")),
    document(3, ("DATE", "May 5")),
    document(4, filler="aspirin was stopped since the stomach bled and nothing else was found on that long ward round"),
]


def chosen(
    strategy: Strategy, k: int, *, found: Sequence[Sequence[LabeledSpan]] = (), like: Sequence[str] = ()
) -> list[int]:
    offered = candidates(POOL)
    taken = picked(strategy, offered, k, gold=POOL, found=lambda: found, like=like or [one.text for one in POOL])
    assert len({id(one) for one in taken}) == k
    return [one.document for one in taken]


def test_covering_shows_types_first_then_forms() -> None:
    assert chosen("covering", 3)[0] == 2
    assert chosen("covering", 2)[1] == 3, "a new form of DATE; the names are of a form that is shown"


def test_hardest_takes_what_was_missed_or_wrongly_taken() -> None:
    right = [one.labels for one in POOL]
    found = [right[0], (), right[2], right[3], (LabeledSpan(0, 9, "PERSON"),)]
    assert chosen("hardest", 2, found=found) == [4, 1] or chosen("hardest", 2, found=found) == [1, 4]


def test_similar_takes_what_is_near_and_holds_an_identifier() -> None:
    assert chosen("similar", 1, like=["May 5 came May 5 came"]) == [3]


def test_similar_takes_an_embedder() -> None:
    class Last:
        """An embedder that finds texts similar only if their last word is the same."""

        def embed(self, texts: Sequence[str]) -> NDArray[np.floating]:
            return np.array([[float(text.split()[-1] == str(n)) for n in range(5)] for text in texts])

    offered = candidates(POOL)
    taken = picked("similar", offered, 1, gold=POOL, found=list, like=["x 1"], embedder=Last())
    assert [one.document for one in taken] == [1]


def test_random_is_as_its_seed_says() -> None:
    offered = candidates(POOL)
    draws = {
        tuple(one.document for one in picked("random", offered, 2, gold=POOL, found=list, like=[], seed=seed))
        for seed in (1, 1, 2, 3, 4, 5)
    }
    assert 1 < len(draws) <= 5


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_nothing_that_quotes_a_document_to_be_scored_is_offered(strategy: Strategy) -> None:
    left = unseen(candidates(POOL), [POOL[0].text, POOL[2].text[:90]], 1)
    assert {one.document for one in left} == {4}, "the others share the filler's words"
    with pytest.raises(UsageError, match="Use another pool"):
        unseen(candidates(POOL), [one.text for one in POOL], 1)


@given(st.integers(16, 80))
def test_every_candidate_is_a_stretch_of_its_document_with_all_that_is_marked_in_it(words: int) -> None:
    gold = annotated(Path(__file__).parents[2] / "data" / "notes.jsonl")[:6]
    offered = candidates(gold, words)
    assert offered
    for one in offered:
        source = gold[one.document]
        assert one.example.text == source.text[one.start : one.end]
        assert LEAST <= length(one.example.text) <= 1.15 * words
        inside = {(a - one.start, b - one.start, t) for a, b, t in source.labels if one.start < b and a < one.end}
        assert set(one.example.found) == inside
        assert Example.of(one.example.marked) == one.example


@pytest.mark.parametrize(
    ("words", "shape"),
    [("3/1/2024", "9/9/9999"), ("MacGill, I.", "Aa, A."), ("JAN 5th", "A 9a"), ("a\n b", "a a"), ("Ana", "Aa")],
)
def test_a_form_is_how_an_identifier_is_written(words: str, shape: str) -> None:
    assert form(words) == shape
