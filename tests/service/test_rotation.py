"""A new master key for every store: no data is lost, the former key opens nothing, and any interruption is repaired."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from incognote.errors import IncognoteError, IndexBusy, UsageError, WrongKey
from incognote.files.quarantine import Quarantine
from incognote.ledger import Ledger
from incognote.llm.recording import Recording
from incognote.relex.index.opening import open_index
from incognote.service.api.jobs import Jobs
from incognote.service.audit import AuditLog, entries, verify
from incognote.service.optouts import OptOuts
from incognote.service.rekeying import PARTS
from incognote.service.review import ReviewQueue
from incognote.service.rotation import Stores, rotate
from incognote.service.store import open_engine

from .rotating import NEW, OLD, THIRD, fill, readers, stores

STEP = os.environ.get("INCOGNOTE_KILL_STEP", "7")
"""Writes between two kills; 1 kills at each of them, which takes a minute."""


def closing_index(url: str) -> None:
    """Create an index and close it."""

    async def made() -> None:
        await (await open_index(url, OLD, create=True)).aclose()

    asyncio.run(made())


@pytest.fixture(autouse=True)
def _nobody_is_here() -> None:
    """Make objects of other tests release their folders."""
    gc.collect()


def test_every_store_is_readable_with_the_new_key_and_not_with_the_old_one(
    tmp_path: Path, database: str
) -> None:
    fill(tmp_path, database, database)
    before = {name: read(OLD) for name, read in readers(tmp_path, database, database).items()}
    if database.startswith("postgresql"):  # the table as older versions created it
        engine = open_engine(database)
        with engine.begin() as db:
            db.exec_driver_sql("ALTER TABLE ledger_meta ALTER COLUMN value TYPE VARCHAR(64)")
        engine.dispose()
    done = rotate(stores(tmp_path, database, database), OLD, NEW, by="Ada")
    assert {one.store: one.items for one in done} == {
        "ledger": 1, "database": 6, "quarantine": 2, "recording": 2, "index": 3, "audit log": 1
    }  # fmt: skip
    for name, read in readers(tmp_path, database, database).items():
        assert read(NEW) == before[name], name
        with pytest.raises(WrongKey):
            read(OLD)


def test_names_made_under_the_former_key_are_still_found_after_a_second_change(tmp_path: Path) -> None:
    fill(tmp_path)
    before = {name: readers(tmp_path)[name](OLD) for name in ("book", "optouts", "drift", "jobs", "recording")}
    rotate(stores(tmp_path), OLD, NEW, by="Ada")
    rotate(stores(tmp_path), NEW, THIRD, by="Ada")
    assert {name: readers(tmp_path)[name](THIRD) for name in before} == before
    assert before["optouts"] == {"Zebulon-7712"}
    url = stores(tmp_path).databases[0]
    with closing(ReviewQueue(url, THIRD)) as queue, closing(Jobs(url, THIRD, 60)) as jobs:
        assert (sum(map(queue.drop, queue.of_subject("Zebulon-7712"))), jobs.forget("Zebulon-7712")) == (2, 1)


def test_a_change_that_is_killed_at_any_write_loses_nothing_and_is_ended_by_the_same_call(tmp_path: Path) -> None:
    source = tmp_path / "source"
    fill(source)
    before = {name: read(OLD) for name, read in readers(source).items()}
    gc.collect()
    run = subprocess.run(
        [sys.executable, "-m", "tests.service.rotating", str(source), STEP], capture_output=True, text=True, check=True,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    ended = json.loads(run.stdout)
    *killed, last = ended.values()
    assert (set(killed), last) == ({-signal.SIGKILL}, 0), run.stderr
    assert max(map(int, ended)) > 35  # the writes of the whole rotation
    for number in ended:
        at = tmp_path / f"killed-{number}"
        for name, read in readers(at).items():  # readable with one of the keys, or locked until rotation ends
            _one_of_the_two(read, name)
        gc.collect()  # objects that failed to open release their folders
        rotate(stores(at), OLD, NEW, by="Ada")
        for name, read in readers(at).items():
            assert read(NEW) == before[name], (number, name)
            with pytest.raises(WrongKey):
                read(OLD)
        assert verify(at / "audit", NEW).sound
        assert not list(at.glob("held/.*"))


def _one_of_the_two(read, name: str) -> None:  # type: ignore[no-untyped-def] -- any store's reader
    told = []
    for key in (OLD, NEW):
        try:
            return read(key)
        except (WrongKey, IndexBusy, IncognoteError) as error:
            told.append(error)
    assert name in ("quarantine", "index", "audit"), told  # half done: the same command completes it
    return None


def test_a_live_worker_and_a_process_that_uses_a_folder_stop_it_before_anything_is_changed(tmp_path: Path) -> None:
    fill(tmp_path)
    gc.collect()
    place = stores(tmp_path)
    with closing(Ledger(place.ledger or "", OLD)) as book:
        worker = book.join(60)
        with pytest.raises(IncognoteError, match=r"ledger: Workers of this ledger are running \(1\)"):
            rotate(place, OLD, NEW, by="Ada")
        book.leave(worker)
    for made in (AuditLog(place.audit or "", OLD), Quarantine(place.quarantines[0], OLD)):
        with pytest.raises(IncognoteError, match=r"(audit log|quarantine): a process uses it"):
            rotate(place, OLD, NEW, by="Ada")
        del made
        gc.collect()
    assert all(read(OLD) is not Ellipsis for read in readers(tmp_path).values())
    assert [entry.event for entry in entries(tmp_path / "audit")] == ["audit.opened", "worker.started"]


def test_who_opened_a_store_before_the_change_writes_nothing_into_it_after(tmp_path: Path, database: str) -> None:
    fill(tmp_path, database, database)
    place = stores(tmp_path, database, database)
    with (
        closing(Ledger(database, OLD)) as book,
        closing(OptOuts(database, OLD)) as optouts,
        closing(Recording(place.recording or "", OLD)) as answers,
    ):
        gc.collect()
        rotate(place, OLD, NEW, by="Ada")
        for write in (
            lambda: book.join(60),
            lambda: optouts.add("Okonkwo-1", "Ada"),
            lambda: answers.put("another", b"answer"),
            lambda: answers.sealed.set_job("t2", b"a batch"),
        ):
            with pytest.raises(WrongKey):
                write()
    with closing(OptOuts(database, NEW)) as optouts:
        assert len(optouts.items()) == 1
    with closing(Recording(place.recording or "", NEW)) as answers:
        assert len(answers) == 1


def test_a_store_of_a_third_key_or_none_at_all_is_found_before_anything_is_changed(tmp_path: Path) -> None:
    fill(tmp_path)
    fill(tmp_path / "other", key=THIRD)
    whole, other = stores(tmp_path), stores(tmp_path / "other")
    gc.collect()
    for store, wrong in (
        ("quarantine", {"quarantines": other.quarantines}),
        ("ledger", {"ledger": other.ledger}),
        ("database", {"databases": (*whole.databases, *other.databases)}),
        ("index", {"index": other.index}),
        ("recording", {"recording": other.recording}),
        ("audit log", {"audit": other.audit}),
    ):
        words = {name: getattr(whole, name) for name in ("quarantines", "ledger", "databases", "index", "recording")}
        with pytest.raises(WrongKey, match=f"{store}: "):
            rotate(Stores(**{**words, "audit": whole.audit, **wrong}), OLD, NEW, by="Ada")
    with pytest.raises(UsageError, match="the ledger does not exist"):
        rotate(Stores(ledger=f"sqlite:///{tmp_path / 'absent.db'}"), OLD, NEW, by="Ada")
    closing_index(f"sqlite:///{tmp_path / 'off.db'}?originals=off")
    with pytest.raises(UsageError, match="index: it stores no originals"):
        rotate(Stores(index=f"sqlite:///{tmp_path / 'off.db'}"), OLD, NEW, by="Ada")
    with pytest.raises(UsageError, match="another one"):
        rotate(whole, OLD, OLD, by="Ada")
    for read in readers(tmp_path).values():
        read(OLD)


def test_the_audit_log_tells_of_the_change_and_one_without_the_new_key_cannot_change_what_was_before(
    tmp_path: Path,
) -> None:
    fill(tmp_path)
    rotate(stores(tmp_path), OLD, NEW, by="Ada")
    log = tmp_path / "audit"
    told = [(one.event, one.facts.get("key")) for one in entries(log)]
    assert told[2:] == [("key.rotating", NEW.id), ("audit.rekeyed", NEW.id), ("key.rotated", NEW.id)]
    report = verify(log, NEW)
    assert (report.sound, report.sealed_from, report.last) == (True, 4, 5)
    first = log / "000001.jsonl"
    first.write_text(first.read_text().replace('"w1"', '"w2"'))
    assert {fault.code for fault in verify(log, NEW).faults} == {"changed"}


def test_nothing_of_what_the_former_key_sealed_is_left_in_the_files(tmp_path: Path) -> None:
    fill(tmp_path)
    sealed = (tmp_path / "held").glob("*.held")
    old = [path.read_bytes().partition(b"\n")[2] for path in sealed]
    import sqlite3

    for file, column in (("service.db", "sealed FROM reviews"), ("answers", "sealed FROM answers"),
                         ("ledger.db", "sealed FROM ledger_files")):  # fmt: skip
        with closing(sqlite3.connect(tmp_path / file)) as db:
            old += [bytes(row[0]) for row in db.execute(f"SELECT {column}")]
    assert len(old) == 6
    gc.collect()
    rotate(stores(tmp_path), OLD, NEW, by="Ada")
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert not [one for one in old if one in stored]


def test_every_part_of_the_services_database_is_rekeyed(tmp_path: Path) -> None:
    import sqlite3

    fill(tmp_path)
    with closing(sqlite3.connect(tmp_path / "service.db")) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        blobs = {
            (table, name)
            for table in tables
            for _, name, kind, *_ in db.execute(f"PRAGMA table_info({table})")
            if kind == "BLOB"
        }
    assert {name for name in tables if name.endswith("_meta")} == {part.meta for part in PARTS}
    assert blobs == {(part.table, column) for part in PARTS for column in part.sealed or {}}
