"""`incognote evaluate` for intervals of recordings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import typer

from incognote.cli.shell import FAILURE, say
from incognote.cli.tables import print_whole
from incognote.errors import UsageError


def evaluate_muted(
    gold: str, found: Iterable[str], scoring: Mapping[str, Any], *, html: str | None, as_json: bool
) -> None:
    """Score muted intervals and print the tables.

    Args:
        gold: a file of intervals.
        found: the file of intervals that were muted.
        scoring: corpus, synthetic, resamples, and seed.
        html: where the page of timelines is written, if it is.

    Raises:
        UsageError: a file cannot be read, or there is not exactly one file to score.
    """
    from incognote.evaluation.recordings.report import evaluate_recordings

    files = list(found)
    if len(files) != 1:
        raise UsageError(
            "GOLD holds intervals of recordings. Name one file of intervals to score: incognote evaluate GOLD FOUND. "
            "To make one, run: incognote detect FOLDER --out FOUND"
        )
    report = evaluate_recordings(gold, *files, **scoring)
    if html is not None:
        from incognote.evaluation.recordings.page import write_page

        write_page(html, report, gold, *files)
    if as_json:
        say("evaluate", report.as_dict())
    else:
        print_whole(report.table())
    if report.problems:
        raise typer.Exit(FAILURE)
