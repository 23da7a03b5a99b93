"""Tables of databases as sources and destinations: windows, types, options that do not fit, and versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from incognote.errors import SchemaViolation, UsageError
from incognote.formats.records.typed import TypedRow, UnfitColumn
from incognote.formats.tables import Columns, Layout
from incognote.runs.sql import TableDatabase, is_database
from incognote.runs.sqldestination import SqlDestination, TableTombstones
from incognote.runs.sqlsource import SqlSource
from incognote.schemas.registry import Registry

NOTES = Layout(Columns(("Text",), patient="patient", passed=("changed", "ward"), hashed=("id",)))
Run = Callable[..., Any]


OPEN: list[TableDatabase] = []


@pytest.fixture
def run(database: str) -> Iterator[Run]:
    """Run statements in a database with an empty table of notes, whose name and text column have capital letters."""
    url = sa.make_url(database)
    engine = sa.create_engine(url.set(drivername="postgresql+psycopg") if url.host else url)

    def execute(statement: str, **values: Any) -> Any:
        with engine.begin() as db:
            done = db.execute(sa.text(statement), values)
            return [tuple(row) for row in done] if done.returns_rows else None

    execute('CREATE TABLE "Notes" (id INTEGER PRIMARY KEY, patient INTEGER, changed TIMESTAMP, ward VARCHAR(9), '
            '"Text" TEXT)')  # fmt: skip
    yield execute
    while OPEN:
        OPEN.pop().close()
    engine.dispose()


def _add(run: Run, id: int, changed: str | None, text: str = "Seen by Dr. Emily Carter.") -> None:
    run('INSERT INTO "Notes" VALUES (:id, 7, :changed, :ward, :text)', id=id, changed=changed, ward="A", text=text)


def _source(database: str, **words: Any) -> SqlSource:
    OPEN.append(TableDatabase(database, "SOURCE"))
    return SqlSource(OPEN[-1], words.pop("table", "Notes"), words.pop("layout", NOTES),
                     **{"watermark": "changed", **words})  # fmt: skip


def _destination(database: str, name: str, source: SqlSource) -> SqlDestination:
    OPEN.append(TableDatabase(database, "--destination", writes=True))
    return SqlDestination(OPEN[-1], name, source.rows, source.table)


def _rows(source: SqlSource, latest: str | None = None) -> list[str]:
    """Return the ids of the rows of all windows, in the order in which they are read."""
    return [str(one.document.id) for seen in source.look(lambda _: latest)
            for one in source.read(seen.name, 0, None, None) if one.document is not None]  # fmt: skip


def test_rows_are_read_by_watermark_and_key_and_those_without_watermark_first(database: str, run: Run) -> None:
    for number, day in ((1, "02"), (2, "01"), (3, "02"), (4, None)):
        _add(run, number, day and f"2025-03-{day} 10:00:00")
    assert _rows(_source(database)) == ["4", "2", "1", "3"]
    assert _rows(_source(database, watermark=None)) == ["1", "2", "3", "4"]


def test_a_row_that_was_committed_late_is_in_the_overlap(database: str, run: Run) -> None:
    _add(run, 1, "2025-03-01 10:00:00")
    _add(run, 9, "2025-03-02 10:00:00")
    source = _source(database, overlap=60)
    first = list(source.look())
    latest = first[-1].name
    assert {one.stamp for one in source.look(lambda _: latest)} != {one.stamp for one in first}  # 1 is no longer read
    again = {one.stamp for one in source.look(lambda _: latest)}
    _add(run, 2, "2025-03-02 09:59:30")
    _add(run, 3, "2025-03-02 10:00:00")
    _add(run, 4, "2025-03-02 09:58:00")  # before the overlap: it is missed, as the page says
    assert _rows(source, latest) == ["2", "3", "9"]
    assert {one.stamp for one in source.look(lambda _: latest)} != again


def test_windows_are_read_in_blocks(database: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incognote.runs.sqlsource.WINDOW", 5)
    monkeypatch.setattr("incognote.runs.sqlsource._BLOCK", 2)
    for number in range(12):
        _add(run, number, "2025-03-01 10:00:00" if number % 2 else "2025-03-01 11:00:00.5")
    source = _source(database)
    assert [len(list(source.read(seen.name, 0, None, None))) for seen in source.look()] == [5, 5, 2]
    assert sorted(map(int, _rows(source))) == list(range(12))


def test_values_keep_the_types_of_their_columns(database: str, run: Run) -> None:
    run("CREATE TABLE typed (id BIGINT PRIMARY KEY, day DATE, at TIMESTAMP, weight NUMERIC(9,3), mass DOUBLE "
        "PRECISION, ok BOOLEAN, extra JSON, ward CHAR(3), code INTEGER, text TEXT)")  # fmt: skip
    run("INSERT INTO typed VALUES (9000000000, '2025-03-16', '2025-03-16 10:11:12.5', 71.50, 1.25, true, "
        "'{\"a\": 1.50}', 'A 1', NULL, 'Fine.')")  # fmt: skip
    columns = Columns(("text",), id="id", passed=("day", "at", "weight", "mass", "ok", "extra", "ward", "code"))
    source = _source(database, table="typed", layout=Layout(columns), watermark=None)
    [[one]] = [list(source.read(seen.name, 0, None, None)) for seen in source.look()]
    assert isinstance(one.document, TypedRow)
    assert one.document.id == "9000000000"
    destination = _destination(database, "copy", source)
    destination.stage("r/1", b"0 1 " + one.document.data + b"\n")
    destination.place("r/1")
    destination.place("r/1")
    assert run("SELECT * FROM copy") == run("SELECT * FROM typed")


def test_a_label_that_a_column_cannot_hold_becomes_null_or_holds_the_row(database: str, run: Run) -> None:
    run("CREATE TABLE dated (id INTEGER PRIMARY KEY, day DATE, must DATE NOT NULL, short VARCHAR(5), text TEXT)")
    run("INSERT INTO dated VALUES (1, '2025-03-16', '2025-03-16', 'Ann', 'Fine.')")
    layout = Layout(Columns(("text", "short"), id="id", known={"day": "DATE", "must": "DATE"}))
    source = _source(database, table="dated", layout=layout, watermark=None)
    [[one]] = [list(source.read(seen.name, 0, None, None)) for seen in source.look()]
    row = one.document
    assert isinstance(row, TypedRow)
    values = {action: "5" for action in row.actions if action.text.field == "id"}
    short = {"short": [(0, 3, "[PERSON]")]}
    day, must = (next(each for each in row.actions if each.text.field == name) for name in ("day", "must"))
    with pytest.raises(UnfitColumn, match="hash of 6 characters"):
        row.rewritten({}, {**values, day: "a0b1c2", must: "2025-04-01"})
    with pytest.raises(UnfitColumn, match="at most 5"):
        row.rewritten(short, {**values, day: "x", must: "2025-04-01"})


@pytest.mark.parametrize(("words", "says"), [
    ({"table": "absent"}, "no such table"), ({"table": "a b.c.d"}, "SCHEMA.TABLE"), ({"key": "x"}, "no column 'x'"),
    ({"key": "ward"}, "repeated"), ({"key": "patient"}, "repeated"), ({"watermark": "Text"}, "must hold times"),
    ({"layout": None}, "--data-type"), ({"layout": Layout(Columns(("Text",)))}, "no rule for"),
    ({"table": "binary", "watermark": None}, "binary data"), ({"table": "v", "watermark": None}, "no primary key"),
])  # fmt: skip
def test_options_that_do_not_fit_are_refused(database: str, run: Run, words: Any, says: str) -> None:
    for number in (1, 2):
        _add(run, number, "2025-03-01 10:00:00")
    run(f"CREATE TABLE \"binary\" (id INTEGER PRIMARY KEY, scan {'BYTEA' if 'postgresql' in database else 'BLOB'})")
    run('CREATE VIEW v AS SELECT * FROM "Notes"')
    with pytest.raises(UsageError, match=says):
        _source(database, **words)


def test_a_view_is_read_with_its_key(database: str, run: Run) -> None:
    _add(run, 1, "2025-03-01 10:00:00")
    run('CREATE VIEW v AS SELECT * FROM "Notes"')
    assert _rows(_source(database, table="v", key="id")) == ["1"]


def test_an_older_version_never_replaces_a_newer_one_and_a_recall_deletes_it(database: str, run: Run) -> None:
    source = _source(database)
    destination = _destination(database, "released", source)
    lines = {3: "new", 2: "old"}
    for version, text in lines.items():
        destination.stage(f"r/{version}", b'%d 1 {"id": 5, "patient": 1, "changed": null, "ward": "A", "Text": "%b"}\n'
                          % (version, text.encode()))  # fmt: skip
        destination.place(f"r/{version}")
    assert run('SELECT "Text" FROM released') == [("new",)]
    recall = TableTombstones(TableDatabase(database, "--destination", writes=True))
    recall.put("tombstones/x.jsonl", b'{"shard": "r/2", "line": 1}\n')  # its row was replaced
    assert len(run("SELECT id FROM released")) == 1
    recall.put("tombstones/y.jsonl", b'{"shard": "r/3", "line": 1}\n')
    assert run("SELECT id FROM released") == run("SELECT record FROM incognote_rows") == []


def test_the_schema_of_another_record_does_not_fit(database: str, run: Run) -> None:
    with pytest.raises(SchemaViolation, match="omopNote"):
        _source(database, layout=Layout(Registry().get("omopNote")))


@pytest.mark.parametrize(("url", "says"), [
    ("postgresql://me:secret@db/x", "PGPASSFILE"), ("postgresql://db/x?password=secret", "PGPASSFILE"),
    ("sqlite:///absent.db", "no such file"), ("sqlite://", "name the SQLite file"), ("mysql://db/x", "not supported"),
])  # fmt: skip
def test_unusable_urls_are_refused_without_their_password(url: str, says: str) -> None:
    with pytest.raises(UsageError, match=says) as error:
        TableDatabase(url, "SOURCE")
    assert "secret" not in str(error.value)


def test_a_url_is_shown_without_user(tmp_path: Path) -> None:
    assert is_database("postgresql://me@db/x")
    assert not is_database("s3://bucket/x")
    assert TableDatabase("postgresql://me@db:5433/cdm?sslmode=require", "SOURCE").shown == "postgresql://db:5433/cdm"
