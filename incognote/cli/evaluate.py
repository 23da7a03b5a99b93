"""`incognote evaluate`: scores against gold spans, with intervals, and the notes where they fail."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from incognote.cli import options
from incognote.cli.shell import FAILURE, say, warn
from incognote.errors import UsageError


def evaluate(
    gold: Annotated[
        str,
        typer.Argument(
            metavar="GOLD.jsonl",
            help='Lines of {"id", "text", "spans": [{"start", "end", "type"}]}, also .gz.',
            show_default=False,
        ),
    ],
    pred: Annotated[
        str | None,
        typer.Option(
            help="Predictions, as `incognote detect` writes them; without them this program's own are made.",
            metavar="PRED.jsonl",
        ),
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option(help="Score only this type or group; repeatable, or with commas.", metavar="NAME"),
    ] = None,
    html: Annotated[
        str | None,
        typer.Option(help="Also write a page of misses and false alarms. It shows the notes.", metavar="PAGE.html"),
    ] = None,
    release: Annotated[
        bool,
        typer.Option("--release", help="Instead: what a release would let out, by verdict, and how much of it leaks."),
    ] = False,
    corpus: Annotated[str | None, typer.Option(help="The corpus's name in the report.", metavar="NAME")] = None,
    synthetic: Annotated[
        bool | None,
        typer.Option("--synthetic/--not-synthetic", help="Whether the texts are made up; the report says it."),
    ] = None,
    resamples: Annotated[int, typer.Option(help="Of the bootstrap.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Of the bootstrap.")] = 0,
    as_json: options.AsJson = False,
    policy: options.Policy = None,
    packs: options.Packs = None,
    detectors: options.Detectors = None,
    config: options.Config = None,
) -> None:
    """Score spans against gold: characters, spans, documents that leak, texts without PHI that are touched.

    The exit code is 1 where a document could not be scored as it is.
    """
    from incognote.cli.engine import engine
    from incognote.evaluation.scores import evaluate as score

    finder = None
    if not pred:
        asked = options.Asked(policy=policy, packs=packs, detectors=detectors, config=config)
        finder = engine(asked, hashes=False)
    if release:
        from incognote.evaluation.release import release as let_out

        if finder is None or html or types:
            raise UsageError("--release runs the whole machine: it takes no --pred, --html or --types")
        told = let_out(gold, finder)
        if as_json:
            say("evaluate", told.as_dict())
        else:
            typer.echo("\n".join(told.lines()))
        return
    report = score(
        gold,
        pred,
        finder.detect if finder else None,
        types=options.split(types),
        corpus=corpus,
        synthetic=synthetic,
        page=html,
        resamples=resamples,
        seed=seed,
    )
    if as_json:
        say("evaluate", json.loads(report.to_json()))
    else:
        from rich.console import Console

        console = Console(highlight=False)
        if not console.is_terminal:
            console.width = 200
        console.print(report.table())
    if html:
        warn(f"{html} shows the notes: it is PHI where they are")
    if report.problems:
        raise typer.Exit(FAILURE)
