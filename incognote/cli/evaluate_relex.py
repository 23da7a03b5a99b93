"""`incognote evaluate-relex`: what relexicalized notes are worth, by the metrics of RedactOR §A.7."""

from __future__ import annotations

from typing import Annotated

import typer

from incognote.cli import options
from incognote.cli.shell import say, warn


def evaluate_relex(
    gold: Annotated[
        str,
        typer.Argument(
            metavar="GOLD",
            help="Lines of id, patient, text and spans with gold identities; where known also groups and label.",
            show_default=False,
        ),
    ],
    out: Annotated[
        str,
        typer.Argument(metavar="OUT", help="What `incognote relex` made of the same notes.", show_default=False),
    ],
    planted: Annotated[
        float,
        typer.Option(help="Share of mentions put back as they were, for attackers to find.", metavar="SHARE"),
    ] = 0.05,
    resamples: Annotated[int, typer.Option(help="Of the bootstrap over patients.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Of the bootstrap and of what is planted.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Score surrogates: entity preservation, contextual coherence, replacement consistency, downstream model, hiding.

    Every figure stands with its 95 % interval over patients. docs/relex-metrics.md says what each means.
    """
    from incognote.cli.tables import print_table
    from incognote.evaluation.relex.scoring import evaluate_relex as score

    report = score(gold, out, planted=planted, resamples=resamples, seed=seed)
    if as_json:
        say("evaluate-relex", report.as_dict())
        return
    print_table(("", "figure [95 % interval]", "of"), list(report.rows()))
    size = f"{report.notes} notes of {report.patients} patients, {report.mentions} mentions"
    warn(f"{size}, {report.extra} places replaced that no gold marks")
