"""Time and memory of `incognote deid` by document format, beside plain text of the same words.

    python benchmarks/scripts/document_rates.py --out docs/measured/document_rates.json [--files 1000]

For each format, the synthetic files of tests/data/documents that have a `note` are copied until there are enough. So
are their notes as .txt. Both folders are processed by the same command with the rules detector, one after the other.
The encoder reads the same words in both, so with it, the ratios are smaller.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from incognote_benchmarks.documents import CORPUS, GoldFile, corpus


def timed(source: Path, out: Path) -> tuple[float, float, float]:
    """Return the seconds, the processor seconds, and the peak memory (MB) of one run."""
    began = time.monotonic()
    command = [sys.executable, "-m", "incognote", "deid", str(source), "--out", str(out), "--detectors", "rules"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 -- our own
    _, status, used = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) in (0, 3)
    return time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def compared(files: list[GoldFile], count: int) -> dict[str, Any]:
    """Return the figures of one format."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "documents").mkdir()
        (folder / "texts").mkdir()
        for i, file in enumerate(islice(cycle(files), count)):
            (folder / "documents" / f"{i}{file.path.suffix}").write_bytes(file.path.read_bytes())
            (folder / "texts" / f"{i}.txt").write_text(file.note or "", encoding="utf-8")
        texts = timed(folder / "texts", folder / "out-texts")
        documents = timed(folder / "documents", folder / "out-documents")
        released = json.loads((folder / "out-documents" / "manifest.json").read_text())["released"]
    sizes = [file.path.stat().st_size for file in files]
    return {
        "files": count, "different": len(files), "mean_bytes": round(sum(sizes) / len(sizes)),
        "mean_characters": round(sum(len(file.note or "") for file in files) / len(files)), "released": released,
        "seconds": round(documents[0], 1), "seconds_as_text": round(texts[0], 1),
        "cpu_ms_per_file": round(1000 * documents[1] / count, 1), "cpu_ms_as_text": round(1000 * texts[1] / count, 1),
        "cpu_ratio": round(documents[1] / texts[1], 2),
        "peak_mb": round(documents[2]), "peak_mb_as_text": round(texts[2]),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--formats", nargs="+", help="only these; the other figures of --out stay as they are")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    by_format: dict[str, list[GoldFile]] = {}
    for file in corpus(CORPUS):
        if file.note and not file.held:
            by_format.setdefault(file.path.parent.name, []).append(file)
    figures = {}
    if asked.formats:
        by_format = {name: by_format[name] for name in asked.formats}
        if asked.out and asked.out.exists():
            figures = json.loads(asked.out.read_text(encoding="utf-8"))["formats"]
    for name, files in by_format.items():
        figures[name] = compared(files, asked.files)
        print(name, json.dumps(figures[name]), flush=True)  # noqa: T201 -- a program that prints
    if asked.out:
        about = (
            "synthetic files, rules detector; 2 cores that other programs used too; each format beside plain text of "
            "the same words, one run after the other"
        )
        asked.out.write_text(json.dumps({"about": about, "formats": figures}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
