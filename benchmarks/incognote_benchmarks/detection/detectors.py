"""Notes per second and core for the rules, the encoder, both, and both with its early exit.

    python -m incognote_benchmarks.detection.detectors [FILE…] [--words 500] [--notes 40] [--rounds 3] [--out FILE.json]

Each configuration runs in a process of its own on one thread. Figures are processor time without loading. This is a
benchmark, not a test: it asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from rich.console import Console
from rich.table import Table

from incognote.errors import IncognoteError, UsageError
from incognote_benchmarks.detection import NOTES, fresh, texts_of
from incognote_benchmarks.detection.memory import peak_mb

WAYS: dict[str, dict[str, Any]] = {
    "rules and encoder (the default)": {"detectors": ["rules", "encoder"]},
    "rules and encoder, `fast`": {"detectors": ["rules", "encoder"], "encoder_fast": True},
    "encoder": {"detectors": ["encoder"]},
    "rules": {"detectors": ["rules"]},
}
DOLLARS = 0.05
"""Approximate on-demand price of a core hour at the large clouds in 2026: an assumption, set by `--dollars`."""
_PROGRAM = "incognote_benchmarks.detection.detectors"


def bench(
    paths: Sequence[Path], *, words: int = 500, notes: int = 40, rounds: int = 3, dollars: float = DOLLARS
) -> dict[str, Any]:
    """Measure every configuration on the same notes.

    Args:
        paths: JSONL files (`text` or `note` of each line) or text files, joined and cut to the requested size.
        words: per note, separated by white space.
        notes: the number of notes.
        rounds: rounds over all configurations. The fastest of each is reported, because other work only adds time.
        dollars: per core and hour.

    Returns:
        The machine, the corpus, and for each configuration: notes per second and core, core hours and dollars per
        million notes, peak memory in MB (2**20 bytes), and seconds until the first note was read.

    Raises:
        UsageError: the files hold less text than requested, or a measuring process failed.
    """
    cut = _notes([text for path in paths for text in texts_of(path)], words, notes)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in WAYS}
    for _ in range(rounds):
        for name, settings in WAYS.items():
            found[name].append(fresh.measured("-m", _PROGRAM, "--read", asked={"texts": cut, "settings": settings}))
    rows = {}
    for name, runs in found.items():
        best = min(runs, key=lambda run: float(run["seconds"]))
        speed = len(cut) / best["seconds"]
        hours = 1e6 / speed / 3600
        rows[name] = {
            "notes_per_second_and_core": round(speed, 2),
            "core_hours_per_million": round(hours, 1),
            "dollars_per_million": round(hours * dollars, 2),
            "peak_mb": best["peak_mb"] and round(best["peak_mb"]),
            "ready_seconds": round(best["ready"], 2),
            "spans": best["spans"],
        }
    return {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "corpus": {"files": [path.name for path in paths], "notes": len(cut), "words": words,
                   "characters": sum(map(len, cut))},
        "dollars_per_core_hour": dollars,
        "ways": rows,
    }  # fmt: skip


def table(measured: dict[str, Any]) -> Table:
    """Return the result of `bench` as a table for `rich`."""
    corpus = measured["corpus"]
    shown = Table(
        "", "notes/s and core", "core hours per million", "dollars per million", "peak MB", "ready, s", box=None,
        caption=f"{corpus['notes']} notes of {corpus['words']} words of {', '.join(corpus['files'])}, "
        f"{corpus['characters']:,} characters; {measured['dollars_per_core_hour']} dollars a core and hour (assumed)",
    )  # fmt: skip
    for name, row in measured["ways"].items():
        shown.add_row(name, *(str(row[key]) for key in list(row)[:-1]))
    return shown


def _notes(texts: Sequence[str], words: int, notes: int) -> list[str]:
    cut: list[str] = []
    kept: list[str] = []
    count = 0
    for line in (line for text in texts for line in text.splitlines(keepends=True)):
        kept.append(line)
        count += len(line.split())
        if count >= words:
            cut.append("".join(kept))
            kept, count = [], 0
            if len(cut) == notes:
                return cut
    raise UsageError(f"the files hold {len(cut)} notes of {words} words. Name more files, or use fewer notes")


def _read(asked: dict[str, Any]) -> dict[str, Any]:
    begun = perf_counter()
    from incognote import Deidentifier

    with Deidentifier(policy="strict", **asked["settings"]) as deidentifier:
        deidentifier.detect(asked["texts"][:1])
        ready, clock = perf_counter() - begun, process_time()
        spans = sum(map(len, deidentifier.detect(asked["texts"])))
        return {"seconds": process_time() - clock, "ready": ready, "spans": spans, "peak_mb": peak_mb()}


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write. Returns 0, or 2 if the call fails."""
    parser = argparse.ArgumentParser(prog=f"python -m {_PROGRAM}", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="JSONL or text files; default: the development notes")
    parser.add_argument("--words", type=int, default=500, help="words per note")
    parser.add_argument("--notes", type=int, default=40, help="number of notes")
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds; the fastest is reported")
    parser.add_argument("--dollars", type=float, default=DOLLARS, help="price of a core hour")
    parser.add_argument("--out", type=Path, help="write the figures here, as JSON")
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.read:
        print(json.dumps(_read(json.load(sys.stdin))))  # noqa: T201 -- the parent reads it
        return 0
    if min(given.words, given.notes, given.rounds) < 1:
        parser.error("--words, --notes and --rounds must be at least 1")
    try:
        measured = bench(
            given.files or [NOTES], words=given.words, notes=given.notes, rounds=given.rounds, dollars=given.dollars
        )
    except IncognoteError as error:
        Console(stderr=True).print(str(error), markup=False)
        return 2
    Console().print(table(measured))
    if given.out is not None:
        given.out.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
