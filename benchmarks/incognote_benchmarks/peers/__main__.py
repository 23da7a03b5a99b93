"""The command line of the comparison."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from incognote.errors import IncognoteError
from incognote_benchmarks.peers.base import Peer
from incognote_benchmarks.peers.compare import compare
from incognote_benchmarks.peers.echo import Echo, baselines
from incognote_benchmarks.peers.page import markdown, remarks
from incognote_benchmarks.peers.process import PEERS, Process


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print, and write. Returns 0, or 2 if the call fails."""
    parser = argparse.ArgumentParser(prog="python -m incognote_benchmarks.peers", description=__doc__)
    parser.add_argument("gold", nargs="+", type=Path, help="annotated corpora, in any format that incognote reads")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME[=PYTHON]",
                        help=f"{', '.join(PEERS)}, with its interpreter; default: all, with ours")  # fmt: skip
    parser.add_argument("--spacy", metavar="MODEL", help="a spaCy model's name or folder, for peers that take one")
    parser.add_argument("--predictions", action="append", default=[], metavar="NAME=FILE",
                        help="another system's findings in the corpus; with one GOLD only")  # fmt: skip
    parser.add_argument("--model", metavar="VENDOR/NAME", help="also run the echo baselines on this language model")
    parser.add_argument("--api-base", help="the model's address")
    parser.add_argument("--note", action="append", default=[], help="a note for the page")
    parser.add_argument("--resamples", type=int, default=1000, help="of the bootstrap")
    parser.add_argument("--out", type=Path, help="write the figures here, as JSON")
    parser.add_argument("--page", type=Path, help="write the page here, as Markdown")
    given = parser.parse_args(arguments)
    if given.predictions and len(given.gold) > 1:
        parser.error("--predictions needs exactly one GOLD")
    settings = {"model": given.spacy} if given.spacy else {}
    try:
        pairs = [asked.partition("=") for asked in given.peer or PEERS]
        if "incognote" not in [name for name, _, _ in pairs]:
            pairs.insert(0, ("incognote", "", ""))
        peers: list[Peer] = [Process(name, python or None, settings) for name, _, python in pairs]
        if given.model:
            peers += _echoes(given.model, given.api_base)
        predictions = {name: Path(file) for name, _, file in (asked.partition("=") for asked in given.predictions)}
        comparisons = []
        for gold in given.gold:
            name = gold.name.removesuffix(".gz").removesuffix(".jsonl")
            synthetic = remarks().get(name, {}).get("synthetic")
            comparisons.append(
                compare(gold, peers, predictions, synthetic=synthetic, resamples=given.resamples, said=_aside)
            )
    except IncognoteError as error:
        _aside(str(error))
        return 2
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    page = markdown(comparisons, given.note, date.today(), machine)
    print(page)  # noqa: T201 -- this is a program that prints
    if given.page:
        given.page.write_text(page, encoding="utf-8")
    if given.out:
        content = {
            "measured": date.today().isoformat(),
            "machine": machine,
            "notes": given.note,
            "corpora": [one.as_dict() for one in comparisons],
        }
        given.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return 0


def _echoes(model: str, api_base: str | None) -> list[Peer]:
    from incognote.llm.opening import ModelSpec, open_model
    from incognote.settings import home

    opened = open_model(ModelSpec(model, home(), api_base=api_base))
    return [Echo(opened, name) for name in baselines()]


def _aside(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201 -- progress of a program, apart from its output


if __name__ == "__main__":
    sys.exit(main())
