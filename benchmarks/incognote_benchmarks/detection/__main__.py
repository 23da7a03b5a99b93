"""The command line of the benchmark."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console

from incognote.errors import IncognoteError
from incognote_benchmarks.detection import bench, table


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write. Returns 0, or 2 if the call fails."""
    parser = argparse.ArgumentParser(
        prog="python -m incognote_benchmarks.detection", description="Measure the rules path."
    )
    parser.add_argument("files", nargs="*", type=Path, help="JSONL or text files; default: the development notes")
    parser.add_argument("--characters", type=int, default=1_000_000, help="how much text in each round")
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds; the median is reported")
    parser.add_argument("--out", type=Path, help="write the figures here, as JSON")
    given = parser.parse_args(arguments)
    if given.characters < 1 or given.rounds < 1:
        parser.error("--characters and --rounds must be at least 1")
    try:
        measured = bench(given.files, given.characters, given.rounds)
    except IncognoteError as error:
        Console(stderr=True).print(str(error), markup=False)
        return 2
    Console().print(table(measured))
    if given.out is not None:
        given.out.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
