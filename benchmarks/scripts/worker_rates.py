"""Records per second with one, two, and four workers: the real `incognote worker` on one source, SQLite and PostgreSQL.

    python benchmarks/scripts/worker_rates.py tests/data/notes.jsonl --out docs/measured/worker.json

The clock runs from the moment the source is filled, with all workers waiting for it, to the last settlement. PostgreSQL
is a local server that the script starts (without fsync). The workers' processor seconds include their other work:
sentinel notes, audit log, drift.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from contextlib import ExitStack, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.progress import Progress

from incognote.cli.tables import print_table
from incognote_benchmarks.detection import texts_of
from incognote_benchmarks.postgres import LocalPostgres, programs
from incognote_benchmarks.processes import Running

PART = 16 * 2**10  # bytes; small, so that a few hundred notes are many claims
A_FILE = 250  # notes
LEDGERS = ("sqlite", "postgresql")
SERVICE = {"rest_seconds": 0.0, "poll_seconds": 0.5, "part_bytes": PART, "review_ceiling": 1.0}


def fill(source: Path, texts: list[str], records: int) -> None:
    """Repeat the texts, with a number in each so that no two records are equal."""
    source.mkdir()
    for start in range(0, records, A_FILE):
        lines = (
            json.dumps({"id": f"n{n}", "text": f"{texts[n % len(texts)]}\nItem {n // len(texts)}."}) + "\n"
            for n in range(start, min(records, start + A_FILE))
        )
        (source / f"{start}.jsonl").write_text("".join(lines), encoding="utf-8")


def told(worker: Running) -> list[dict[str, Any]]:
    """The events that a worker has logged so far."""
    whole = worker.log.read_text(encoding="utf-8").rpartition("\n")[0]
    return [json.loads(line) for line in whole.splitlines() if line.startswith("{")]


def settled(events: list[dict[str, Any]]) -> int:
    """The number of records with any outcome."""
    states = ("released", "review", "quarantined", "refused")
    return sum(one[state] for one in events if one["event"] == "records.committed" for state in states)


def measure(root: Path, ledger: str, workers: int, records: int, texts: list[str], detectors: str) -> dict[str, Any]:
    """Measure one source, processed once.

    Raises:
        AssertionError: a worker failed, or ended too early.
    """
    fill(root / "filling", texts, records)
    (root / "source").mkdir()
    words = ("worker", root / "source", "--destination", root / "destination", "--quarantine", root / "held",
             "--ledger", ledger, "--release", "rates", "--detectors", detectors, "--json")  # fmt: skip
    with ExitStack() as stack:
        all_of_them = [stack.enter_context(Running(root / "home", *words, service=SERVICE)) for _ in range(workers)]

        def wait(done: Any) -> None:
            while not done():
                if not all([one.lives for one in all_of_them]):  # noqa: C419 -- each call updates its peak
                    raise AssertionError(next(one for one in all_of_them if not one.lives).ends())
                time.sleep(0.2)

        wait(lambda: all(any(event["event"] == "release.frozen" for event in told(one)) for one in all_of_them))
        before = [one.cpu_seconds for one in all_of_them]
        began = time.time()
        for path in sorted((root / "filling").iterdir()):
            path.rename(root / "source" / path.name)
        wait(lambda: sum(settled(told(one)) for one in all_of_them) >= records)
        took = sum(one.cpu_seconds for one in all_of_them) - sum(before)
        events = [told(one) for one in all_of_them]
        ended = max(
            datetime.fromisoformat(event["timestamp"]).timestamp()
            for one in events for event in one if event["event"] == "records.committed"
        )  # fmt: skip
        peaks = [one.stop().peak_mb for one in all_of_them]
    seconds = ended - began
    return {
        "workers": workers,
        "records": records,
        "seconds": round(seconds, 1),
        "records_per_second": round(records / seconds, 1),
        "cpu_ms_a_record": round(1000 * took / records, 1),
        "records_of_each": [settled(one) for one in events],
        "peak_mb_of_the_largest": max(peaks),
    }


def main() -> None:
    """Measure every combination of detectors, ledger, and number of workers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="JSONL with the member `text` or `note`, or a text")
    parser.add_argument("--records", type=int, default=3000, help="with the rules alone")
    parser.add_argument("--encoder-records", type=int, default=400, help="with rules and encoder; 0: skip that")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--ledgers", nargs="+", choices=LEDGERS, default=LEDGERS)
    parser.add_argument("--out", type=Path, help="the JSON file; default: standard output")
    asked = parser.parse_args()
    texts = list(texts_of(asked.corpus))
    made: list[dict[str, Any]] = []
    plans = [(words, n) for words, n in (("rules", asked.records), ("rules,encoder", asked.encoder_records)) if n]
    ledgers = [one for one in asked.ledgers if one != "postgresql" or programs() is not None]
    progress = Progress(disable=not sys.stderr.isatty())
    with progress, tempfile.TemporaryDirectory(prefix="incognote-rates-") as folder:
        bar = progress.add_task("measuring", total=len(plans) * len(ledgers) * len(asked.workers))
        for detectors, records in plans:
            for ledger in ledgers:
                rates = []
                for workers in asked.workers:
                    root = Path(folder) / f"{len(made)}-{workers}"
                    root.mkdir()
                    with LocalPostgres() if ledger == "postgresql" else nullcontext() as base:
                        url = base.url if base is not None else f"sqlite:///{root}/ledger.db"
                        rates.append(measure(root, url, workers, records, texts, detectors))
                    ratio = rates[-1]["records_per_second"] / rates[0]["records_per_second"]
                    rates[-1][f"times_that_of_{asked.workers[0]}"] = round(ratio, 2)
                    progress.advance(bar)
                made.append({"detectors": detectors.split(","), "ledger": ledger, "part_bytes": PART, "rates": rates})
    machine = {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1), "python": platform.python_version()}
    characters = round(sum(map(len, texts)) / len(texts))
    whole = {"corpus": asked.corpus.name, "notes": len(texts), "characters": characters, **machine,
             "measured": made}  # fmt: skip
    if asked.out is not None:
        asked.out.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")
    else:
        sys.stdout.write(json.dumps(whole) + "\n")
        return
    rows = [
        ("+".join(one["detectors"]), one["ledger"], str(rate["workers"]), f"{rate['records_per_second']:.1f}",
         f"{rate['records_per_second'] / one['rates'][0]['records_per_second']:.2f}", f"{rate['seconds']:.1f}",
         f"{rate['cpu_ms_a_record']:.1f}", f"{rate['peak_mb_of_the_largest']:,}")
        for one in made for rate in one["rates"]
    ]  # fmt: skip
    print_table(("detectors", "ledger", "workers", "records/s", "ratio", "s", "cpu ms/record", "peak MB"), rows)


if __name__ == "__main__":
    main()
