"""`incognote evaluate`: score spans against gold spans, with intervals and a page of errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from incognote.cli import options
from incognote.cli.evaluateboxes import BoxOptions, evaluate_pages
from incognote.cli.evaluaterecordings import evaluate_muted
from incognote.cli.help import MORE
from incognote.cli.shell import FAILURE, say, warn
from incognote.cli.tables import print_whole
from incognote.errors import UsageError

if TYPE_CHECKING:
    from incognote.embedding import Embedder
    from incognote.sdk import Deidentifier

PAGES = f"{MORE}boxes on pages"


@options.takes_all
def evaluate(
    ctx: typer.Context,
    gold: Annotated[
        str,
        typer.Argument(
            metavar="GOLD",
            help="Annotated texts: a file or folder in any format of `incognote convert`. Or boxes on pages: lines or "
            "a COCO file. Or lines of actions on DICOM elements, or of intervals of recordings.",
            show_default=False,
        ),
    ],
    found: Annotated[
        str | None, typer.Argument(metavar="FOUND", help="The same as --pred FOUND.", show_default=False)
    ] = None,
    pred: Annotated[
        list[str] | None,
        typer.Option(
            help="Predictions to score, from `incognote detect` or in any format of `incognote convert`. Repeat to "
            "compare systems. Default: run this program.",
            metavar="[NAME=]FILE",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--from",
            rich_help_panel=options.DETAILS,
            help="The format of the gold. Detected from the content by default.",
            metavar="FORMAT",
        ),
    ] = None,
    metrics: Annotated[
        Literal["main", "all"],
        typer.Option(help="What to show. The JSON always has all metrics.", metavar="main|all"),
    ] = "main",
    embedder: options.Embedder = None,
    types: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel=options.DETAILS,
            help="Score only this type or group. Repeatable, or separated by commas.",
            metavar="NAME",
        ),
    ] = None,
    html: Annotated[
        str | None,
        typer.Option(
            help="Also write a page of missed and false identifiers, which quotes the notes, or of the timelines of "
            "recordings.",
            metavar="PAGE.html",
        ),
    ] = None,
    overwrite: options.Overwrite = False,
    release: Annotated[
        bool,
        typer.Option("--release", help="Show what a release would contain, by verdict, and how much of it would leak."),
    ] = False,
    corpus: Annotated[
        str | None,
        typer.Option(rich_help_panel=options.DETAILS, help="The name of the corpus in the report.", metavar="NAME"),
    ] = None,
    synthetic: Annotated[
        bool | None,
        typer.Option(
            "--synthetic/--not-synthetic",
            rich_help_panel=options.DETAILS,
            help="State in the report whether the texts are synthetic.",
        ),
    ] = None,
    resamples: Annotated[
        int | None, typer.Option(rich_help_panel=options.DETAILS, help="Bootstrap resamples. Default: 1000.", min=1)
    ] = None,
    seed: Annotated[
        int | None, typer.Option(rich_help_panel=options.DETAILS, help="Random seed of the bootstrap. Default: 0.")
    ] = None,
    images: Annotated[
        str | None,
        typer.Option(rich_help_panel=PAGES, help="The files of the pages, to count ink.", metavar="FOLDER"),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=PAGES, help="Write report.html and report.json for boxes or actions.", metavar="FOLDER"
        ),
    ] = None,
    pictures: Annotated[
        bool,
        typer.Option(
            "--pictures/--no-pictures",
            rich_help_panel=PAGES,
            help="Show the worst pages in the report. It then holds PHI.",
        ),
    ] = True,
    iou: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=PAGES, help="The least intersection over union of boxes that match. Default: 0.5.",
            min=0.01, max=1,
        ),
    ] = None,
    actions: Annotated[
        str | None,
        typer.Option(rich_help_panel=PAGES, help="Also a table of actions on DICOM elements.", metavar="FILE"),
    ] = None,
    as_json: options.AsJson = False,
    policy: options.Policy = None,
    packs: options.Packs = None,
    detectors: options.Detectors = None,
    encoder_point: options.EncoderPoint = None,
    encoder_fast: options.EncoderFast = False,
    config: options.Config = None,
    key_file: options.KeyFile = None,
    *,
    models: options.ModelOptions,
) -> None:
    """Score detected spans against annotated texts.

    The scores are by character, span, and token, and by documents that leak. Types that the gold never uses are not
    scored. If a gold span does not fit its text, the document is reported and the exit code is 1.

    For boxes on pages, the scores are identifiers whose ink is gone, other words kept, clean pages, and classes. For
    intervals of recordings, they are seconds of identifiers muted, other speech kept, and clean recordings.

    Example:
        incognote evaluate tests/data/notes.jsonl
    """
    from incognote.cli.engine import engine
    from incognote.evaluation.boxes.reading import content_of
    from incognote.evaluation.lab.growing import grown
    from incognote.evaluation.recordings.reading import holds_intervals
    from incognote.files.atomic import require_writable

    pred = [*([found] if found else []), *(pred or [])]
    boxes = BoxOptions(images, actions, iou, out, pictures)
    drawn = {"corpus": corpus, "synthetic": synthetic, "resamples": resamples or 1000, "seed": seed or 0}
    if holds_intervals(gold):
        _refuse({**boxes.named(), "--types": types, "--from": form, "--embedder": embedder,
                 "--release": release or None}, "GOLD holds intervals of recordings, not texts or pages.")  # fmt: skip
        if html:
            require_writable(Path(html), overwrite=overwrite, option="--html")
        evaluate_muted(gold, _named(pred).values(), drawn, html=html, as_json=as_json)
        return
    if content_of(gold) is not None:
        _refuse({"--html": html, "--types": types, "--from": form, "--embedder": embedder,
                 "--release": release or None}, "GOLD holds boxes or actions, not texts.")  # fmt: skip
        evaluate_pages(gold, _named(pred).values(), boxes, drawn, as_json=as_json, overwrite=overwrite,
                       everything=metrics == "all")  # fmt: skip
        return
    _refuse(boxes.named(), "GOLD holds no boxes on pages.")
    if release:
        _refuse({"--pred": pred, "--html": html, "--types": types, "--corpus": corpus,
                 "--synthetic": synthetic, "--resamples": resamples, "--seed": seed, "--from": form,
                 "--embedder": embedder}, "--release processes the notes and does not score them.")  # fmt: skip
    if html:
        require_writable(Path(html), overwrite=overwrite, option="--html")
    finder = None
    if not pred:
        asked = options.EngineOptions(
            policy=policy, packs=packs, detectors=detectors, encoder_point=encoder_point, encoder_fast=encoder_fast,
            config=config, key_file=key_file,
        )  # fmt: skip
        finder = engine(asked, models, hashes=False)
        ctx.with_resource(finder)
    elif models != options.ModelOptions():
        raise UsageError(
            "--pred already holds the predictions. Remove --pred, or remove the options for a language model."
        )
    if release and finder is not None:
        _release(gold, finder, as_json)
        return
    scoring: dict[str, Any] = {
        "form": form,
        "types": options.split(types),
        "embedder": _embedder(embedder),
        **drawn,
    }
    files = _named(pred)
    if grown(Path(gold)):
        warn(
            "This gold was collected from reviews of spans and is not complete. Recall counts only what a variant "
            "marked."
        )
    if len(files) > 1:
        _several(gold, files, html, scoring, as_json, metrics == "all")
    else:
        _one(gold, next(iter(files.values()), None), finder, html, scoring, as_json, metrics == "all")


def _refuse(options_: Mapping[str, object], reason: str) -> None:
    given = [option for option, value in options_.items() if value not in (None, [])]
    if given:
        raise UsageError(f"{reason} Remove {', '.join(given)}.")


def _release(gold: str, finder: Deidentifier, as_json: bool) -> None:
    """Print how much of a release would leak."""
    from incognote.evaluation.release import release

    scores = release(gold, finder)
    if as_json:
        say("evaluate", scores.as_dict())
    else:
        typer.echo("\n".join(scores.lines()))
    _report(finder, scores.released.of)


def _one(
    gold: str,
    predictions: str | None,
    finder: Deidentifier | None,
    html: str | None,
    scoring: Mapping[str, Any],
    as_json: bool,
    everything: bool,
) -> None:
    """Score one file of predictions, or the spans that incognote finds."""
    from incognote.evaluation.scores import evaluate as score

    report = score(gold, predictions, finder.detect if finder else None, page=html, **scoring)
    if as_json:
        say("evaluate", json.loads(report.to_json()))
    else:
        print_whole(report.table(everything))
    if finder is not None:
        _report(finder, report.documents)
    if html:
        warn(f"{html} quotes the notes. Treat it as PHI.")
    if report.problems:
        raise typer.Exit(FAILURE)


def _several(
    gold: str, files: Mapping[str, str], html: str | None, scoring: Mapping[str, Any], as_json: bool, everything: bool
) -> None:
    """Score and compare several files of predictions."""
    from incognote.evaluation.report.several import evaluate_several

    if html:
        raise UsageError("--html shows the notes of one system. Give a single --pred.")
    made = evaluate_several(gold, files, **scoring)
    if as_json:
        say("evaluate", made.as_dict())
    else:
        print_whole(made.table(everything))
    if any(report.problems for report in made.reports.values()):
        raise typer.Exit(FAILURE)


def _named(given: list[str]) -> dict[str, str]:
    """Return the prediction files by name. The default name is the file name without its suffix."""
    files: dict[str, str] = {}
    for one in given:
        name, equals, path = one.partition("=")
        if not equals or not name or Path(one).exists():
            name, path = Path(one).name.removesuffix(".gz").removesuffix(".jsonl"), one
        if name in files:
            raise UsageError(f"--pred: two files are named {name}. Give each a name: --pred NAME=FILE.")
        files[name] = path
    return files


def _embedder(name: str | None) -> tuple[str, Embedder] | None:
    if name is None:
        return None
    from incognote.embedding import open_embedder

    return name, open_embedder(name)


def _report(finder: Deidentifier, notes: int) -> None:
    """Print the usage of language models, if one was used."""
    from incognote.cli import reading

    taken = reading.spent(finder)
    if taken is not None:
        warn(reading.line(taken, notes))
