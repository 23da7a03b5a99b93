"""`incognote evaluate`: scores against gold spans, with intervals, and the notes where they fail."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.shell import FAILURE, say, warn
from incognote.errors import UsageError

if TYPE_CHECKING:
    from incognote.sdk import Deidentifier


@options.takes_all
def evaluate(
    ctx: typer.Context,
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
    resamples: Annotated[int | None, typer.Option(help="Of the bootstrap; default: 1000.", min=1)] = None,
    seed: Annotated[int | None, typer.Option(help="Of the bootstrap; default: 0.")] = None,
    as_json: options.AsJson = False,
    policy: options.Policy = None,
    packs: options.Packs = None,
    detectors: options.Detectors = None,
    config: options.Config = None,
    key_file: options.KeyFile = None,
    *,
    models: options.AskedModels,
) -> None:
    """Score spans against gold: characters, spans, documents that leak, texts without PHI that are touched.

    The exit code is 1 where a document could not be scored as it is.
    """
    from incognote.cli.engine import engine
    from incognote.evaluation.scores import evaluate as score

    if release:
        scoring = {"--pred": pred, "--html": html, "--types": types, "--corpus": corpus, "--synthetic": synthetic,
                   "--resamples": resamples, "--seed": seed}  # fmt: skip
        given = [option for option, value in scoring.items() if value not in (None, [])]
        if given:
            raise UsageError(f"--release runs the whole machine and scores nothing: leave out {', '.join(given)}")
    finder = None
    if not pred:
        asked = options.Asked(policy=policy, packs=packs, detectors=detectors, config=config, key_file=key_file)
        finder = engine(asked, models, hashes=False)
        ctx.with_resource(finder)
    elif models != options.AskedModels():
        raise UsageError("--pred holds the predictions: no language model is asked")
    if release and finder is not None:
        from incognote.evaluation.release import release as let_out

        told = let_out(gold, finder)
        if as_json:
            say("evaluate", told.as_dict())
        else:
            typer.echo("\n".join(told.lines()))
        _report(finder, told.released.of)
        return
    report = score(
        gold,
        pred,
        finder.detect if finder else None,
        types=options.split(types),
        corpus=corpus,
        synthetic=synthetic,
        page=html,
        resamples=1000 if resamples is None else resamples,
        seed=seed or 0,
    )
    if as_json:
        say("evaluate", json.loads(report.to_json()))
    else:
        from rich.console import Console

        console = Console(highlight=False)
        if not console.is_terminal:
            console.width = 200
        console.print(report.table())
    if finder is not None:
        _report(finder, report.documents)
    if html:
        warn(f"{html} shows the notes: it is PHI where they are")
    if report.problems:
        raise typer.Exit(FAILURE)


def _report(finder: Deidentifier, notes: int) -> None:
    """What language models took, where one was asked."""
    from incognote.cli import reading

    taken = reading.spent(finder)
    if taken is not None:
        warn(reading.line(taken, notes))
