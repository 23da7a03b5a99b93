"""Sources of the size that hospitals have: a hundred thousand files in one folder, one file of 500 MB."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from incognote.schemas.registry import approve
from incognote_benchmarks.postgres import LocalPostgres

from .processes import spelled, worker

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="the system does not tell of its processes")
RULES = ("--detectors", "rules", "--once")
LINE = 20_000  # bytes, most of them in a pass-through field
SCHEMA = {
    "$schema": "http://json-schema.org/draft-04/schema#",
    "type": "object",
    "recordVersion": "1.0",
    "description": "A note beside the trace of a monitor",
    "dataType": "trace",
    "idKey": "id",
    "properties": {
        "id": {"type": "string", "description": "Record id", "shouldHash": True, "entity_type": None},
        "note": {"type": "string", "description": "The note", "autoDeId": True},
        "trace": {"type": "string", "description": "Levels", "passThrough": True, "pattern": "^[a-h]*$",
                  "passReason": "levels of a monitor, a to h"},
    },
}


def outputs(destination: Path) -> Iterator[dict[str, str]]:
    """The records in the destination."""
    for shard in (destination / "soak").glob("*.jsonl"):
        with shard.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def test_each_of_very_many_files_in_one_folder_is_done_once(
    tmp_path: Path, full: bool, figures: dict[str, Any]
) -> None:
    files = 100_000 if full else 600
    source, destination = tmp_path / "source", tmp_path / "destination"
    source.mkdir()
    for number in range(files):
        (source / f"note-{number}.txt").write_text(f"Dr. Emily Carter called. Item {spelled(number)}.")
    size = 1000 if full else 100
    with worker(tmp_path, f"sqlite:///{tmp_path}/ledger.db", *RULES, shard_records=size, poll_seconds=10.0) as one:
        done = one.ends()
    assert done.data["release"] == {"released": files}
    assert done.data["skipped"] == 0
    written = [line["text"] for line in outputs(destination)]
    assert len(written) == len(set(written)) == files
    assert not any("Carter" in text for text in written)
    times = sorted(shard.stat().st_mtime for shard in (destination / "soak").iterdir())
    tenth = len(times) // 3 if not full else len(times) // 10
    rate = tenth * size
    figures["many_files"] = {
        "files": files, "outputs": len(written), "seconds": done.seconds, "cpu_seconds": done.cpu_seconds,
        "peak_mb": done.peak_mb, "files_per_second_first_tenth": round(rate / (times[tenth] - times[0]), 1),
        "files_per_second_last_tenth": round(rate / (times[-1] - times[-1 - tenth]), 1),
    }  # fmt: skip
    assert done.peak_mb < 600


def test_several_workers_share_one_huge_file_each_in_memory_of_a_batch_and_a_shard(
    tmp_path: Path, postgres: LocalPostgres, full: bool, figures: dict[str, Any]
) -> None:
    size, workers = (500_000_000, 4) if full else (5_000_000, 2)
    source, destination, schemas = tmp_path / "source", tmp_path / "destination", tmp_path / "schemas"
    source.mkdir()
    schemas.mkdir()
    (schemas / "trace.json").write_text(json.dumps(SCHEMA))
    approve(schemas / "trace.json", "Ada Officer")
    records = size // LINE
    trace = "abcdefgh" * (LINE // 8 - 20)
    with (source / "huge.jsonl").open("w") as out:
        for number in range(records):
            note = f"Dr. Emily Carter called. Item {spelled(number)}."
            out.write(json.dumps({"dataType": "trace", "id": f"t{number}", "note": note, "trace": trace}) + "\n")
    size = (source / "huge.jsonl").stat().st_size
    part = 2 * 2**20 if full else 400_000
    postgres.empty()
    with ExitStack() as stack:
        all_of_them = [
            stack.enter_context(
                worker(tmp_path, postgres.url, *RULES, "--schemas", schemas, part_bytes=part, shard_bytes=part)
            )
            for _ in range(workers)
        ]
        while [one for one in all_of_them if one.lives]:
            time.sleep(0.05)
        done = [one.ends() for one in all_of_them]
    each = [one.data["settled"].get("released", 0) for one in done]
    written = [record["note"] for record in outputs(destination)]
    assert sum(each) == len(written) == len(set(written)) == records
    assert min(each) > 0
    peaks = [one.peak_mb for one in done]
    figures["huge_file"] = {
        "bytes": size, "records": records, "workers": workers, "records_of_each": each, "part_bytes": part,
        "seconds": max(one.seconds for one in done), "cpu_seconds": round(sum(one.cpu_seconds for one in done), 1),
        "peak_mb_of_each": peaks,
    }  # fmt: skip
    assert max(peaks) < 600
