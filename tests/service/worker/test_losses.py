"""Settled records are never lost, whatever happens afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import LedgerUnavailable, Unwritable
from incognote.files.quarantine import Quarantine
from incognote.ledger import Ledger
from incognote.nouns import Reason, Result, Verdict
from incognote.runs.destination import FolderDestination
from incognote.sdk import Deidentifier
from incognote.service.worker.hooks import Hooks
from incognote.service.worker.worker import Worker

Lines = Callable[..., str]
KilledAt = Callable[[Any, str], AbstractContextManager[None]]


def slow(patch: pytest.MonkeyPatch) -> None:
    """Give a test time to do something between two shards."""
    real = Deidentifier.abatch

    async def abatch(self: Deidentifier, items: Any) -> AsyncIterator[Any]:
        await asyncio.sleep(0.2)
        async for result in real(self, items):
            yield result

    patch.setattr(Deidentifier, "abatch", abatch)


@pytest.mark.parametrize("stays_away", [False, True])
def test_a_worker_that_is_stopped_while_nobody_knows_whether_it_settled_loses_nothing(
    house: Any, lines: Lines, monkeypatch: pytest.MonkeyPatch, stays_away: bool
) -> None:
    """The settlement is committed, its answer is lost, SIGTERM arrives. Settling again must not delete the shard."""
    house.put("a.jsonl", lines(1, 2, 3))
    worker = house.worker()
    real, calls = Ledger.settle, []

    def settle(self: Ledger, *words: Any, **more: Any) -> None:
        calls.append(words)
        if len(calls) == 1:
            real(self, *words, **more)
            worker.stop()
            raise LedgerUnavailable("away")
        if stays_away:
            raise LedgerUnavailable("away")
        real(self, *words, **more)

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "settle", settle)
        house.run(worker)
    house.run()
    assert house.counts() == {"released": 3}
    assert len(house.lines()) == 3
    assert house.whole()


def test_a_worker_that_is_buried_while_nobody_knows_whether_it_settled_loses_nothing(
    house: Any, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.put("a.jsonl", lines(1, 2, 3))
    real, calls = Ledger.settle, []

    def settle(self: Ledger, worker: str, *words: Any, **more: Any) -> None:
        calls.append(worker)
        if len(calls) == 1:
            real(self, worker, *words, **more)
            self.leave(worker)
            raise LedgerUnavailable("away")
        real(self, worker, *words, **more)

    monkeypatch.setattr(Ledger, "settle", settle)
    house.run()
    house.run()
    assert house.counts() == {"released": 3}
    assert len(house.lines()) == 3
    assert house.whole()


def test_a_lab_that_becomes_a_link_after_the_start_is_not_written_through_it(
    build: Callable[..., Any], lines: Lines, tmp_path: Path
) -> None:
    """The link could lead to the source, or to anywhere else that an attacker wants the worker to write."""
    house = build(shard_records=1, batch_records=1)
    house.put("a.jsonl", lines(1, 2))
    worker = house.worker()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()

    async def run() -> Any:
        working = asyncio.create_task(worker.run(once=True))
        for _ in range(2000):
            if house.lines():
                break
            await asyncio.sleep(0.01)
        house.destination.rename(tmp_path / "destination-that-was")
        house.destination.symlink_to(elsewhere)
        await asyncio.sleep(0.5)
        assert not working.done()
        house.destination.unlink()
        (tmp_path / "destination-that-was").rename(house.destination)
        return await working

    with pytest.MonkeyPatch.context() as patch:
        slow(patch)
        assert asyncio.run(run()).states == {"released": 2}
    assert list(elsewhere.iterdir()) == []
    assert house.whole()


@pytest.mark.parametrize("name", ["r1", "tombstones"])
def test_a_link_in_the_lab_is_not_followed(tmp_path: Path, name: str) -> None:
    (tmp_path / "destination").mkdir()
    (tmp_path / "source").mkdir()
    (tmp_path / "destination" / name).symlink_to(tmp_path / "source")
    destination = FolderDestination(tmp_path / "destination")
    for do in (destination.stage, destination.put):
        with pytest.raises(Unwritable):
            do(f"{name}/x.jsonl", b"{}")
    with pytest.raises(Unwritable):
        destination.place(f"{name}/x.jsonl")
    assert list((tmp_path / "source").iterdir()) == []


def test_a_lab_that_is_not_there_is_not_taken_for_one_that_has_the_shard(tmp_path: Path) -> None:
    """Regression: it was not mounted when the next worker started, and settled shards were counted as placed."""
    destination = FolderDestination(tmp_path / "destination")
    destination.stage("r1/x.jsonl", b"{}")
    (tmp_path / "destination").rename(tmp_path / "away")
    with pytest.raises(Unwritable):
        destination.place("r1/x.jsonl")
    with pytest.raises(Unwritable):
        FolderDestination(tmp_path / "destination").place("r1/x.jsonl")  # a new one, created at the mount point
    (tmp_path / "destination").rmdir()
    (tmp_path / "away").rename(tmp_path / "destination")
    destination.place("r1/x.jsonl")
    destination.place("r1/x.jsonl")
    assert [path.name for path in (tmp_path / "destination" / "r1").iterdir()] == ["x.jsonl"]


def test_a_lab_through_which_one_may_go_and_not_look_takes_shards(tmp_path: Path) -> None:
    destination = FolderDestination(tmp_path / "destination")
    (tmp_path / "destination").chmod(0o300)
    destination.stage("r1/x.jsonl", b"{}")
    destination.place("r1/x.jsonl")
    (tmp_path / "destination").chmod(0o700)
    assert (tmp_path / "destination" / "r1" / "x.jsonl").read_bytes() == b"{}"


def test_what_is_retried_leaves_the_quarantine_only_when_it_is_settled(
    house: Any, monkeypatch: pytest.MonkeyPatch, killed_at: KilledAt
) -> None:
    """A kill in between, and the source has been emptied since, so the quarantine has the only copy."""
    path = house.put("a.jsonl", '{"dataType": "note", "id": "1", "text": "Dr. Emily Carter called."}\n')
    with monkeypatch.context() as patched:
        patched.setattr(Deidentifier, "abatch", failing)
        house.run()
    (held,) = Quarantine(house.held / "r1", house.keyring).items()
    ledger = house.ledger
    assert ledger.requeue(ledger.release("r1").id, [held.name]) == 1
    with killed_at(Ledger, "settle"):
        house.run()
    path.unlink()
    house.run()
    assert [one.name for one in Quarantine(house.held / "r1", house.keyring).items()] == [held.name]


def test_what_is_settled_is_told_though_the_lab_does_not_take_it_yet(
    house: Any, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.put("a.jsonl", lines(1, 2))
    real, away, told = FolderDestination.place, [2], []

    def place(self: FolderDestination, name: str) -> None:
        if away[0]:
            away[0] -= 1
            raise Unwritable("full")
        real(self, name)

    monkeypatch.setattr(FolderDestination, "place", place)
    tell = lambda event, **facts: told.append(facts["released"]) if event == "records.committed" else None  # noqa: E731 -- the signature in Hooks
    house.run(hooks=Hooks(tell=tell))
    assert told == [2]
    assert len(house.lines()) == 2


async def failing(self: Deidentifier, items: Any) -> AsyncIterator[Result]:
    """A deidentifier that releases nothing."""
    for item in items:
        yield Result(item.id, Verdict("quarantine", (Reason("internal-error"),)), {"counts": {"by_type": {}}})


def test_a_kill_between_ledger_and_lab_is_finished_by_the_next_worker(
    house: Any, lines: Lines, killed_at: KilledAt
) -> None:
    house.put("a.jsonl", lines(1, 2))
    with killed_at(FolderDestination, "place"):
        house.run()
    assert house.lines() == []
    assert house.counts() == {"released": 2}
    house.run()
    assert len(house.lines()) == 2
    assert house.whole()


def test_a_worker_waits_for_what_a_killed_one_settled_until_its_lease_ends(
    build: Callable[..., Any], lines: Lines, killed_at: KilledAt, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = build(lease_seconds=0.5)
    house.put("a.jsonl", lines(1, 2))
    with monkeypatch.context() as patched, killed_at(FolderDestination, "place"):
        patched.setattr(Worker, "_leave", lambda self: self._heartbeat.stop())  # a killed worker reports nothing
        house.run()
    house.run()
    assert len(house.lines()) == 2
    assert house.whole()


def test_a_kill_before_the_ledger_knows_leaves_nothing_in_the_lab(
    house: Any, lines: Lines, killed_at: KilledAt
) -> None:
    house.put("a.jsonl", lines(1, 2))
    with killed_at(Ledger, "settle"):
        house.run()
    assert list((house.destination / "r1").glob(".*.part"))
    house.run()
    assert len(house.lines()) == 2
    assert house.whole()
