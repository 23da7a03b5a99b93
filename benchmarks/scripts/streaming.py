"""Memory and time of reading a large file of records and writing it back, for one format after the other.

    python benchmarks/scripts/streaming.py --out docs/measured/streaming.json

Each measurement runs in a process of its own. The file is opened by its format, and every record is rebuilt with one
edit of its text and written to another file. Nothing is detected. This is a benchmark, not a test.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

SIZE = 200 * 2**20
NOTE = "Seen by Dr. Emily Carter on 03/16/2025 for follow-up of type 2 diabetes; no new complaints. " * 12


def records(kind: str) -> Iterator[bytes]:
    """Lines of an endless source."""
    if kind == "csv":
        yield b"id,text\n"
    number = 0
    while True:
        number += 1
        text = f"{NOTE}{number}"
        record = {"dataType": "note", "id": str(number), "text": text}
        yield f'{number},"{text}"\n'.encode() if kind == "csv" else json.dumps(record).encode() + b"\n"


def make(path: Path, kind: str, size: int) -> int:
    """Write a source of at least `size` bytes. Returns the number of its records."""
    written = lines = 0
    with path.open("wb") as out:
        for line in records(kind):
            out.write(line)
            written, lines = written + len(line), lines + 1
            if written >= size:
                return lines - (kind == "csv")
    raise AssertionError("records never end")


def copy(source: Path, target: Path) -> dict[str, Any]:
    """Read a source by its format and write its records, each with one edit."""
    from incognote.files.inputs import read
    from incognote.files.sources import find
    from incognote.formats.base import FieldEdit, TextEdit
    from incognote.formats.tables import Columns, Layout
    from incognote.schemas.registry import Registry

    registry, count = Registry(), 0
    layout = Layout(Columns(("text",), passed=("id",)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = perf_counter()
    with target.open("wb") as out:
        for one in read(find([str(source)]).files[0], layout):
            assert one.document is not None, one.error
            document = one.document.under(registry, "note")
            if not count:
                out.write(document.head)
            edits = [FieldEdit(action, "x") for action in document.actions]
            document.rebuild([*edits, TextEdit(document.texts[0].field, 12, 24, "[PERSON]")], out)
            out.write(document.after)
            count += 1
    seconds = perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "records": count, "seconds": round(seconds, 1), "mib_at_start": before // 1024, "mib_at_peak": peak // 1024,
        "mib_per_second": round(source.stat().st_size / 2**20 / seconds, 1),
    }  # fmt: skip


def main() -> None:
    """Measure and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--copy", nargs=2, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--mib", type=int, default=SIZE // 2**20, help="size of each source")
    asked = parser.parse_args()
    if asked.copy:
        print(json.dumps(copy(*asked.copy)))  # noqa: T201 -- the parent reads it
        return
    figures: dict[str, Any] = {"python": platform.python_version(), "mib": asked.mib}
    for kind in ("jsonl", "csv"):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, f"records.{kind}")
            made = make(source, kind, asked.mib * 2**20)
            command = [sys.executable, __file__, "--copy", str(source), str(Path(folder, "out"))]
            done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 -- this file
            figures[kind] = {**json.loads(done.stdout), "records_made": made}
    written = json.dumps(figures, indent=1) + "\n"
    if asked.out:
        asked.out.write_text(written, encoding="utf-8")
    print(written, end="")  # noqa: T201 -- a script's output


if __name__ == "__main__":
    main()
