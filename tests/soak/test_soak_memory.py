"""A worker that watches a source and a server under load, hour after hour: memory, files, and connections do not grow.

Full size: an hour with the default detectors. With the other tests, a few seconds with the rules alone.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from incognote_benchmarks.postgres import LocalPostgres
from incognote_benchmarks.processes import Running

from .processes import NOTES, Flat, spelled, worker

GROWS_MB = 8.0  # maximum growth from the median of the middle third to that of the last
FILLING = 2  # extra connections in a short run: pools open them as threads meet; a leak is one per shard, so six
A_FILE = 8  # notes


def texts() -> Iterator[str]:
    """The gold notes in an endless cycle, no two alike."""
    notes = [json.loads(line)["text"] for line in NOTES.read_text(encoding="utf-8").splitlines()]
    return (f"{notes[n % len(notes)]}\nItem {spelled(n)}." for n in count())


def connections(base: LocalPostgres) -> int:
    """The number of connections, except the one that asks."""
    asked = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    with psycopg.connect(base.url) as db:
        row = db.execute(asked).fetchone()
    assert row is not None
    return int(row[0])


def address(server: Running) -> str:
    while server.lives:
        if found := re.search(r"^Open (\S+) with", server.log.read_text(encoding="utf-8"), re.MULTILINE):
            return found[1]
        time.sleep(0.05)
    raise AssertionError(server.log.read_text(encoding="utf-8"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the system does not tell of its processes")
def test_memory_of_a_worker_and_of_a_server_stays_flat(
    tmp_path: Path, postgres: LocalPostgres, full: bool, figures: dict[str, Any]
) -> None:
    postgres.empty()
    lasts, pause, least = (3600.0, 1.0, 20) if full else (8.0, 0.1, 6)  # seconds, seconds, shards in the last third
    detectors = "rules,encoder" if full else "rules"
    destination, source, notes = tmp_path / "destination" / "soak", tmp_path / "source", texts()
    source.mkdir()

    def feed(number: int) -> None:
        lines = "".join(json.dumps({"id": f"{number}-{n}", "text": next(notes)}) + "\n" for n in range(A_FILE))
        (source / f".{number}").write_text(lines, encoding="utf-8")
        (source / f".{number}").rename(source / f"{number}.jsonl")

    service = {"database": postgres.url, "review_ceiling": 1.0, "shard_seconds": 10 * pause, "shard_records": 64}
    working = worker(tmp_path, postgres.url, "--detectors", detectors, **service)
    serving = Running(tmp_path / "home", "serve", "--port", 0, "--detectors", detectors,
                      service={"database": postgres.url, "api_rate": 10**7})  # fmt: skip
    by_worker, by_server, opened, placed = Flat(), Flat(), list[int](), list[int]()
    with working, serving, httpx.Client(base_url=address(serving), timeout=120) as client:
        client.headers["Authorization"] = f"Bearer {serving.token}"
        feed(0)
        while working.lives and not (destination.is_dir() and list(destination.glob("*.jsonl"))):
            time.sleep(0.1)  # startup is not measured
        began, rounds, shards = time.monotonic(), 0, 0
        while time.monotonic() < began + lasts or shards < least:  # it is under load the whole time
            rounds += 1
            if rounds % 4 == 0:
                feed(rounds)
            answer = client.post("/v1/deidentify", json={"text": next(notes)})
            assert answer.status_code == 200
            assert working.lives
            by_worker.take(working)
            by_server.take(serving)
            opened.append(connections(postgres))
            placed.append(sum(1 for _ in destination.glob("*.jsonl")))
            shards = placed[-1] - placed[2 * (rounds // 3)] if rounds > 3 else 0
            time.sleep(max(0.0, began + rounds * pause - time.monotonic()))
        done, _ = working.stop(), serving.stop()
    third = rounds // 3
    opens = 0 if full else FILLING
    told = {
        "seconds": round(time.monotonic() - began), "detectors": detectors.split(","),
        "bound": f"medians of the middle and the last third differ by less than {GROWS_MB:g} MB; the least files at "
        f"once are no more in the last third than in the middle one, sockets and connections at most {opens} more",
        "worker": {**by_worker.told(), "records": sum(done.data["settled"].values()), "files": rounds // 4 + 1},
        "server": {**by_server.told(), "requests": rounds},
        "connections_middle": max(opened[third : 2 * third]), "connections_last": max(opened[2 * third :]),
        "connections_kept_middle": min(opened[third : 2 * third]), "connections_kept_last": min(opened[2 * third :]),
    }  # fmt: skip
    figures["memory_flat"] = told
    for one in (told["worker"], told["server"]):
        assert one["mb_last"] - one["mb_middle"] < GROWS_MB, told
        assert one["files_kept_last"] <= one["files_kept_middle"], told
        assert one["sockets_kept_last"] <= one["sockets_kept_middle"] + opens, told
    assert told["connections_kept_last"] <= told["connections_kept_middle"] + opens, told
