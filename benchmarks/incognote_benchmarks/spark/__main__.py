"""Notes per second on a cluster of one and two executors, beside plain processes in the same run.

    python -m incognote_benchmarks.spark tests/data/notes.jsonl --notes 2000 --out docs/measured/spark.json

Each executor has one core. The clock of a rate begins when all workers are open: what the session and the first job
took is given beside it. `identity` is the same job with a function that returns its rows: what Spark itself takes. For
10,000 notes it is told from the largest job, since a small one is mostly its start. The memory is sampled while one
executor serves `--memory-notes` notes, in tenths of the time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from incognote.keys import Keyring
from incognote_benchmarks.detection import texts_of
from incognote_benchmarks.spark.cluster import LocalCluster, resident_mb

_A_FILE = 250  # notes
_WARM = 8  # notes of each file of the first job
_TENTHS = 10
MILLION = 1_000_000
PRICE = 0.04
"""US dollars for a core of a cloud's general machine for an hour: an assumption, not a measurement."""


def fill(folder: Path, texts: Sequence[str], notes: int, files: int) -> Path:
    """Repeat the texts, with a number in each so that no two notes are equal. Return the folder."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir()
    for part in range(files):
        numbers = range(part, notes, files)
        each = [f"{texts[n % len(texts)]}\nItem {n // len(texts)}." for n in numbers]
        table = pa.table({"note": each, "patient": [f"p{n % 97}" for n in numbers]})
        parquet.write_table(table, folder / f"{part:05}.parquet", row_group_size=_A_FILE)
    return folder


def plain(source: Path, key: Path, processes: int, detectors: str) -> dict[str, Any]:
    """Measure incognote's own processes on the notes of a folder, without Spark."""
    from pyarrow import parquet

    from incognote import Deidentifier
    from incognote.agents.item import Item

    rows = [row for path in sorted(source.iterdir()) for row in parquet.read_table(path).to_pylist()]
    items = [Item(row["note"], patient=row["patient"]) for row in rows]
    with Deidentifier(key_file=key, detectors=detectors.split(","), processes=processes) as made:
        for _ in made.batch(items[: _WARM * 4 * processes], progress=False):
            pass
        began = time.perf_counter()
        for _ in made.batch(items, progress=False):
            pass
        seconds = time.perf_counter() - began
    return {"processes": processes, "seconds": round(seconds, 2), "notes_per_second": round(len(items) / seconds, 1)}


def on_spark(
    root: Path, source: Path, warm: Path, key: Path, executors: int, notes: int, detectors: str
) -> tuple[dict[str, Any], list[tuple[float, float, float]]]:
    """Measure a cluster. Return the figures, and (seconds, MB of the JVM, MB of Python) of the largest executor."""
    samples: list[tuple[float, float, float]] = []
    with LocalCluster(executors, {"INCOGNOTE_KEY_FILE": str(key)}) as cluster:
        words = [sys.executable, "-m", "incognote_benchmarks.spark.driver", cluster.url, str(warm), str(source),
                 "--detectors", detectors]  # fmt: skip
        log = root / f"driver{executors}-{notes}.log"
        with log.open("wb") as errors, subprocess.Popen(  # noqa: S603 -- our own module
            words, stdout=subprocess.PIPE, stderr=errors
        ) as driver:
            assert driver.stdout is not None
            os.set_blocking(driver.stdout.fileno(), False)
            heard, began = b"", 0.0
            while driver.poll() is None:
                heard += driver.stdout.read() or b""
                if b"warm\n" in heard and b"done\n" not in heard:
                    began = began or time.monotonic()
                    jvm = max(map(resident_mb, cluster.executors()), default=0.0)
                    python = max(map(resident_mb, cluster.python_workers()), default=0.0)
                    samples.append((time.monotonic() - began, jvm, python))
                time.sleep(0.25)
            heard += driver.stdout.read() or b""
        if driver.returncode:
            raise AssertionError(log.read_text(errors="replace")[-2000:])
    told = json.loads(heard.splitlines()[-1])
    rate = {"executors": executors, "notes": notes, **told, "notes_per_second": round(notes / told["seconds"], 1)}
    return rate, samples


def flatness(samples: Sequence[tuple[float, float, float]]) -> dict[str, Any]:
    """Return the memory in each tenth of a job, in MB, and the last beside the second."""
    end = samples[-1][0] or 1.0
    tenths: list[list[tuple[float, float]]] = [[] for _ in range(_TENTHS)]
    for at, jvm, python in samples:
        tenths[min(int(at / end * _TENTHS), _TENTHS - 1)].append((jvm, python))
    jvm_mb, python_mb = ([round(median(one[kind] for one in tenth)) for tenth in tenths if tenth] for kind in (0, 1))
    return {
        "jvm_mb": jvm_mb,
        "python_mb": python_mb,
        "python_last_to_second": round(python_mb[-1] / python_mb[min(1, len(python_mb) - 1)], 2),
    }


def cost(rate: dict[str, Any]) -> dict[str, Any]:
    """Return what a million notes need, from the rate of one executor."""
    hours = rate["seconds"] / rate["notes"] * MILLION / 3600
    return {
        "core_hours_per_million": round(hours, 1),
        "price_per_core_hour_assumed": PRICE,
        "usd_per_million": round(hours * PRICE, 2),
    }


def measure(corpus: Path, notes: int, memory_notes: int, detectors: str, counts: Sequence[int]) -> dict[str, Any]:
    """Measure everything."""
    texts = list(texts_of(corpus))
    short = [text[:200] for text in texts]
    with tempfile.TemporaryDirectory(prefix="incognote-spark-bench-") as folder:
        root = Path(folder)
        key = root / "master.key"
        Keyring.write_new(key)
        source = fill(root / "notes", texts, notes, max(4 * max(counts), notes // _A_FILE))
        processes = [plain(source, key, count, detectors) for count in counts]
        rates = []
        for count in counts:
            warm = fill(root / f"warm{count}", texts, _WARM * 4 * count, 4 * count)
            rates.append(on_spark(root, source, warm, key, count, notes, detectors)[0])
        many = fill(root / "many", short, memory_notes, max(4, memory_notes // (4 * _A_FILE)))
        warm = fill(root / "warm", short, _WARM * 4, 4)
        rate, samples = on_spark(root, many, warm, key, 1, memory_notes, "rules")
    for one in (processes, rates):
        for each in one:
            each["times_that_of_1"] = round(each["notes_per_second"] / one[0]["notes_per_second"], 2)
    machine = {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1), "python": platform.python_version()}
    beside = {rate["executors"]: rate["seconds"] for rate in rates}
    return {
        "corpus": corpus.name,
        "synthetic": True,
        "notes": notes,
        "characters": round(sum(map(len, texts)) / len(texts)),
        "detectors": detectors.split(","),
        **machine,
        "processes": processes,
        "spark": rates,
        "spark_seconds_more_than_processes_per_10000": {
            str(one["processes"]): round((beside[one["processes"]] - one["seconds"]) / notes * 10_000, 1)
            for one in processes
        },
        "spark_alone": {
            "notes": memory_notes,
            "seconds": rate["identity_seconds"],
            "seconds_per_10000": round(rate["identity_seconds"] / memory_notes * 10_000, 2),
        },
        "memory": {"notes": memory_notes, "characters": round(sum(map(len, short)) / len(short)),
                   "seconds": rate["seconds"], **flatness(samples)},
        "cost": cost(rates[0]),
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Measure, and write."""
    parser = argparse.ArgumentParser(
        prog="python -m incognote_benchmarks.spark", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("corpus", type=Path, help="JSONL with the member `text` or `note`, or a text")
    parser.add_argument("--notes", type=int, default=2000)
    parser.add_argument("--memory-notes", type=int, default=20_000, help="short notes, with the rules alone")
    parser.add_argument("--detectors", default="rules,encoder")
    parser.add_argument("--executors", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--remark", default="", help="what else the machine did")
    parser.add_argument("--out", type=Path, help="the JSON file; default: standard output")
    asked = parser.parse_args(arguments)
    told = measure(asked.corpus, asked.notes, asked.memory_notes, asked.detectors, asked.executors)
    written = json.dumps({**told, "remark": asked.remark}, indent=2) + "\n"
    if asked.out is None:
        sys.stdout.write(written)
    else:
        asked.out.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
