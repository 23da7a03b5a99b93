"""The command line of the measurement."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console

from incognote.errors import IncognoteError, MissingExtra
from incognote_benchmarks.reading import NOTES, measure
from incognote_benchmarks.reading.plot import plot
from incognote_benchmarks.reading.sheets import printed, written


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write. Returns 0, or 2 if the call fails."""
    parser = argparse.ArgumentParser(
        prog="python -m incognote_benchmarks.reading", description="Measure the cost of reading with a language model."
    )
    parser.add_argument("--notes", type=Path, default=NOTES, help="annotated texts; default: the development notes")
    parser.add_argument("--out", type=Path, help="write the figures here as JSON, plus a page and passes.png")
    parser.add_argument("--small", action="store_true", help="a sixth of the notes and short waits, as a check")
    given = parser.parse_args(arguments)
    errors = Console(stderr=True)
    try:
        measured = measure(given.notes, synthetic=True if given.notes == NOTES else None, small=given.small)
    except IncognoteError as error:
        errors.print(str(error), markup=False)
        return 2
    Console().print(printed(measured))
    if given.out is not None:
        picture: str | None = "passes.png"
        try:
            plot(measured, given.out.with_name("passes.png"))
        except MissingExtra as error:
            errors.print(str(error), markup=False)
            picture = None
        given.out.write_text(json.dumps(measured, indent=2) + "\n", encoding="utf-8")
        given.out.with_suffix(".md").write_text(written(measured, picture), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
