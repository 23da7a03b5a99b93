"""Measure incognote beside Presidio's image redactor, each on one core, on the same pages in turn.

    python -m incognote_benchmarks.pages.peers PAGES --presidio PYTHON --model FOLDER --rows r.jsonl --out peers.json

PAGES is a folder of drawn pages (`render`), PYTHON an interpreter with `presidio-image-redactor`, FOLDER a spaCy model.
Besides what `run` counts: seconds and processor seconds of a page, and the most memory that a redactor and the programs
that it starts had together. The order of the pages has no system. A second run with the same rows continues the first.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import cv2

from incognote_benchmarks.pages.run import Row, pages_of, summary
from incognote_benchmarks.pages.score import covered_by, scored

_WORKER = Path(__file__).with_name("redactor.py")
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_PASSED_ON = ("PATH", "HOME", "LANG", "TESSDATA_PREFIX")
_EVERY = 0.1  # seconds between two samples of the memory


class Redactor:
    """A redactor in a process of its own.

    Args:
        name: one of those of `redactor.py`. python: its interpreter. settings: as `redactor.py` takes them.

    Attributes:
        said: its version, its configuration in words, and the seconds until it was ready.
        peak_mb: the most resident memory of the process and its programs together so far, in MB (2**20 bytes).
    """

    def __init__(self, name: str, python: str, settings: Mapping[str, str]) -> None:
        self.name, self.peak_mb = name, 0.0
        environment = {key: os.environ[key] for key in _PASSED_ON if key in os.environ} | _ONE_THREAD
        self._process = subprocess.Popen(  # noqa: S603 -- the caller chose the interpreter
            [python, "-IB", str(_WORKER), name, json.dumps(dict(settings))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, text=True,
        )  # fmt: skip
        self._over = threading.Event()
        self._sampler = threading.Thread(target=self._sample, daemon=True)
        self._sampler.start()
        self.said = self._answer()

    def redact(self, path: Path, language: str) -> dict[str, Any]:
        """Return what `redactor.py` says of a page."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"path": str(path), "language": language}) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name}: its process ended with {self._process.wait()}. Is all that it needs there?")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _sample(self) -> None:
        while not self._over.wait(_EVERY):
            self.peak_mb = max(self.peak_mb, resident_mb(self._process.pid))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._sampler.join()
        self._process.kill()
        self._process.communicate()


def resident_mb(process: int) -> float:
    """Return the resident memory of a process and of all that it started, in MB (2**20 bytes); 0 if it has ended."""
    total, left = 0.0, [process]
    while left:
        each = left.pop()
        try:
            status = Path(f"/proc/{each}/status").read_text(encoding="ascii", errors="replace")
            tasks = list(Path(f"/proc/{each}/task").iterdir())
            left += [int(child) for task in tasks for child in (task / "children").read_text().split()]
        except OSError:  # it has ended since
            continue
        total += sum(int(line.split()[1]) / 2**10 for line in status.splitlines() if line.startswith("VmRSS:"))
    return total


def measured(name: str, folder: Path, levels: Sequence[str], redactors: Sequence[Redactor]) -> Iterator[Any]:
    """Yield a row for each page, level, and redactor: as in `run`, with the redactor, the language, and the costs."""
    with tempfile.TemporaryDirectory() as made:
        for _, level, gold, page in pages_of(folder, list(levels), name):
            path = Path(made, "page.png")
            cv2.imwrite(str(path), page.image)
            for redactor in redactors:
                said = redactor.redact(path, gold["language"][:2])
                row: Row = {
                    "name": name, "level": level, "kind": gold["kind"], "outcome": said["outcome"],
                    "seconds": said["seconds"], "quality": None, **scored(gold, page, covered_by(said["boxes"], page)),
                }  # fmt: skip
                high, wide = page.image.shape[:2]
                yield {
                    **row, "cpu_seconds": said["cpu_seconds"], "megapixels": high * wide / 1e6,
                    "peak_mb": redactor.peak_mb, "redactor": redactor.name, "language": gold["language"][:2],
                    **{key: redactor.said[key] for key in ("version", "about", "ready_seconds")},
                }  # fmt: skip


def report(rows: Sequence[Any]) -> dict[str, Any]:
    """Return what `run.summary` says of some rows, and the processor seconds of a page and of a million pixels."""
    seconds = sum(row["cpu_seconds"] for row in rows)
    return {
        **summary(rows),
        "processor seconds a page": round(seconds / len(rows), 2),
        "processor seconds per million pixels": round(seconds / sum(row["megapixels"] for row in rows), 2),
    }


def reports(rows: Sequence[Any]) -> dict[str, Any]:
    """Return what the rows say of each redactor: its version, configuration, and costs, and its results by level."""
    made: dict[str, Any] = {}
    for name in dict.fromkeys(row["redactor"] for row in rows):
        own = [row for row in rows if row["redactor"] == name]
        made[name] = {
            "version": own[0]["version"], "configuration": own[0]["about"],
            "seconds until ready": round(own[0]["ready_seconds"], 1),
            "peak MB": round(max(row["peak_mb"] for row in own)),
        }  # fmt: skip
        for level in dict.fromkeys(row["level"] for row in own):
            at = [row for row in own if row["level"] == level]
            english = [row for row in at if row["language"] == "en"]
            made[name][level] = {"all pages": report(at), "pages in English": report(english) if english else None}
    return made


def _measure(names: Sequence[str], said: argparse.Namespace, rows: list[Any]) -> None:
    """Add the rows of pages, and write those of a page once both redactors have read it."""
    ours = Redactor("incognote", sys.executable, {})
    with ours, Redactor("presidio", said.presidio, {"model": said.model}) as theirs:
        for name in names:
            made = list(measured(name, said.folder, said.levels, (ours, theirs)))
            rows += made
            with said.rows.open("a", encoding="utf-8") as out:
                out.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in made))
            sys.stderr.write(f"{name}\n")


def main() -> None:
    """Run the measurement."""
    ask = argparse.ArgumentParser()
    ask.add_argument("folder", type=Path)
    ask.add_argument("--presidio", required=True, help="the interpreter that has presidio-image-redactor")
    ask.add_argument("--model", required=True, help="the folder of a spaCy model")
    ask.add_argument("--levels", nargs="*", default=["clean", "scan"])
    ask.add_argument("--most", type=int, default=10**6, help="pages in this run")
    ask.add_argument("--rows", type=Path, required=True, help="what became of each page, as lines")
    ask.add_argument("--out", type=Path, required=True)
    said = ask.parse_args()
    text = said.rows.read_text(encoding="utf-8") if said.rows.exists() else ""
    rows = [json.loads(line) for line in text.splitlines()]
    names = sorted((path.stem for path in said.folder.glob("*.json")), key=lambda name: zlib.crc32(name.encode()))
    left = [name for name in names if name not in {row["name"] for row in rows}][: said.most]
    if left:
        _measure(left, said, rows)
    about = {
        "pages": "drawn pages of tests/data/pages/dev, on which incognote was developed and Presidio was not",
        "names": sorted({row["name"] for row in rows}),
        "seconds": "on one core, in turns, while other programs ran on the machine: compare processor seconds",
        "memory": f"resident, of the process and the programs that it starts together, every {_EVERY} s",
        "python": platform.python_version(), "cores": os.cpu_count(),
    }  # fmt: skip
    said.out.write_text(json.dumps({"about": about, **reports(rows)}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
