"""`incognote evaluate-relex`: score relexicalized notes with the metrics of RedactOR §A.7."""

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
            help="Lines of id, patient, text, and spans with gold identities. Groups and label are optional.",
            show_default=False,
        ),
    ],
    out: Annotated[
        str,
        typer.Argument(metavar="OUT", help="The output of `incognote relex` for the same notes.", show_default=False),
    ],
    planted: Annotated[
        float,
        typer.Option(help="Share of mentions restored to their originals, as targets for the attack.", metavar="SHARE"),
    ] = 0.05,
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples over patients.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Random seed of the bootstrap and of the restored mentions.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Score surrogates: entities preserved, coherence, consistency, effect on a downstream model, and hiding.

    Each figure has a 95% interval over patients. docs/relex-metrics.md explains the metrics.

    Example:
        incognote evaluate-relex gold.jsonl relexicalized.jsonl
    """
    from incognote.cli.tables import print_table
    from incognote.evaluation.relex.scoring import evaluate_relex as score

    report = score(gold, out, planted=planted, resamples=resamples, seed=seed)
    if as_json:
        say("evaluate-relex", report.as_dict())
        return
    print_table(("", "figure [95% interval]", "of"), list(report.rows()))
    size = f"{report.notes} notes of {report.patients} patients, {report.mentions} mentions"
    warn(f"{size}, {report.extra} replacements that the gold does not mark")
