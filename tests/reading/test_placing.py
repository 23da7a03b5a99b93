"""Placing phrases through real HTTP, at small scale. `incognote_benchmarks.reading.placing` measures the full set.

40 development notes (synthetic), with added lines that were not consulted while the aligner's lists grew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from incognote import Deidentifier
from incognote.align.mentions import Placement
from incognote.nouns import Mention
from incognote.testing import LocalServer
from incognote_benchmarks.reading import listening as hearing
from incognote_benchmarks.reading import placing
from incognote_benchmarks.reading.drawing import Note, outcome
from incognote_benchmarks.reading.listening import listening

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def notes() -> list[Note]:
    return placing.notes(DATA / "notes.jsonl", limit=40)


@pytest.mark.parametrize(
    ("contract", "passes", "noise", "right"),
    [(2, 1, False, 0.99), (2, 1, True, 0.975), (2, 2, False, 0.985), (1, 1, False, 0.96)],
    ids=["verbatim", "noisy", "two passes", "contract 1"],
)
def test_phrases_without_offsets_find_their_characters(
    notes: list[Note], contract: int, passes: int, noise: bool, right: float
) -> None:
    counts = placing.scripted(notes, contract, passes, noise=noise, seed=1, line="unseen")
    n = counts["n"]
    assert n > 800
    assert counts["calls"] >= passes * len(notes)
    assert (counts["right"] + counts["wide"]) / n >= right
    assert counts["wrong"] / n <= 0.01
    assert counts["dropped"] == 0
    assert counts["hard"] / n >= 0.29


@pytest.mark.parametrize("contract", [2, 1])
def test_a_real_models_phrases_never_land_on_another_occurrence(contract: int) -> None:
    told = placing.recorded(placing.notes(DATA / "notes.jsonl"), contract, DATA / "replies")
    first, second = told["first passes"], told["second passes"]
    assert first["texts"] >= 60
    assert second["texts"] >= (15 if contract == 2 else 10)  # a second pass depends on the spans of the first
    assert first["n"] > 900
    assert (first["exact"] + first["folded"] + first["near"] + first["bare"]) / first["n"] >= 0.99
    for counts in told.values():
        assert counts["wrong"] == counts["dropped"] == 0


def test_a_mention_that_the_machine_loses_is_counted(notes: list[Note], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placing, "as_asked", lambda mentions, request: "{}")
    counts = placing.scripted(notes[:3], 2, 1, noise=False, seed=1, line="unseen")
    assert counts["dropped"] == counts["n"] > 0


def test_an_aligner_that_takes_the_first_occurrence_fails(notes: list[Note], monkeypatch: pytest.MonkeyPatch) -> None:
    def first(text: str, mentions: Sequence[Mention], **_: object) -> list[Placement]:
        found = [(text.find(m.words), m) for m in mentions]
        return [Placement(m, ((at, at + len(m.words)),) if at >= 0 else (), "exact", True) for at, m in found]

    monkeypatch.setattr(hearing, "place", first)
    counts = placing.scripted(notes[:10], 2, 1, noise=False, seed=1, line="unseen")
    assert counts["right"] / counts["n"] < 0.9
    assert counts["wrong"] / counts["n"] > 0.01


def test_an_answer_about_the_other_occurrence_is_wrong() -> None:
    own, other = (0, 2, "AGE"), (9, 11, "AGE")
    assert outcome(own, [own], [(0, 2)]) == "right"
    assert outcome(own, [own], [(0, 2), (9, 11)]) == "wrong"
    assert outcome(own, [own, other], [(0, 2), (9, 11)]) == "right"
    assert outcome(own, [own, other], [(9, 11)]) == "other"
    assert outcome(own, [own], [(0, 5)]) == "ragged"
    assert outcome(own, [own], []) == "nowhere"


def test_what_is_heard_is_told_in_offsets_of_the_note() -> None:
    text = "Mr. Abara is 76 years old. " + "He takes 76 mg of aspirin daily and sleeps well. " * 8
    replies = iter(['{"PERSON": ["<<Abara>>"]}', '{"AGE": ["[PERSON] is <<76>> years"]}', *["{}"] * 20])
    with LocalServer(lambda request: next(replies)) as server, listening() as heard:
        address = {"model": "openai/any", "api_base": server.url, "api_key": server.api_key}
        with Deidentifier(detectors=("llm",), passes=2, **address) as deid:
            deid.deidentify(text)
    placed = Counter(text[slice(*s)] for each in heard for p in each.placements for s in each.stretches(p))
    assert placed == {"Abara": 1, "76": 1}
    assert heard[1].view.masks
    assert heard[1].shown((13, 15, "AGE")) == (16, 18)
    assert heard[1].shown((4, 9, "PERSON")) is None
