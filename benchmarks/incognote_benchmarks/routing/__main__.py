"""The command line of the measurement."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from incognote.errors import IncognoteError, MissingExtra
from incognote_benchmarks.routing import DATA, measure
from incognote_benchmarks.routing.plot import curves, diagrams
from incognote_benchmarks.routing.sheets import written


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write. Returns 0, or 2 if the call fails."""
    parser = argparse.ArgumentParser(
        prog="python -m incognote_benchmarks.routing", description="Measure what routing keeps and what it saves."
    )
    parser.add_argument("--notes", type=Path, default=DATA, help="the folder of development notes and their replies")
    parser.add_argument(
        "--test", type=Path, nargs="+", help="files of texts that were not used for fitting (default: dev_i, dev_long)"
    )
    parser.add_argument(
        "--out", type=Path, help="write the figures here as JSON, plus a page, pictures, and reliability.json"
    )
    parser.add_argument("--resamples", type=int, default=1000, help="for every bootstrap")
    given = parser.parse_args(arguments)
    errors = Console(stderr=True)
    try:
        measured = measure(given.notes, given.test, resamples=given.resamples)
    except IncognoteError as error:
        errors.print(str(error), markup=False)
        return 2
    pictures: tuple[str, str] | tuple[None, None] = (None, None)
    if given.out is not None:
        drawn, reliable = given.out.with_suffix(".png"), given.out.with_name("reliability.png")
        try:
            curves(measured, drawn)
            diagrams(measured["reliability"], reliable)
            pictures = (drawn.name, reliable.name)
        except MissingExtra as error:
            errors.print(str(error), markup=False)
    page = written(measured, *pictures)
    Console().print(page, markup=False, highlight=False, soft_wrap=True)
    if given.out is not None:
        reliability = measured.pop("reliability")
        given.out.write_text(_lines(measured), encoding="utf-8")
        given.out.with_name("reliability.json").write_text(json.dumps(reliability, indent=1) + "\n", encoding="utf-8")
        given.out.with_suffix(".md").write_text(page, encoding="utf-8")
    return 0


def _lines(measured: dict[str, Any]) -> str:
    """Format as JSON with one line for each curve and each figure."""
    written = json.dumps(measured, indent=1)
    return re.sub(r"[\[{]\s+[^\[\]{}]+?[\]}]", lambda match: " ".join(match[0].split()), written) + "\n"


if __name__ == "__main__":
    sys.exit(main())
