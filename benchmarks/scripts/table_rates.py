"""Measure a worker's memory and speed on a large table: python benchmarks/scripts/table_rates.py --rows 1000000

The windows of the whole table are listed and read in one process, without de-identifying them.
"""

from __future__ import annotations

import argparse
import json
import resource
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from incognote.formats.tables import Columns, Layout
from incognote.runs.sql import TableDatabase
from incognote.runs.sqlsource import SqlSource
from incognote_benchmarks.postgres import LocalPostgres

_TEXT = "Seen by Dr. Emily Carter on 03/16/2025. Chest pain since two days, no dyspnea. " * 12


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--postgres", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not asked.postgres:
            _say(_measured(f"sqlite:///{_filled(Path(folder), asked.rows)}", asked.rows))
            return
        with LocalPostgres() as base:
            import psycopg

            with psycopg.connect(base.url, autocommit=True) as db:
                db.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, at TIMESTAMP, text TEXT)")
                db.execute(
                    "INSERT INTO note SELECT n, timestamp '2020-01-01' + n * interval '1 second', %s || n "
                    "FROM generate_series(1, %s) n", (_TEXT, asked.rows),
                )  # fmt: skip
                db.execute("CREATE INDEX ON note (at, id)")
            _say(_measured(base.url, asked.rows))


def _filled(folder: Path, rows: int) -> Path:
    file = folder / "notes.db"
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, at TIMESTAMP, text TEXT)")
        stamp = "datetime('2020-01-01', '+' || n || ' seconds')"
        db.execute(f"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {rows}) "  # noqa: S608 -- a number
                   f"INSERT INTO note SELECT n, {stamp}, '{_TEXT}' || n FROM c")  # fmt: skip
        db.execute("CREATE INDEX by_time ON note (at, id)")
    return file


def _measured(url: str, rows: int) -> dict[str, float | str]:
    database = TableDatabase(url, "SOURCE")
    layout = Layout(Columns(("text",), id="id", passed=("at",)))
    source = SqlSource(database, "note", layout, watermark="at")
    peak = []
    began = time.perf_counter()
    windows = list(source.look())
    listed = time.perf_counter() - began
    began = time.perf_counter()
    count = 0
    for number, seen in enumerate(windows):
        count += sum(1 for _ in source.read(seen.name, 0, None, None))
        if number % max(1, len(windows) // 4) == 0:
            peak.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    read = time.perf_counter() - began
    assert count == rows
    database.close()
    return {
        "database": database.vendor, "rows": rows, "windows": len(windows), "list_s": round(listed, 1),
        "read_s": round(read, 1), "rows_per_s": round(rows / read),
        "rss_mb_by_quarter": str([round(one) for one in peak]),
    }  # fmt: skip


def _say(figures: dict[str, float | str]) -> None:
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
