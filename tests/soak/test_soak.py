"""Many tiny records, one huge note: a clear result, nothing lost, bounded memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

MEGABYTE = 2**20
NOTES = Path(__file__).parents[1] / "data" / "notes.jsonl"
MEMORY = str(files("incognote_benchmarks.detection").joinpath("memory.py"))


class Cost(NamedTuple):
    """What a run took. On a busy machine, CPU seconds are more meaningful than elapsed time."""

    peak_mb: int
    seconds: float
    cpu_seconds: float


def deid(*arguments: object, home: Path) -> tuple[dict[str, Any], Cost]:
    """Return the summary of one `incognote deid --json` run, and its cost."""
    script = (
        "import runpy, sys, time\n"
        "from incognote.cli import main\n"
        "memory = sys.argv.pop(1)\n"
        "try:\n    main()\n"
        "finally:\n    print(runpy.run_path(memory)['peak_mb'](), time.process_time(), file=sys.stderr)\n"
    )
    start = time.monotonic()
    done = subprocess.run(
        # rules only: this soaks the machine around them; the benchmarks cover the encoder's cost
        [sys.executable, "-c", script, MEMORY, "deid", *map(str, arguments), "--detectors", "rules", "--json"],
        capture_output=True,
        env={**os.environ, "INCOGNOTE_HOME": str(home)},
        check=False,
    )
    assert done.returncode in (0, 3), done.stderr.decode()[-2000:]
    peak, processor = done.stderr.split()[-2:]
    seconds = time.monotonic() - start
    cost = Cost(int(float(peak)), round(seconds, 1), round(float(processor), 1))
    return json.loads(done.stdout)["data"], cost


def test_tiny_records_all_come_out_in_bounded_memory(tmp_path: Path, full: bool, figures: dict[str, Any]) -> None:
    count = 100_000 if full else 10_000
    source = tmp_path / "tiny.jsonl"
    with source.open("w", encoding="utf-8") as out:
        for i in range(count):
            out.write(json.dumps({"dataType": "note", "id": f"r{i}", "text": f"Pt {i % 90} seen by Dr. Abara."}) + "\n")
    summary, cost = deid(source, "--out", tmp_path / "out", home=tmp_path / "home")
    assert summary["records"] == count
    assert summary["released"] + summary["review"] + summary["quarantined"] == count
    written = sum(path.read_bytes().count(b"\n") for path in (tmp_path / "out").glob("*.jsonl"))
    assert written == summary["released"]
    assert summary["released"] > 0.9 * count
    assert cost.peak_mb < 600
    figures["tiny_records"] = {"records": count, **cost._asdict()}


def test_one_huge_note_comes_out_whole(tmp_path: Path, full: bool, figures: dict[str, Any]) -> None:
    size = 10 * MEGABYTE if full else MEGABYTE
    notes = [json.loads(line)["text"] for line in NOTES.read_text(encoding="utf-8").splitlines()]
    block = "\n\n".join(notes)
    text = (block + "\n\n") * (size // len(block) + 1)
    source = tmp_path / "huge.txt"
    source.write_text(text[:size], encoding="utf-8")
    summary, cost = deid(source, "--out", tmp_path / "out", home=tmp_path / "home")
    assert summary["released"] + summary["review"] + summary["quarantined"] == summary["records"] == 1
    assert cost.peak_mb < 2_500
    figures["huge_note"] = {"characters": size, **cost._asdict()}
