"""A worker from a table to a table: incremental runs, amended rows, rows that do not fit, and kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from incognote.formats.tables import Columns, Layout
from incognote.runs.sql import TableDatabase
from incognote.runs.sqldestination import SqlDestination
from incognote.runs.sqlsource import SqlSource
from incognote.service.review import ReviewQueue
from incognote.service.worker.hooks import Hooks
from incognote_benchmarks.postgres import LocalPostgres

COLUMNS = Layout(Columns(("text",), id="id", patient="mrn", passed=("changed", "ward")))
ROW = "INSERT INTO note VALUES (:id, :mrn, :changed, 'A', :text)"
Run = Callable[..., Any]


@pytest.fixture
def run(database: str) -> Iterator[Run]:
    """Run statements in a database with a table of notes."""
    url = sa.make_url(database)
    engine = sa.create_engine(url.set(drivername="postgresql+psycopg") if url.host else url)

    def execute(statement: str, rows: Any = None) -> Any:
        with engine.begin() as db:
            done = db.execute(sa.text(statement), rows)
            return [tuple(row) for row in done] if done.returns_rows else None

    execute("CREATE TABLE note (id INTEGER PRIMARY KEY, mrn VARCHAR(20), changed INTEGER, ward VARCHAR(9), text TEXT)")
    yield execute
    engine.dispose()


def _rows(first: int, last: int, **other: Any) -> list[dict[str, Any]]:
    text = "Dr. Emily Carter saw them on 03/16/2025, item"
    return [{"id": n, "mrn": f"MRN{n % 3}", "changed": n, "text": f"{text} {n}.", **other} for n in range(first, last)]


@pytest.fixture
def work(house: Any, database: str) -> Iterator[Callable[[], Any]]:
    """Process the table `note` into the table `released`."""
    opened: list[TableDatabase] = []

    def once(*, files: bool = False, **more: Any) -> Any:
        opened.append(TableDatabase(database, "SOURCE"))
        source = SqlSource(opened[-1], "note", COLUMNS, watermark="changed")
        destination = None
        if not files:
            opened.append(TableDatabase(database, "--destination", writes=True))
            destination = SqlDestination(opened[-1], "released", source.rows, source.table)
            source.fit(destination.columns)
        worker = house.worker(destination=destination, layout=COLUMNS, **more)
        worker._source = worker._discovery._source = source  # the house itself reads a folder
        return house.run(worker)

    yield once
    for one in opened:
        one.close()


def test_new_and_amended_rows_are_released_once_and_an_amended_row_replaces_its_release(
    house: Any, run: Run, work: Callable[[], Any]
) -> None:
    run(ROW, _rows(1, 6))
    work()
    before = {row[0]: row[4] for row in run("SELECT * FROM released")}
    assert len(before) == 5
    assert all(text.startswith("Dr. [CLINICIAN]") or "[" in text for text in before.values())
    run(ROW, _rows(6, 8))
    run("UPDATE note SET changed = 9, text = 'Addendum by Dr. Emily Carter.' WHERE id = 2")
    assert work().states == {"released": 3}
    after = {row[0]: row[4] for row in run("SELECT * FROM released")}
    assert len(after) == 7
    assert [text for key, text in after.items() if before.get(key, text) != text] == ["Addendum by Dr. [PERSON]."]
    assert work().states == {}  # nothing is new
    ledger = house.ledger
    entries = {entry.id: entry for entry in ledger.entries(release=ledger.release("r1").id)}
    [amended] = [entry for entry in entries.values() if entry.replaces]
    assert entries[amended.replaces].key[:32] == amended.key[:32]  # two versions of one record
    assert not run("SELECT * FROM incognote_staged")
    assert "Carter" not in str(run("SELECT * FROM released"))


def test_in_a_folder_the_line_of_an_amended_row_gets_a_tombstone(
    house: Any, run: Run, work: Callable[..., Any]
) -> None:
    run(ROW, _rows(1, 3))
    work(files=True)
    run("UPDATE note SET changed = 9, text = 'Addendum.' WHERE id = 2")
    work(files=True)
    [listed] = (house.destination / "tombstones").iterdir()
    [one] = map(json.loads, listed.read_text().splitlines())
    old = (house.destination / one["shard"]).read_text().splitlines()[one["line"] - 1]
    assert json.loads(old)["text"].endswith("item 2.")
    assert one["why"] == "replaced"


def test_a_row_whose_replacement_does_not_fit_is_held_and_the_others_are_released(
    house: Any, run: Run, work: Callable[[], Any]
) -> None:
    run("CREATE TABLE released (id INTEGER PRIMARY KEY, mrn VARCHAR(20), changed INTEGER, ward VARCHAR(9), "
        "text VARCHAR(30))")  # fmt: skip
    run(ROW, [*_rows(1, 2, text="Seen by Ann on 03/16/2025 twice"), *_rows(2, 3, text="Fine.")])
    done = work()
    assert done.states == {"released": 1, "quarantined": 1}
    assert house.held_for() == ["column-type"]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_amended_row_that_is_approved_in_review_replaces_its_release(
    run: Run, work: Callable[..., Any], queue: ReviewQueue, approve: Callable[[str], None]
) -> None:
    run(ROW, _rows(1, 2, text="Fine."))
    work()
    doubtful = "Dr. Emily Carter. Patient speaks مريض بصحة جيدة."
    run(ROW.replace("INSERT", "REPLACE"), [{"id": 1, "mrn": "MRN1", "changed": 5, "text": doubtful * 9}])
    assert work(hooks=Hooks(reviews=queue)).states == {"review": 1}
    [waiting] = queue.list()
    approve(waiting.id)
    work(hooks=Hooks(reviews=queue))
    [(text,)] = run("SELECT text FROM released")
    assert text.startswith("Dr. [PERSON]. Patient speaks")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_worker_killed_between_sqlite_and_postgresql_loses_and_doubles_no_row(
    house: Any, database: str, run: Run, postgres: LocalPostgres, tmp_path: Path
) -> None:
    postgres.empty()
    run(ROW, _rows(1, 121))
    config = tmp_path / "settings.toml"
    config.write_text("[service]\nshard_records = 10\nbatch_records = 10\nlease_seconds = 2.0\nlongest_pause = 0.5\n")
    told = [
        sys.executable, "-m", "incognote", "worker", database, "--table", "note", "--destination",
        postgres.url, "--into", "released",
        "--watermark", "changed", "--text-column", "text", "--id-column", "id", "--patient-column", "mrn",
        "--pass-column", "changed", "--pass-column", "ward", "--ledger", house.url, "--release", "r1", "--quarantine",
        str(house.held), "--detectors", "rules", "--once", "--config", str(config), "--key-file", str(house.key),
    ]  # fmt: skip
    environment = {**os.environ, "INCOGNOTE_HOME": str(tmp_path / "home")}
    with subprocess.Popen(told, env=environment, stderr=subprocess.PIPE, text=True) as first:
        assert first.stderr is not None
        while '"records.committed"' not in (line := first.stderr.readline()):
            assert line, "the worker ended before it was killed"
        first.send_signal(signal.SIGKILL)
    settled = house.counts()["released"]
    assert 0 < settled < 120
    time.sleep(2.1)  # the lease of the killed worker ends
    done = subprocess.run(told, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    engine = sa.create_engine(sa.make_url(postgres.url).set(drivername="postgresql+psycopg"))
    with engine.connect() as db:
        texts = db.scalars(sa.text("SELECT text FROM released")).all()
    engine.dispose()
    assert sorted(int(text.split()[-1][:-1]) for text in texts) == list(range(1, 121))
    assert house.counts() == {"released": 120}
