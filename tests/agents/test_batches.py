"""Whole batches in the loop: order is irrelevant, other callers' records run alone, a failure belongs to the batch."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from incognote import Deidentifier
from incognote.agents.batches import relexicalize_batch, relexicalize_items
from incognote.agents.graph import run
from incognote.agents.item import Item
from incognote.agents.runtime import Runtime
from incognote.errors import IndexUnavailable
from incognote.keys import Keyring
from incognote.relex.agents.base import RelexNote
from incognote.relex.batch import BatchBarrier, BatchOutcome, BatchReport, Tools
from incognote.relex.generate import Generators
from incognote.relex.graph import relexicalize
from incognote.relex.index.opening import open_index
from incognote.relex.nouns import MentionVariant

SPANS = ((0, 6, "CLINICIAN"),)
LONE = Item("Wilson wrote.", id="1", patient="p1", spans=SPANS)
FULL = Item("Adam Wilson wrote.", id="2", patient="p2", spans=((0, 11, "CLINICIAN"),))


@pytest.fixture
def deid(tmp_path: Path) -> Iterator[Deidentifier]:
    keyring = Keyring.write_new(tmp_path / "a.key")
    url = f"sqlite:///{tmp_path / 'index.db'}"

    async def create() -> None:
        await (await open_index(url, keyring, create=True)).aclose()

    Runtime.shared().run(create())
    with Deidentifier("surrogate", index=url, key_file=tmp_path / "a.key") as made:
        yield made


def test_a_name_in_an_earlier_record_of_the_batch_is_read_by_a_later_one(deid: Deidentifier) -> None:
    lone, full = relexicalize_items([LONE, FULL], deid.engine)
    assert full.replacements[0].identity == lone.replacements[0].identity
    assert full.output().startswith(full.replacements[0].text)
    assert full.replacements[0].text.endswith(" " + lone.replacements[0].text)
    assert deid.engine.relexing.counts["rounds"] == 1


def test_each_batch_is_one_loop(deid: Deidentifier) -> None:
    results = list(relexicalize_items([LONE, FULL], deid.engine, together=1))
    assert len(results) == 2
    assert deid.engine.relexing.counts["rounds"] == 2


def test_a_batch_is_complete_with_so_many_characters(deid: Deidentifier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.agents.item.MOST_CHARACTERS", len(LONE.content) + len(FULL.content))
    assert len(list(relexicalize_items([LONE, FULL, LONE], deid.engine))) == 3
    assert deid.engine.relexing.counts["rounds"] == 2


@pytest.mark.parametrize("size", [2, 1000])
async def test_results_come_as_soon_as_a_batch_is_complete_and_the_rest_when_the_items_end(
    deid: Deidentifier, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """A batch is complete by its number of records or by its number of characters, both sync and async."""
    monkeypatch.setattr("incognote.sdk.TOGETHER", size)
    monkeypatch.setattr("incognote.agents.item.MOST_CHARACTERS", 2 * len(LONE.content))
    read: list[Item] = []

    def items() -> Iterator[Item]:
        for _ in range(3):
            read.append(LONE)
            yield LONE

    results = deid.batch(items())
    assert next(results).verdict.released
    assert len(read) == 2
    assert [result.verdict.released for result in results] == [True, True]
    read.clear()
    arrived = [len(read) async for _ in deid.abatch(items())]
    assert arrived == [2, 2, 3]


def test_a_record_of_another_caller_does_not_join_the_batch(
    deid: Deidentifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[list[str]] = []

    async def counting(notes: Sequence[RelexNote], tools: Tools) -> BatchOutcome:
        served.append(sorted(note.record for note in notes))
        return await relexicalize(notes, tools)

    async def both() -> None:
        alone = Item("Ruiz wrote.", id="3", patient="p3", spans=((0, 4, "CLINICIAN"),))
        await asyncio.gather(relexicalize_batch([LONE, FULL], deid.engine), run(alone, deid.engine))

    monkeypatch.setattr("incognote.relex.graph.relexicalize", counting)
    Runtime.shared().run(both())
    assert sorted(served) == [["1", "2"], ["3"]]


def test_a_batch_of_records_without_mentions_ends(deid: Deidentifier) -> None:
    bare = [Item("No change.", id="1", spans=()), Item("", id="2", fault="unreadable")]
    outcomes = [one.verdict.outcome for one in relexicalize_items([*bare, LONE], deid.engine)]
    assert outcomes == ["release", "quarantine", "release"]


def test_half_a_character_holds_its_own_record_and_leaves_nothing_in_the_index(deid: Deidentifier) -> None:
    halves = [
        Item("Ruiz\ud83d wrote.", id="3", patient="p1", spans=((0, 5, "CLINICIAN"),)),
        Item("Ruiz wrote.", id="4", patient="p1\ud83d", spans=((0, 4, "CLINICIAN"),)),
    ]
    for _ in range(2):
        results = list(relexicalize_items([*halves, LONE, FULL], deid.engine))
        assert [one.verdict.outcome for one in results] == ["quarantine", "quarantine", "release", "release"]
        assert {reason.code for one in results for reason in one.verdict.reasons} == {"malformed"}


def test_an_error_while_a_surrogate_is_written_holds_its_own_record_only(
    deid: Deidentifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    render = Generators.render

    def failing(self: Generators, variant: MentionVariant, *rest: Any) -> Any:
        if variant.words == "WILSON":
            raise LookupError("a bug")
        return render(self, variant, *rest)

    monkeypatch.setattr(Generators, "render", failing)
    bad = Item("WILSON wrote.", id="3", patient="p1", spans=SPANS)
    assert [one.verdict.outcome for one in relexicalize_items([bad, FULL], deid.engine)] == ["quarantine", "release"]
    assert [one.verdict.outcome for one in relexicalize_items([LONE], deid.engine)] == ["release"]


def test_where_the_index_fails_every_record_waits_or_the_error_is_raised(deid: Deidentifier, tmp_path: Path) -> None:
    (tmp_path / "index.db").unlink()
    with pytest.raises(Exception, match="index"):
        list(relexicalize_items([LONE], deid.engine, raise_faults=True))
    results = list(relexicalize_items([LONE, FULL], deid.engine))
    assert [one.verdict.outcome for one in results] == ["quarantine", "quarantine"]


async def test_an_interrupt_leaves_nobody_waiting() -> None:
    async def interrupted(notes: Sequence[RelexNote]) -> BatchOutcome:
        raise KeyboardInterrupt

    barrier = BatchBarrier(2, interrupted)
    first = asyncio.create_task(barrier.outcome(RelexNote("1", "p1")))
    await asyncio.sleep(0)
    with pytest.raises(KeyboardInterrupt):
        await barrier.outcome(RelexNote("2", "p2"))
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_note_that_comes_after_its_batch_goes_alone() -> None:
    served: list[int] = []

    async def loop(notes: Sequence[RelexNote]) -> BatchOutcome:
        served.append(len(notes))
        return BatchOutcome({}, BatchReport())

    one = RelexNote("1", "p1")
    barrier = BatchBarrier(2, loop)
    await barrier.withdraw()
    await barrier.outcome(one)
    await barrier.outcome(one)
    assert served == [1, 1]


async def test_an_index_fault_is_kept_for_the_batch() -> None:
    async def loop(notes: Sequence[RelexNote]) -> BatchOutcome:
        raise IndexUnavailable("The index does not answer")

    barrier = BatchBarrier(1, loop)
    with pytest.raises(IndexUnavailable):
        await barrier.outcome(RelexNote("1", "p1"))
    assert isinstance(barrier.fault, IndexUnavailable)
