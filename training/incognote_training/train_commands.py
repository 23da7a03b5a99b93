"""`incognote distill train | evaluate | export | ablate | sizes`: from annotated texts to the embedded encoder."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incognote.cli import options
from incognote.cli.shell import say
from incognote.cli.tables import bars
from incognote_training.commands import app

if TYPE_CHECKING:
    from incognote.evaluation import ScoreReport

File = Annotated[Path, typer.Argument(metavar="CONFIG.toml", help="How to train.", show_default=False)]
Runs = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN...", help="The folders that `train` wrote: one, or several models of words.", show_default=False
    ),
]
Folder = Annotated[Path, typer.Option("--out", "-o", help="The folder to write.", metavar="FOLDER", show_default=False)]
Minutes = Annotated[float | None, typer.Option(help="Time for each run, instead of the file's.", metavar="N", min=0.01)]
Steps = Annotated[int | None, typer.Option(help="Steps of each run, instead of the file's.", metavar="N", min=1)]
Watch = Callable[[str, float, dict[str, float]], None]


@app.command("train")
def train_(
    config: File, out: Folder, minutes: Minutes = None, steps: Steps = None, as_json: options.AsJson = False
) -> None:
    """Train the student. After a kill, the same command continues where it was."""
    from incognote_training.training import config as configuration
    from incognote_training.training import curves, state

    _torch()
    from incognote_training.training.loop import train

    settings = configuration.read(config, _budget(minutes, steps))
    with _watched() as watch:
        made = train(settings, out, watch=watch)
    rows = state.history(out)
    if rows and importlib.util.find_spec("matplotlib") is not None:
        curves.of_history(rows, out / "history.png")
    facts = {"steps": made.steps, "seconds": round(made.seconds, 1), "bf16": made.bf16, "score": made.score}
    if as_json:
        say("distill", facts)
        return
    typer.echo(f"{made.steps:,} steps in {made.seconds / 60:.1f} minutes, {'bf16' if made.bf16 else 'fp32'}")
    if made.score:
        typer.echo("  ".join(f"{name} {value:.3f}" for name, value in made.score.items()))


@app.command("evaluate")
def evaluate_(
    bundle: Annotated[
        Path | None, typer.Argument(metavar="[BUNDLE]", help="Default: the package's own weights.")
    ] = None,
    gold: Annotated[Path, typer.Option(help="Annotated texts.", metavar="FILE", show_default=False)] = Path(),
    point: Annotated[str, typer.Option(help="recall, balanced or precision.")] = "balanced",
    fast: Annotated[bool, typer.Option("--fast", help="Use the early exit.")] = False,
    synthetic: Annotated[bool | None, typer.Option(help="Whether the texts are made up.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw a reliability diagram of the scores.", metavar="FILE.png")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Score the rules, an exported encoder, and both together on annotated texts."""
    from incognote.detectors.encoder import EncoderDetector
    from incognote_training.training.judge import judged, reliability

    detector = EncoderDetector(bundle, point=point, fast=fast)  # type: ignore[arg-type] # checked inside, by name
    reports = judged(detector, gold, synthetic=synthetic)
    if plot is not None:
        from incognote_training.training.curves import of_scores

        of_scores(reliability(detector, gold), plot)
    if as_json:
        say("distill", {name: json.loads(report.to_json()) for name, report in reports.items()})
        return
    typer.echo(_about(next(iter(reports.values()))))
    for name, report in reports.items():
        typer.echo(f"{name:<8}  recall {report.figures['recall']}  precision {report.figures['precision']}")


@app.command("export")
def export_(
    run: Runs,
    out: Folder,
    gold: Annotated[
        Path | None, typer.Option(help="Texts for calibration. Default: the run's development file.", metavar="FILE")
    ] = None,
    balanced: Annotated[
        float, typer.Option(help="Added to the logit of no identifier at the point `balanced`.", metavar="X")
    ] = 0.0,
    as_json: options.AsJson = False,
) -> None:
    """Write the trained student as a bundle: int8 graphs, tokenizer, operating points, and a model card."""
    from incognote.errors import UsageError
    from incognote_training.training import state

    _torch()
    from incognote_training.training.export import export
    from incognote_training.training.loop import together

    config, student = together(run)
    gold = gold or config.data.development
    if gold is None:
        raise UsageError("the run has no development file. Name one with --gold")
    made = export(config, student, out, gold, history=state.history(run[0]), balanced=balanced)
    if as_json:
        say("distill", {"bytes": made.bytes, "parity": made.parity, "fp32": made.fp32, "points": made.points})
        return
    typer.echo(f"{made.bytes:,} bytes; words tagged as in fp32: {_shares(made.parity)}")
    for name, points in made.points.items():
        for point, (recall, precision) in points.items():
            typer.echo(f"{name:<5} {point:<10} recall {recall:.3f}  precision {precision:.3f}")


@app.command("ablate")
def ablate_(
    config: File,
    out: Folder,
    variant: Annotated[
        list[str] | None, typer.Option("--variant", help="Only this variant and the whole; repeatable.", metavar="NAME")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of seeds.", metavar="N", min=1)] = 3,
    minutes: Minutes = None,
    steps: Steps = None,
    as_json: options.AsJson = False,
) -> None:
    """Train with each idea off in turn, with equal budgets, and test against the whole. Continues after a kill."""
    _torch()
    from incognote_training.training.ablate import ablate, as_dicts

    budget = _budget(minutes, steps) or {"run.minutes": 5.0}
    with _watched() as watch:
        rows = ablate(config, out, names=variant or (), seeds=range(seeds), budget=budget, watch=watch)
    if as_json:
        say("distill", {"rows": as_dicts(rows)})
        return
    for row in rows:
        p = "" if row.adjusted is None else f"p {row.adjusted:.4f}"
        typer.echo(f"{row.name:<26} recall {_spread(row.recall)}  precision {_spread(row.precision)}  {p}")


@app.command("sizes")
def sizes_(
    config: File,
    out: Folder,
    n: Annotated[list[int], typer.Option("-n", help="Training documents; repeatable.", metavar="N", min=1)],
    minutes: Minutes = None,
    steps: Steps = None,
    as_json: options.AsJson = False,
) -> None:
    """Recall against the number of training documents, as a table and a picture."""
    _torch()
    from incognote_training.training.curves import of_sizes
    from incognote_training.training.sizes import by_size

    with _watched() as watch:
        points = by_size(config, out, n, budget=_budget(minutes, steps) or {"run.minutes": 5.0}, watch=watch)
    of_sizes(points, out / "sizes.png")
    if as_json:
        say("distill", {"points": points})
        return
    for size, recall, precision in points:
        typer.echo(f"{size:>8,}  recall {recall:.3f}  precision {precision:.3f}")


def _torch() -> None:
    """Raise MissingExtra if torch is not installed."""
    from incognote.errors import MissingExtra

    if importlib.util.find_spec("torch") is None:
        raise MissingExtra("train", "training the encoder")


def _budget(minutes: float | None, steps: int | None) -> dict[str, Any]:
    if minutes is None and steps is None:
        return {}
    return {"run.minutes": minutes, "run.steps": steps, "run.epochs": None}


@contextmanager
def _watched() -> Iterator[Watch]:
    """A progress bar on standard error, if it is a terminal."""
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(), TextColumn("{task.fields[told]}"))
    with bars(*columns) as progress:
        bar = progress.add_task("begin", total=1.0, told="")

        def watch(stage: str, share: float, figures: dict[str, float]) -> None:
            told = "  ".join(f"{name} {value:.3g}" for name, value in figures.items())
            progress.update(bar, description=stage, completed=share, told=told)

        yield watch


def _about(report: ScoreReport) -> str:
    made_up = {True: "synthetic", False: "not synthetic", None: "not stated whether synthetic"}[report.synthetic]
    return f"{report.corpus}: {report.documents:,} texts, {made_up}; by character, type-blind, with 95% intervals"


def _shares(parity: dict[str, float]) -> str:
    return ", ".join(f"{name} {share:.2%}" for name, share in parity.items())


def _spread(values: tuple[float, ...]) -> str:
    return f"{sum(values) / len(values):.3f} ({min(values):.3f}..{max(values):.3f})"
