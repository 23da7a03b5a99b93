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
    gold_out: Annotated[
        str | None,
        typer.Option(
            help="The output for the gold spans, to compare with OUT in the same table.", metavar="OUT2",
            show_default=False,
        ),
    ] = None,
    requests: Annotated[
        str | None,
        typer.Option(
            help="Write requests for language models that read OUT as an attacker and as a clinician, and stop.",
            metavar="FOLDER", show_default=False,
        ),
    ] = None,
    replies: Annotated[
        str | None,
        typer.Option(
            help="Score the replies in the folder of --requests: NAME.reply.txt beside NAME.txt.", metavar="FOLDER",
            show_default=False,
        ),
    ] = None,
    planted: Annotated[
        float,
        typer.Option(help="Share of mentions restored to their originals, as targets for the attack.", metavar="SHARE"),
    ] = 0.05,
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples over patients.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Random seed of the bootstrap and of the restored mentions.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Score surrogates: entities preserved, coherence, consistency, effect on a downstream model, and hiding.

    OUT can come from the gold spans or from detection. A gold mention is matched with the replaced span that overlaps
    it most. Each figure has a 95% interval over patients. docs/relex-metrics.md explains the metrics.

    Example:
        incognote evaluate-relex gold.jsonl detected.jsonl --gold-out from-gold.jsonl
    """
    from pathlib import Path

    from incognote.cli.tables import print_table
    from incognote.evaluation.relex.pairs import read_pairs
    from incognote.evaluation.relex.reading import read_replies, write_complaints, write_requests
    from incognote.evaluation.relex.scoring import evaluate_relex as score
    from incognote.evaluation.relex.scoring import side_by_side

    if requests is not None:
        number = write_requests(read_pairs(gold, out)[0], Path(requests), seed=seed)
        warn(
            f"{number} requests written to {requests}. They contain originals, so protect them like the notes. Save "
            "each reply as NAME.reply.txt, then use --replies."
        )
        return
    outputs = {"OUT": out} | ({"gold spans": gold_out} if gold_out is not None else {})
    reports = {
        name: score(
            gold, path, planted=planted, replies=replies if path == out else None, resamples=resamples, seed=seed
        )
        for name, path in outputs.items()
    }
    if replies is not None:
        answered = read_replies(read_pairs(gold, out)[0], Path(replies), seed=seed)
        warn(f"What the language models complained about is in {write_complaints(answered, Path(replies))}.")
    if as_json:
        second = {"gold_spans": reports["gold spans"].as_dict()} if gold_out is not None else {}
        say("evaluate-relex", reports["OUT"].as_dict() | second)
        return
    heads = [head for name in reports for head in (f"{name}: figure [95% interval]", "of")]
    print_table(("", *heads), list(side_by_side(list(reports.values()))))
    for name, report in reports.items():
        size = f"{report.notes} notes of {report.patients} patients, {report.mentions} mentions"
        held = f", {report.held} notes held" if report.held else ""
        warn(f"{name}: {size}{held}, {report.extra} replacements that the gold does not mark")
