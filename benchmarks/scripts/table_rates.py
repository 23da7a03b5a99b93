"""Memory and speed of a worker on a large table of notes of 170 characters.

    python benchmarks/scripts/table_rates.py --rows 10000000 --minutes 30 --out docs/measured/table_rates.json

- `list`: one process lists the windows of the whole table.
- `read`: it then reads the rows, in order and without de-identifying them, until all are read or the minutes are over.
- `write`: it writes rows to a table, in shards of 1,000, without de-identifying them.
- `worker`: `incognote worker` with the rules detector runs from table to table, with all of its steps.

The texts are synthetic. `--postgres` measures PostgreSQL instead of SQLite, in a server that the script starts.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from incognote.formats.tables import Columns, Layout
from incognote.keys import Keyring
from incognote.runs.sql import TableDatabase
from incognote.runs.sqldestination import SqlDestination
from incognote.runs.sqlsource import SqlSource
from incognote_benchmarks.postgres import LocalPostgres

TEXT = "Seen by Dr. Emily Carter on 03/16/2025. Chest pain since two days, no dyspnea. " * 2
LAYOUT = Layout(Columns(("text",), id="id", passed=("at",)))
QUARTERS = 4


@contextmanager
def opened(folder: Path, rows: int, *, postgres: bool) -> Iterator[str]:
    """Make a table with a number of rows. Yield the URL of its database."""
    if not postgres:
        file = folder / f"notes-{rows}.db"
        stamp = "datetime('2020-01-01', '+' || n || ' seconds')"
        with sqlite3.connect(file) as db:
            db.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, at TIMESTAMP, text TEXT)")
            db.execute(f"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < {rows}) "  # noqa: S608 -- a number
                       f"INSERT INTO note SELECT n, {stamp}, '{TEXT}' || n FROM c")  # fmt: skip
            db.execute("CREATE INDEX by_time ON note (at, id)")
        yield f"sqlite:///{file}"
        return
    import psycopg

    with LocalPostgres() as base:
        with psycopg.connect(base.url, autocommit=True) as db:
            db.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, at TIMESTAMP, text TEXT)")
            db.execute(
                "INSERT INTO note SELECT n, timestamp '2020-01-01' + n * interval '1 second', %s || n "
                "FROM generate_series(1, %s) n", (TEXT, rows),
            )  # fmt: skip
            db.execute("CREATE INDEX ON note (at, id)")
        yield base.url


class Meter:
    """Time, processor time, and resident memory at each quarter of a work.

    Args:
        whole: the rows, or seconds, of the whole work.
    """

    def __init__(self, whole: float) -> None:
        self._whole, self._memory = whole, list[int]()
        self._began, self._cpu = time.perf_counter(), time.process_time()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    def at(self, done: float) -> None:
        """Note the memory if a quarter is complete."""
        if done >= self._whole * (len(self._memory) + 1) / QUARTERS and len(self._memory) < QUARTERS - 1:
            self._memory.append(resident())

    def end(self, rows: int) -> dict[str, Any]:
        seconds, cpu = self.seconds, time.process_time() - self._cpu
        return {
            "rows": rows, "seconds": round(seconds), "cpu_us_per_row": round(1e6 * cpu / rows, 1),
            "rows_per_s": round(rows / seconds), "rss_mb_by_quarter": [*self._memory, resident()],
        }  # fmt: skip


def resident() -> int:
    """Return the resident memory of this process in MB."""
    return round(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6)


def listed_and_read(url: str, rows: int, seconds: float) -> dict[str, Any]:
    """List all windows, and read rows for a number of seconds."""
    database = TableDatabase(url, "SOURCE")
    source = SqlSource(database, "note", LAYOUT, watermark="at")
    meter, windows, count = Meter(rows), 0, 0
    for seen in source.look():
        windows += 1
        count += seen.size // 4096
        meter.at(count)
    assert count == rows
    figures = {"list": {**meter.end(count), "windows": windows}}
    meter, count = Meter(seconds), 0
    for seen in source.look():
        count += sum(one.error is None for one in source.read(seen.name, 0, None, None))
        meter.at(max(meter.seconds, count / rows * seconds))
        if meter.seconds > seconds:
            break
    figures["read"] = meter.end(count)
    database.close()
    return figures


def written(url: str, target: str, rows: int) -> dict[str, Any]:
    """Write rows of a table to another, in shards."""
    source_database, database = TableDatabase(url, "SOURCE"), TableDatabase(target, "--destination", writes=True)
    source = SqlSource(source_database, "note", LAYOUT, watermark="at")
    destination = SqlDestination(database, "released", source.rows, source.table)
    meter, count, lines = Meter(rows), 0, list[bytes]()
    for seen in source.look():
        for one in source.read(seen.name, 0, None, None):
            count += 1
            lines.append(b"%d %d %b\n" % (count, count, str(one.content).encode()))
            if len(lines) == 1000 or count == rows:
                destination.stage(f"r1/{count}.jsonl", b"".join(lines))
                destination.place(f"r1/{count}.jsonl")
                lines.clear()
                meter.at(count)
    figures = meter.end(count)
    for each in (source_database, database):
        each.close()
    return figures


def worked(folder: Path, url: str, target: str, rows: int) -> dict[str, Any]:
    """Run the worker on a table, and note its memory at each quarter of its rows."""
    Keyring.write_new(folder / "key")
    command = [
        sys.executable, "-m", "incognote", "worker", url, "--table", "note", "--watermark", "at",
        "--text-column", "text", "--id-column", "id", "--pass-column", "at", "--destination", target,
        "--into", "worked", "--ledger", f"sqlite:///{folder / 'ledger.db'}", "--release", "r1",
        "--quarantine", str(folder / "held"), "--detectors", "rules", "--once", "--key-file", str(folder / "key"),
    ]  # fmt: skip
    environment = {**os.environ, "INCOGNOTE_HOME": str(folder / "home")}
    began, memory, done = time.perf_counter(), list[int](), 0
    with subprocess.Popen(  # noqa: S603 -- our own program
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    ) as run:
        assert run.stderr is not None
        for line in run.stderr:
            told = json.loads(line) if line.startswith("{") else {}
            done += told.get("released", 0) if told.get("event") == "records.committed" else 0
            if done >= rows * (len(memory) + 1) / QUARTERS and len(memory) < QUARTERS:
                pages = int(Path(f"/proc/{run.pid}/statm").read_text().split()[1])
                memory.append(round(pages * os.sysconf("SC_PAGE_SIZE") / 1e6))
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    assert (run.returncode, done) == (0, rows)
    cpu = used.ru_utime + used.ru_stime
    return {
        "rows": rows, "seconds": round(time.perf_counter() - began), "cpu_ms_per_row": round(1000 * cpu / rows, 1),
        "rss_mb_by_quarter": memory, "peak_mb": round(used.ru_maxrss * 1024 / 1e6),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--minutes", type=float, default=12)
    parser.add_argument("--written", type=int, default=100_000, help="rows of `write`")
    parser.add_argument("--worked", type=int, default=10_000, help="rows of `worker`")
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    figures: dict[str, Any] = {
        "about": "synthetic notes of 170 characters; one process on 2 cores that other programs used too",
        "database": "postgresql" if asked.postgres else "sqlite", "table_rows": asked.rows,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with opened(folder, asked.rows, postgres=asked.postgres) as url:
            figures |= listed_and_read(url, asked.rows, 60 * asked.minutes)
        target = f"sqlite:///{folder / 'target.db'}"
        with opened(folder, asked.written, postgres=asked.postgres) as url:
            figures["write"] = written(url, url if asked.postgres else target, asked.written)
        with opened(folder, asked.worked, postgres=asked.postgres) as url:
            figures["worker"] = worked(folder, url, url if asked.postgres else target, asked.worked)
    if asked.out:
        asked.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
