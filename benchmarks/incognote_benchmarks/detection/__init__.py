"""Speed, memory, and start time of the rules path, compared with yardsticks from the same run.

    python -m incognote_benchmarks.detection [FILE…] [--characters N] [--rounds N] [--out BENCH.json]

Absolute speeds depend as much on the machine as on the program. So each figure comes with a ratio: to counting the
words of the same text, or to starting a bare interpreter. This is a benchmark, not a test: it asserts nothing.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.resources import as_file, files
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from incognote.errors import UsageError
from incognote.jsonlines import read_rows
from incognote_benchmarks.detection import fresh

if TYPE_CHECKING:
    from rich.console import RenderableType

NOTES = Path("tests/data/notes.jsonl")
PHILTER = {
    "characters_per_second_and_core": 36_000,
    "source": "Philter's speed as this project's requirements state it; other texts and hardware, not measured here",
}
_STARTS = {
    "bare interpreter": ("-c", "pass"),
    "import incognote": ("-c", "import incognote"),
    "incognote --help": ("-m", "incognote", "--help"),
}


def bench(paths: Sequence[Path] = (), characters: int = 1_000_000, rounds: int = 3) -> dict[str, Any]:
    """Measure everything.

    Args:
        paths: JSONL files (`text` or `note` of each line) and plain text files; the development notes if empty.
        characters: how much text each round processes. The texts are repeated or cut to this amount.
        rounds: the number of rounds; medians are reported.

    Returns:
        The environment (python, machine, cores, corpus), `rules`, `philter` and `start`. Speeds are in characters per
        second of processor time on one core, memory in MB (2**20 bytes), times in seconds.

    Raises:
        UsageError: there is no text, or the measuring process failed.
    """
    paths = paths or ([NOTES] if NOTES.exists() else [])
    texts = [text for path in paths for text in texts_of(path)]
    if not texts:
        raise UsageError(f"no text to measure on. Name files, or run it in the folder that has {NOTES}")
    worked = _filled(texts, characters)
    rules = _fresh(worked, rounds)
    return {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "corpus": {
            "files": [path.name for path in paths],
            "texts": len(texts),
            "texts_worked": len(worked),
            "characters_worked": sum(map(len, worked)),
        },
        "rules": rules,
        "philter": {
            **PHILTER,
            "ratio": rules["path"]["characters_per_second"] / PHILTER["characters_per_second_and_core"],
        },
        "start": _starts(rounds),
    }


def table(measured: dict[str, Any]) -> RenderableType:
    """Return the result of `bench` as a table for `rich`."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    corpus, rules, philter = measured["corpus"], measured["rules"], measured["philter"]
    speeds = Table("", "characters/s and core", "of the yardstick", box=None)
    for name in ("yardstick", "detect", "settle", "path"):
        row = rules[name]
        speeds.add_row(row["what"], f"{row['characters_per_second']:,.0f}", f"{row['of_yardstick']:.3f}")
    speeds.add_row("Philter", f"{philter['characters_per_second_and_core']:,}", "")
    starts = Table("", "seconds", "of a bare interpreter", box=None)
    for name, row in measured["start"].items():
        starts.add_row(name, f"{row['seconds']:.3f}", f"{row['of_bare']:.1f}")
    memory = "This system does not report peak memory"
    if rules["peak_mb"] is not None:
        memory = f"Peak memory {rules['peak_mb']:,.0f} MB ({rules['before_mb']:,.0f} MB before the first import)"
    return Group(
        Text(
            f"{', '.join(corpus['files'])}: {corpus['texts']:,} texts, worked as {corpus['texts_worked']:,} with "
            f"{corpus['characters_worked']:,} characters · Python {measured['python']}, {measured['machine']}, "
            f"{measured['cores']} cores, one used"
        ),
        speeds,
        Text(f"The rules path runs at {philter['ratio']:.1f} times Philter's figure ({philter['source']})."),
        Text(f"{memory}; ready in {rules['ready_seconds']:.2f} s."),
        Text(),
        starts,
    )


def texts_of(path: Path) -> Iterator[str]:
    """The texts of a JSONL file, or the single text of a text file.

    Raises:
        UsageError: it cannot be read, or a line has no text.
    """
    if path.suffix != ".jsonl":
        try:
            yield path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read {path.name}: {type(error).__name__}") from None
        return
    for number, row in read_rows(path):
        try:
            text = row["text"] if "text" in row else row["note"]
        except (KeyError, TypeError):
            text = None
        if not isinstance(text, str):
            raise UsageError(f"{path.name}, line {number}: expected a JSON object with a text or a note")
        yield text


def _filled(texts: Sequence[str], characters: int) -> list[str]:
    """Repeat the texts until they have this many characters. The last text is complete."""
    worked: list[str] = []
    for text in cycle(texts):
        worked.append(text)
        characters -= max(1, len(text))
        if characters <= 0:
            return worked
    return worked


def _fresh(texts: Sequence[str], rounds: int) -> dict[str, Any]:
    """The figures of `rules.py`, run in a separate process that imports nothing of the evaluation."""
    home = files("incognote_benchmarks.detection")
    with as_file(home.joinpath("rules.py")) as script, as_file(home.joinpath("memory.py")) as memory:
        return fresh.measured("-P", str(script), str(memory), asked={"texts": texts, "rounds": rounds})


def _starts(rounds: int) -> dict[str, dict[str, float]]:
    """Wall time of fresh processes, alternating so that a busy moment affects all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in _STARTS}
    for _ in range(rounds):
        for name, arguments in _STARTS.items():
            begun = perf_counter()
            subprocess.run([sys.executable, *arguments], capture_output=True, check=True)  # noqa: S603 -- this interpreter
            seconds[name].append(perf_counter() - begun)
    bare = median(seconds["bare interpreter"])
    return {name: {"seconds": median(taken), "of_bare": median(taken) / bare} for name, taken in seconds.items()}
