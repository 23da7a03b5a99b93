"""Kill an incremental run from table to table at many moments, and check that no row is lost or doubled.

    python benchmarks/scripts/sql_kills.py --out docs/measured/sql_kills.json [--kills 20]

`incognote worker` reads synthetic notes with a watermark. It is killed with SIGKILL at equal steps of the time that a
round takes, and started again. Before each start, new rows are added and some released rows are amended. At the end,
the worker runs until nothing is new. Then every row must be in the destination once, in its latest version.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from incognote.keys import Keyring
from incognote.ledger import Ledger
from incognote_benchmarks.postgres import LocalPostgres

ADDED, AMENDED = 60, 15  # rows before each start
LEASE = 4.2  # seconds until the lease of a killed worker has ended
SETTINGS = """[service]
shard_records = 10
batch_records = 10
lease_seconds = 4.0
longest_pause = 0.5
poll_seconds = 0.2
"""
TEXT = "Seen by Dr. Emily Carter on 03/16/2025, row {row} version {version}."


class Notes:
    """The source table, which a hospital fills meanwhile.

    Attributes:
        versions: the latest version of each row.
    """

    def __init__(self, engine: sa.Engine) -> None:
        self._engine, self._clock = engine, 0
        self.versions: dict[int, int] = {}
        with engine.begin() as db:
            db.execute(sa.text("CREATE TABLE note (id INTEGER PRIMARY KEY, changed INTEGER, text TEXT)"))

    def change(self) -> None:
        """Add rows, and amend earlier ones in a fixed order."""
        first = len(self.versions) + 1
        amended = [1 + (7 * k + self._clock) % (first - 1) for k in range(AMENDED)] if first > 1 else []
        with self._engine.begin() as db:
            for row in (*range(first, first + ADDED), *dict.fromkeys(amended)):
                self._clock += 1
                self.versions[row] = version = self.versions.get(row, 0) + 1
                db.execute(sa.text("DELETE FROM note WHERE id = :id"), {"id": row})
                told = {"id": row, "at": self._clock, "text": TEXT.format(row=row, version=version)}
                db.execute(sa.text("INSERT INTO note VALUES (:id, :at, :text)"), told)

    def faults(self, released: list[str]) -> dict[str, int]:
        """Return the number of rows that are lost, doubled, or in an earlier version."""
        found: dict[int, list[int]] = {}
        for text in released:
            assert "Carter" not in text
            words = text.rstrip(".").split()
            found.setdefault(int(words[-3]), []).append(int(words[-1]))
        return {
            "lost": len(self.versions.keys() - found.keys()), "doubled": sum(len(each) > 1 for each in found.values()),
            "in_an_earlier_version": sum(max(each) != self.versions[row] for row, each in found.items()),
        }  # fmt: skip


def engine_of(url: str) -> sa.Engine:
    made = sa.make_url(url)
    return sa.create_engine(made.set(drivername="postgresql+psycopg") if made.host else made)


def killed(folder: Path, source: str, target: str, kills: int) -> dict[str, Any]:
    """Run the worker with kills between two databases."""
    engine, lab = engine_of(source), engine_of(target)
    notes, keyring = Notes(engine), Keyring.write_new(folder / "key")
    (folder / "settings.toml").write_text(SETTINGS)
    ledger_url = f"sqlite:///{folder / 'ledger.db'}"
    command = [
        sys.executable, "-m", "incognote", "worker", source, "--table", "note", "--watermark", "changed",
        "--text-column", "text", "--id-column", "id", "--pass-column", "changed", "--destination", target,
        "--into", "released", "--ledger", ledger_url, "--release", "r1", "--quarantine", str(folder / "held"),
        "--detectors", "rules", "--once", "--config", str(folder / "settings.toml"), "--key-file", str(folder / "key"),
    ]  # fmt: skip
    environment = {**os.environ, "INCOGNOTE_HOME": str(folder / "home")}

    def begun() -> tuple[subprocess.Popen[str], float]:
        """Start the worker. Return it when it has joined, with the time."""
        run = subprocess.Popen(  # noqa: S603 -- our own program
            command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        assert run.stderr is not None
        while '"worker.started"' not in (line := run.stderr.readline()):
            assert line, "the worker ended before it started to work"
        return run, time.monotonic()

    notes.change()
    run, at = begun()
    run.communicate()
    assert run.returncode == 0
    whole, moments = time.monotonic() - at, list[str]()
    for kill in range(kills):
        notes.change()
        time.sleep(LEASE)
        run, _ = begun()
        time.sleep(whole * (kill + 0.5) / kills)
        moments.append("ended before" if run.poll() is not None else "working")
        if run.poll() is None:
            run.send_signal(signal.SIGKILL)
        run.communicate()
    time.sleep(LEASE)
    run, _ = begun()
    run.communicate()
    with lab.connect() as db:
        released = list(db.scalars(sa.text("SELECT text FROM released")))
        staged = db.scalar(sa.text("SELECT count(*) FROM incognote_staged"))
    ledger = Ledger(ledger_url, keyring)
    entries = list(ledger.entries(release=ledger.release("r1").id))
    ledger.close()
    for each in (engine, lab):
        each.dispose()
    return {
        "kills": moments.count("working"), "rows": len(notes.versions),
        "amendments": sum(notes.versions.values()) - len(notes.versions), "released": len(released),
        **notes.faults(released), "left_staged": staged,
        "linked_to_an_earlier_release": sum(entry.replaces is not None for entry in entries),
        "exit_code_at_the_end": run.returncode,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    figures: dict[str, Any] = {"about": "synthetic notes; SIGKILL at equal steps of a round"}
    with tempfile.TemporaryDirectory() as temporary, LocalPostgres() as base:
        folder = Path(temporary)
        for name, target in (("sqlite to sqlite", ""), ("sqlite to postgresql", base.url)):
            place = folder / name.replace(" ", "-")
            place.mkdir()
            lab = target or f"sqlite:///{place / 'lab.db'}"
            figures[name] = killed(place, f"sqlite:///{place / 'notes.db'}", lab, asked.kills)
    if asked.out:
        asked.out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
