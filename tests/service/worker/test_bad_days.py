"""Full disks, misleading files, and clock changes all have a defined outcome."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Float, literal_column

from incognote.errors import LedgerUnavailable, UsageError, WrongKey
from incognote.keys import Keyring
from incognote.ledger import Ledger
from incognote.runs import source as sources
from incognote.runs.location import open_location
from incognote.runs.source import WatchedSource

Lines = Callable[..., str]


def test_a_full_disk_pauses_the_worker_and_nothing_half_written_is_left(
    house: Any, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.put("a.jsonl", lines(1, 2, 3))
    real, full = os.fsync, [3]

    def fsync(handle: int) -> None:
        if full[0]:
            full[0] -= 1
            raise OSError(28, "No space left on device")
        real(handle)

    worker = house.worker()
    monkeypatch.setattr("incognote.runs.destination.os.fsync", fsync)
    done = house.run(worker)
    assert done.pauses >= 1
    assert house.counts() == {"released": 3}
    assert len(house.lines()) == 3
    assert house.whole()
    assert all(entry.tries == 0 for entry in house.ledger.entries())


def test_a_file_that_may_not_be_read_is_told_and_the_others_go_on(
    house: Any, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.put("a.jsonl", lines(1))
    house.put("b.jsonl", lines(2))
    real = os.open

    def refused(path: Any, *rest: Any, **more: Any) -> int:
        if str(path).endswith("source/b.jsonl"):
            raise PermissionError(13, "Permission denied")
        return real(path, *rest, **more)

    worker = house.worker()
    monkeypatch.setattr(sources.os, "open", refused)
    done = house.run(worker)
    assert (done.states, done.unread) == ({"released": 1}, {"unreadable": 1})
    assert not (house.held / "r1").exists()


def test_files_of_one_name_in_two_folders_are_two(house: Any) -> None:
    house.put("a/note.txt")
    house.put("b/note.txt")
    house.put("a/Note.txt")
    assert house.run().states == {"released": 3}
    assert len({line["id"] for line in house.lines()}) == 3


def test_one_record_twice_in_a_file_is_one_output(house: Any, lines: Lines) -> None:
    house.put("a.jsonl", lines(1, 1, 2))
    done = house.run()
    assert (done.states, done.skipped) == ({"released": 2}, 1)


def test_a_file_that_still_grows_is_left_to_its_writer(build: Callable[..., Any], lines: Lines) -> None:
    house = build(rest_seconds=3600.0)
    path = house.put("a.jsonl", lines(1))
    worker = house.worker()

    async def run() -> Any:
        working = asyncio.create_task(worker.run(once=True))
        await asyncio.sleep(0.3)
        assert not working.done()
        assert worker.done.states == {}
        os.utime(path, (1, 1))  # it has stopped changing
        return await working

    assert asyncio.run(run()).states == {"released": 1}


def test_a_file_that_grows_while_it_is_read_is_read_again(
    build: Callable[..., Any], lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = build(batch_records=2)
    path = house.put("a.jsonl", lines(1, 2, 3, 4) + '{"id": "n5", "te')
    from incognote.runs import source

    real, grown = source.read_part, []

    def read_part(*words: Any) -> Any:
        for number, one in enumerate(real(*words)):
            if number == 3 and not grown:
                grown.append(path.write_text(lines(1, 2, 3, 4, 5, 6)))
            yield one

    monkeypatch.setattr(source, "read_part", read_part)
    done = house.run()
    assert done.unread == {"changed": 1}
    assert house.counts() == {"released": 6}
    assert len(house.lines()) == 6
    assert house.held_for() == []  # the partial line was never treated as a record


def test_a_file_that_goes_away_is_no_records_loss(house: Any, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    house.put("a.jsonl", lines(1))
    path = house.put("b.jsonl", lines(2))
    worker = house.worker()
    real = Ledger.claim_parts

    def claim(self: Ledger, *words: Any, **more: Any) -> Any:
        parts = real(self, *words, **more)
        if parts:
            path.unlink(missing_ok=True)
        return parts

    monkeypatch.setattr(Ledger, "claim_parts", claim)
    done = house.run(worker)
    assert done.states == {"released": 1}
    assert done.unread == {"changed": 1}


def test_a_huge_file_is_read_in_memory_of_one_batch(house: Any, tmp_path: Path) -> None:
    """A tenth of 500 MB. Each line is read once, whichever range it starts in."""
    import tracemalloc

    from incognote.runs.source import part_ranges, read_part

    line = json.dumps({"id": "n", "text": "x" * 20_000}) + "\n"
    size = 500_000_000 if os.environ.get("INCOGNOTE_SOAK") == "full" else 50_000_000
    path = house.put("a.jsonl", line * (size // len(line)))
    source, part = WatchedSource(open_location(str(house.source))), 16 * 2**20
    tracemalloc.start()
    count = sum(1 for start, stop in part_ranges("a.jsonl", path.stat().st_size, part)
                for _ in read_part(source, "a.jsonl", start, stop, None))  # fmt: skip
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == size // len(line)
    assert peak < 2 * 2**20


def test_links_are_not_followed_and_one_that_leads_out_is_told(house: Any, tmp_path: Path, lines: Lines) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("Emily Carter")
    house.put("a.jsonl", lines(1))
    (house.source / "out.txt").symlink_to(secret)
    (house.source / "in.jsonl").symlink_to(house.source / "a.jsonl")
    (house.source / "up").symlink_to(tmp_path)
    assert house.run().states == {"released": 1}
    ledger = house.ledger
    assert ledger.unread(ledger.release("r1").id) == [("out.txt", "link-outside"), ("up", "link-outside")]


def test_a_wrong_key_is_refused_before_the_first_record(house: Any, lines: Lines, tmp_path: Path) -> None:
    house.put("a.jsonl", lines(1))
    house.run()
    other = Keyring.write_new(tmp_path / "other")
    with pytest.raises(WrongKey):
        Ledger(house.url, other)


def test_a_policy_that_changes_in_mid_run_changes_nothing_of_it(
    build: Callable[..., Any], lines: Lines, tmp_path: Path
) -> None:
    house = build(batch_records=2, shard_records=2)
    policy = tmp_path / "own.toml"
    policy.write_text('name = "own"\nextends = "strict"\n')
    house.put("a.jsonl", lines(*range(8)))
    worker = house.worker(policy=str(policy))
    policy.write_text('name = "own"\nextends = "strict"\nwithout = ["DATE", "DATE_TIME"]\n')
    house.run(worker)
    assert not any("2025" in line["text"] for line in house.lines())
    with pytest.raises(UsageError, match=r"policy\.version"):  # and a newly started worker cannot join
        house.worker(policy=str(policy))


def test_a_clock_that_jumps_takes_no_record_from_a_worker(
    build: Callable[..., Any], lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = build(batch_records=2, shard_records=4)
    house.put("a.jsonl", lines(*range(30)))
    workers = [house.worker(), house.worker()]
    times = iter([0.0, 86_400.0, -86_400.0] * 400)
    real = Ledger.claim

    def claim(self: Ledger, *words: Any, **more: Any) -> Any:
        self.now = literal_column(f"{2e9 + next(times):.1f}", Float(53))
        return real(self, *words, **more)

    monkeypatch.setattr(Ledger, "claim", claim)

    async def both() -> Any:
        return await asyncio.gather(*(worker.run(once=True) for worker in workers))

    asyncio.run(both())
    assert house.counts() == {"released": 30}
    assert len(house.lines()) == 30
    assert all(entry.tries == 0 for entry in house.ledger.entries())


def test_a_database_that_goes_away_is_waited_for(house: Any, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if the connection is lost while it is unknown whether a settlement was committed."""
    house.put("a.jsonl", lines(1, 2, 3))
    real, away = Ledger.settle, [2]

    def settle(self: Ledger, *words: Any, **more: Any) -> None:
        if away[0] == 1:
            real(self, *words, **more)  # it is committed, but the answer is lost
        if away[0]:
            away[0] -= 1
            raise LedgerUnavailable("away")
        real(self, *words, **more)

    monkeypatch.setattr(Ledger, "settle", settle)
    done = house.run()
    assert done.pauses == 1
    assert done.states == {"released": 3}
    assert len(house.lines()) == 3


def test_a_worker_that_was_buried_begins_anew(house: Any, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    house.put("a.jsonl", lines(1, 2, 3))
    real, buried = Ledger.settle, []

    def settle(self: Ledger, worker: str, *words: Any, **more: Any) -> None:
        if not buried:
            buried.append(worker)
            self.leave(worker)
        real(self, worker, *words, **more)

    monkeypatch.setattr(Ledger, "settle", settle)
    house.run()
    assert house.counts() == {"released": 3}
    assert len(house.lines()) == 3
    assert house.whole()


def test_a_record_that_kills_workers_is_quarantined_and_the_others_are_not(
    build: Callable[..., Any], lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = build(lease_seconds=0.2, most_tries=2, batch_records=8)
    house.put("a.jsonl", lines(*range(5)) + json.dumps({"id": "x", "text": "poison"}) + "\n")

    class Killed(BaseException):
        pass

    from incognote.sdk import Deidentifier

    real = Deidentifier.abatch

    async def abatch(self: Deidentifier, items: Any) -> Any:
        items = list(items)
        if any("poison" in item.content for item in items):
            raise Killed
        async for result in real(self, items):
            yield result

    from incognote.service.worker.worker import Worker

    def gone(self: Worker) -> None:  # a killed worker reports nothing
        self._heartbeat.stop()  # type: ignore[union-attr]  # it is running

    monkeypatch.setattr(Deidentifier, "abatch", abatch)
    deaths = 0
    with monkeypatch.context() as patched:
        patched.setattr(Worker, "_leave", gone)
        for _ in range(2):
            with pytest.raises(Killed):
                house.run()
            deaths += 1
    done = house.run()
    assert deaths == 2
    assert house.counts() == {"released": 5, "quarantined": 1}
    assert house.held_for() == ["workers-died"]
    assert done.states["quarantined"] == 1


def test_of_a_file_that_is_known_a_look_asks_nobody_and_makes_no_key(house: Any, lines: Lines) -> None:
    from incognote.service.worker.discovery import Discovery

    asked: list[str] = []

    class Told(Ledger):
        def key(self, *words: str) -> str:
            asked.append(words[-1])
            return super().key(*words)

        def found(self, *words: Any, **more: Any) -> int:
            asked.append("found")
            return super().found(*words, **more)

    for number in range(5):
        house.put(f"{number}.jsonl", lines(number))
    ledger = Told(house.url, house.keyring)
    discovery = Discovery(WatchedSource(open_location(str(house.source))), ledger, ledger.freeze("r1", {}), 2**20)
    assert discovery.look().new == 5
    asked.clear()
    assert discovery.look().new == 0
    assert asked == []
    house.put("3.jsonl", lines(3, 4))
    assert discovery.look().new == 1
    assert asked == ["3.jsonl", asked[1], "found"]
    ledger.close()


def test_a_sink_that_takes_long_to_look_at_is_not_looked_at_in_every_round(
    build: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from types import SimpleNamespace

    house = build(part_bytes=1, poll_seconds=0.01)  # one file per round
    for number in range(12):
        house.put(f"{number}.txt")
    clock, told = [0.0], list[str]()
    look, claim_parts = WatchedSource.look, Ledger.claim_parts

    def slowly(self: WatchedSource, latest: Any) -> Any:
        told.append("look")
        clock[0] += 10.0  # as long as ten rounds
        return look(self)

    def claim(self: Ledger, *words: Any, **more: Any) -> Any:
        parts = claim_parts(self, *words, **more)
        if parts:
            told.append("work")
        clock[0] += 1.0
        return parts

    monkeypatch.setattr("incognote.service.worker.discovery.time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(WatchedSource, "look", slowly)
    monkeypatch.setattr(Ledger, "claim_parts", claim)
    assert house.run().states == {"released": 12}
    assert told == ["look", *["work"] * 12, "look"]


def test_one_claim_takes_no_more_than_a_shard_or_two_of_notes(house: Any) -> None:
    """Otherwise one worker takes all of a small source for half an hour, and the others have nothing to do."""
    from incognote.ledger import FoundFile
    from incognote.settings import ServiceSettings

    ledger, note, settings = house.ledger, 1_000, ServiceSettings()
    release = ledger.freeze("r1", {})
    size = 100 * note
    ledger.found(release.id, [FoundFile(f"{n:032}", "s", f"{n}.jsonl", size, ((0, None),)) for n in range(40)])
    claimed = ledger.claim_parts(ledger.join(30.0), release.id, most=256, bytes=settings.part_bytes)
    assert sum(part.size for part in claimed) / note < 2.5 * settings.shard_records
    assert ledger.claim_parts(ledger.join(30.0), release.id, most=256, bytes=settings.part_bytes)
