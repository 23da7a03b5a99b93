"""What saturates first: a simulation of workers that share a surrogate index and a ledger.

    python -m incognote_benchmarks.spark.contention --index docs/measured/index.json --spark docs/measured/spark.json \\
        --out docs/measured/contention.json

Each worker repeats: work on a note, then ask the index about its names. After a batch of notes, it claims and settles
them in the ledger. The index and the ledger serve a limited number of requests at once; others wait in line. The times
of the index come from its benchmark (median and 99th percentile, as a log-normal distribution), the work on a note from
the benchmark of Spark, and the times of the ledger are measured here, on a PostgreSQL of this machine. The number of
names in a note and the number of requests that are served at once are assumptions, and the result says so.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from heapq import heapify, heappop, heappush
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from incognote.keys import Keyring
from incognote_benchmarks.postgres import LocalPostgres, programs

_SEED = 25
_Z99 = 2.326  # of the standard normal distribution
_BATCH = 256  # notes that are settled together
_WORKERS = (1, 10, 100, 300, 1000)
_NOTES = 10_000  # of one simulation, at least


@dataclass(frozen=True)
class Times:
    """A log-normal distribution of times, in milliseconds."""

    p50: float
    p99: float

    def draw(self, chance: Random) -> float:
        """Return a time in seconds."""
        spread = math.log(max(self.p99, self.p50) / self.p50) / _Z99
        return self.p50 / 1000 * math.exp(spread * chance.gauss(0, 1))


@dataclass(frozen=True)
class Load:
    """What the workers do with a note.

    Args:
        work: seconds on a note, without the index and the ledger.
        lookups, queries, claims: requests to the index for a note. They are assumptions.
        index_slots, ledger_slots: requests that are served at once. They are assumptions.
    """

    work: float
    lookups: int = 2
    queries: int = 1
    claims: int = 1
    index_slots: int = 16
    ledger_slots: int = 8


@dataclass
class Station:
    """A server with slots and one line of waiting requests.

    Attributes:
        busy: seconds of work done, over all slots.
        waited: seconds that requests waited in line.
    """

    slots: int
    busy: float = 0.0
    waited: float = 0.0
    requests: int = 0
    free_at: list[float] = field(default_factory=list)

    def serve(self, now: float, seconds: float) -> float:
        """Take a request. Return when it is done."""
        start = now if len(self.free_at) < self.slots else max(now, heappop(self.free_at))
        heappush(self.free_at, start + seconds)
        self.busy += seconds
        self.waited += start - now
        self.requests += 1
        return start + seconds


def simulate(workers: int, load: Load, index: dict[str, Times], ledger: Times) -> dict[str, Any]:
    """Return the throughput of some workers, and how busy the index and the ledger are."""
    chance = Random(_SEED)  # noqa: S311 -- the same simulation every time
    asked, settled = Station(load.index_slots), Station(load.ledger_slots)
    steps = ("exact",) * load.lookups + ("query",) * load.queries + ("claim",) * load.claims
    most = max(_NOTES, workers * 40)
    events = [(load.work * chance.random() * 2, number, 0) for number in range(workers)]  # (time, worker, step)
    heapify(events)
    done_of = [chance.randrange(_BATCH) for _ in range(workers)]
    notes, now = 0, 0.0
    while notes < most:
        now, number, step = heappop(events)
        if step < len(steps):
            heappush(events, (asked.serve(now, index[steps[step]].draw(chance)), number, step + 1))
            continue
        notes += 1
        done_of[number] += 1
        settles = done_of[number] % _BATCH == 0
        at = settled.serve(now, ledger.draw(chance)) if settles else now
        heappush(events, (at + load.work * (0.5 + chance.random()), number, 0))
    alone = load.work + sum(index[name].p50 for name in steps) / 1000 + ledger.p50 / 1000 / _BATCH
    return {
        "workers": workers,
        "notes_per_second": round(notes / now, 1),
        "of_the_ideal": round(notes / now * alone / workers, 3),
        "index_busy": round(asked.busy / now / asked.slots, 3),
        "index_wait_ms_a_note": round(asked.waited / notes * 1000, 2),
        "ledger_busy": round(settled.busy / now / settled.slots, 3),
        "ledger_wait_ms_a_note": round(settled.waited / notes * 1000, 2),
        "hours_for_a_billion": round(1e9 / (notes / now) / 3600, 1),
    }


def measured_ledger(rounds: int) -> Times:
    """Return the times of claiming and settling a batch, measured on a PostgreSQL of this machine."""
    from incognote.ledger import FoundFile, Ledger, SettledRecord, Shard, Wanted

    def batches(ledger: Ledger) -> Iterator[float]:
        release = ledger.freeze("rates", {})
        ledger.found(release.id, [FoundFile("f", "s", "file", 1)])
        worker = ledger.join(3600)
        (part,) = ledger.claim_parts(worker, release.id, most=1, bytes=1)
        for number in range(rounds):
            keys = [ledger.key("record", f"{number}-{n}") for n in range(_BATCH)]
            began = time.perf_counter()
            claims = ledger.claim(worker, release.id, [Wanted(key, key, part.id) for key in keys])
            shard = Shard(f"rates/{number}", _BATCH, 1, "0" * 64)
            ledger.begin_shards(worker, release.id, [shard.name])
            settled = [SettledRecord(one.id, "released", n + 1) for n, one in enumerate(claims.values())]
            ledger.settle(worker, f"{number}", [(shard, settled)])
            ledger.placed([shard.name])
            yield (time.perf_counter() - began) * 1000

    with tempfile.TemporaryDirectory() as folder, LocalPostgres() as base:
        key = Path(folder) / "key"
        ledger = Ledger(base.url, Keyring.write_new(key))
        try:
            times = sorted(batches(ledger))
        finally:
            ledger.close()
    return Times(round(median(times), 2), round(times[min(len(times) - 1, int(0.99 * len(times)))], 2))


def index_times(told: dict[str, Any], store: str) -> dict[str, Times]:
    """Return the times of an index's requests from its benchmark."""
    names = {"exact": "exact_lookup_ms", "query": "vector_in_scope_ms", "claim": "claim_of_a_known_identity_ms"}
    return {name: Times(told[store][long]["p50"], told[store][long]["p99"]) for name, long in names.items()}


def first_full(rows: Sequence[dict[str, Any]], name: str) -> int | None:
    """Return the first number of workers at which a station is busy for nine tenths of the time."""
    return next((row["workers"] for row in rows if row[name] >= 0.9), None)


def main() -> None:
    """Measure the ledger, simulate, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", type=Path, required=True, help="JSON of the benchmark of the index")
    parser.add_argument("--spark", type=Path, required=True, help="JSON of the benchmark of Spark")
    parser.add_argument("--index-slots", type=int, nargs="+", default=[2, 16, 64])
    parser.add_argument("--ledger-rounds", type=int, default=100, help="batches to measure the ledger with")
    parser.add_argument("--out", type=Path, help="the JSON file; default: standard output")
    asked = parser.parse_args()
    index = index_times(json.loads(asked.index.read_text(encoding="utf-8")), "opensearch")
    rate = json.loads(asked.spark.read_text(encoding="utf-8"))["spark"][0]
    if programs() is None:
        parser.error("PostgreSQL is not installed, so the ledger cannot be measured")
    ledger = measured_ledger(asked.ledger_rounds)
    cases = []
    for slots in asked.index_slots:
        load = Load(work=rate["seconds"] / rate["notes"], index_slots=slots)
        rows = [simulate(workers, load, index, ledger) for workers in _WORKERS]
        full = {"index": first_full(rows, "index_busy"), "ledger": first_full(rows, "ledger_busy")}
        shown = {**asdict(load), "work": round(load.work, 5)}
        cases.append({"load": shown, "workers_at_90_percent": full, "rows": rows})
    told = {
        "simulated": True,
        "assumed": [
            "lookups", "queries", "claims", "index_slots", "ledger_slots", "a slot is as fast as the measured server",
        ],
        "batch": _BATCH,
        "index_ms": {name: asdict(times) for name, times in index.items()},
        "ledger_ms_a_batch": asdict(ledger),
        "load_of_the_machine": round(os.getloadavg()[0], 1),
        "cases": cases,
    }
    written = json.dumps(told, indent=2) + "\n"
    if asked.out is None:
        sys.stdout.write(written)
    else:
        asked.out.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
