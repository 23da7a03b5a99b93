"""`incognote experiment`: compare systems on annotated texts, and gate changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incognote.cli import options
from incognote.cli.help import App
from incognote.cli.shell import FAILURE, say, warn
from incognote.cli.tables import bars, print_whole
from incognote.runs.units import counted, dollars

if TYPE_CHECKING:
    from incognote.evaluation.experiments.plan import ExperimentPlan
    from incognote.evaluation.experiments.run import RunOutcome
    from incognote.evaluation.experiments.tallies import Sides

CANNOT_TELL = 4

app = App(
    help="Compare systems, models, and prompts on annotated texts."
)
Folder = Annotated[
    str, typer.Argument(metavar="FOLDER", help="The results folder of an experiment.", show_default=False)
]
By = Annotated[
    str | None,
    typer.Option("--by", help="Who opens a test split, for its log. Default: your user name.", metavar="NAME"),
]


@app.command("run")
def run_(
    spec: Annotated[
        str, typer.Argument(metavar="SPEC.yaml", help="The specification of the experiment.", show_default=False)
    ],
    out: Annotated[
        str | None, typer.Option(help="Where to write the results. Default: SPEC.results.", metavar="FOLDER")
    ] = None,
    estimate: options.Estimate = False,
    yes: options.Spend = False,
    by: By = None,
    as_json: options.AsJson = False,
) -> None:
    """Run all cells of an experiment that have no result yet.

    If a run was interrupted, the same command continues it, and nothing is paid for twice. The exit code is 1 if a cell
    could not be finished because a model did not answer or the budget was spent.

    Example:
        incognote experiment run comparison.yaml --estimate
    """
    from incognote.evaluation.experiments.plan import plan
    from incognote.evaluation.experiments.run import run

    planned = plan(spec, out, purpose="estimate" if estimate else "run", who=by)
    data = {"spec": planned.spec.hash, "cells": len(planned.cells), "pending": len(planned.pending),
            "estimate": asdict(planned.estimate), "openings": planned.opened}  # fmt: skip
    if not as_json:
        _print_estimate(planned)
    if estimate:
        if as_json:
            say("experiment", data)
        return
    if not yes and planned.estimate.usd != 0:
        typer.confirm("Go on?", abort=True, err=True)
    if as_json:
        outcome = run(planned)
    else:
        outcome = _watched(planned)
        typer.echo("")
        _table(planned.results.folder, {cell.key for cell in planned.cells})
    paid, total = outcome.paid, outcome.total
    if as_json:
        say("experiment", {**data, **asdict(outcome)})
    else:
        typer.echo(
            f"Cost of this run: {paid.calls:,} calls, {dollars(paid.usd)}. Cost of all runs: {total.calls:,} calls, "
            f"{dollars(total.usd)}."
        )
    if outcome.unfinished:
        warn(
            f"{counted(len(outcome.unfinished), 'cell')} not finished: a model did not answer, or the budget was "
            "spent. Run the same command again to continue."
        )  # fmt: skip
        raise typer.Exit(FAILURE)


@app.command("list")
def list_(folder: Folder, as_json: options.AsJson = False) -> None:
    """List the finished cells: keys, labels, scores with 95% intervals, and cost.

    Example:
        incognote experiment list comparison.results
    """
    from incognote.evaluation.experiments.results import Results
    from incognote.evaluation.experiments.seal import opened

    results = Results(Path(folder))
    openings = opened(results.tests())
    if as_json:
        say("experiment", {"cells": [asdict(head) for head in results.heads()], "openings": openings})
    else:
        _table(Path(folder))
        _openings(openings)


@app.command("compare")
def compare_(
    folder: Folder,
    cells: Annotated[
        list[str],
        typer.Argument(metavar="A B...", help="Two or more cells: labels, keys, or files.", show_default=False),
    ],
    by: By = None,
    as_json: options.AsJson = False,
) -> None:
    """Compare cells in pairs on the same documents: recall and precision by character, and spans found.

    Example:
        incognote experiment compare comparison.results rules rules+encoder
    """
    from incognote.errors import UsageError
    from incognote.evaluation.experiments.compare import compare
    from incognote.evaluation.report.several import chance

    if len(set(cells)) < 2:
        raise UsageError("Name at least two cells.")
    sides = _sides(folder, cells, "compare", by)
    found = compare(sides)
    if as_json:
        say("experiment", {**_corpus(sides), "pairs": [versus.as_dict() for versus in found]})
        return
    typer.echo(_about(sides))
    for versus in found:
        typer.echo(f"\n{versus.first}\n  less {versus.second}")
        for name, difference in versus.differences.items():
            low, high = difference.low, difference.high
            between = f" [{100 * low:+.2f}, {100 * high:+.2f}]" if low is not None and high is not None else ""
            typer.echo(f"  {name:<10} {100 * difference.value:+.2f}{between} points, p {chance(difference.p)}")
        test = versus.spans
        typer.echo(
            f"  spans      found by the first only {test.only_first:,}, by the second only {test.only_second:,}; "
            f"McNemar p {chance(test.p)}, for {len(found)} pairs {chance(versus.adjusted)}"
        )


@app.command("gate")
def gate_(
    folder: Folder,
    baseline: Annotated[str, typer.Option(help="The cell to compare with.", metavar="CELL", show_default=False)],
    candidate: Annotated[str, typer.Option(help="The cell to judge.", metavar="CELL", show_default=False)],
    allow: Annotated[
        float, typer.Option(help="How many points the candidate may lose.", metavar="POINTS", min=0, show_default=False)
    ],
    metric: Annotated[str, typer.Option(help="recall, precision, or f1, by character.", metavar="NAME")] = "recall",
    by: By = None,
    as_json: options.AsJson = False,
) -> None:
    """Fail if the candidate loses more than the allowed points.

    The test is a paired bootstrap over documents, one-sided, at 95%. Exit codes: 0 pass, 1 fail, 4 too few documents
    to decide.

    Example:
        incognote experiment gate comparison.results --baseline rules --candidate rules+encoder --allow 0.5
    """
    from incognote.evaluation.experiments.compare import gate

    sides = _sides(folder, [baseline, candidate], "gate", by)
    verdict = gate(sides, allow, metric=metric)
    if as_json:
        say("experiment", {**_corpus(sides), "gate": verdict.as_dict()})
    else:
        typer.echo(_about(sides))
        typer.echo(f"{verdict.answer}: {verdict.why}")
        typer.echo(f"points lost: {verdict.loss:+.2f} ({metric})")
        typer.echo(f"smallest detectable loss with {verdict.documents} documents: {verdict.detectable:.2f} points")
        if verdict.answer == "cannot tell" and verdict.needed is not None:
            typer.echo(f"it could pass with about {max(verdict.needed, verdict.documents + 1):,} similar documents")
    if verdict.answer != "pass":
        raise typer.Exit(FAILURE if verdict.answer == "fail" else CANNOT_TELL)


@app.command("report")
def report_(
    folder: Folder,
    out: Annotated[str | None, typer.Option(help="Where to write. Default: FOLDER/report.", metavar="FOLDER")] = None,
    embedder: options.Embedder = None,
    texts: Annotated[
        bool,
        typer.Option("--texts/--no-texts", help="Quote missed and false identifiers. The page then holds PHI."),
    ] = True,
    by: By = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Write a page with the scores, figures, and errors of all finished cells, and its data as PNG and JSON.

    Example:
        incognote experiment report comparison.results
    """
    from rich.progress import SpinnerColumn, TextColumn

    from incognote.evaluation.report.experiment import write_report
    from incognote.files.atomic import require_writable

    for name in ("report.html", "report.json"):
        require_writable(Path(out or Path(folder) / "report") / name, overwrite=overwrite, option=f"{name} of --out")
    seen = None
    if embedder is not None:
        from incognote.embedding import open_embedder

        seen = embedder, open_embedder(embedder)
    with bars(SpinnerColumn(), TextColumn("{task.description}", markup=False)) as progress:
        task = progress.add_task("reading", total=None)
        made = write_report(folder, out, texts=texts, who=by, embedder=seen,
                            watch=lambda what: progress.update(task, description=what))  # fmt: skip
    if as_json:
        say("experiment", {"page": str(made.page), "json": str(made.data), "figures": [str(p) for p in made.pictures]})
    else:
        typer.echo(f"{made.page}, {made.data.name} and {len(made.pictures)} figures")
    if texts:
        warn(f"{made.page.name} quotes notes. Treat it as PHI, or use --no-texts.")


def _sides(folder: str, names: list[str], purpose: str, by: str | None) -> Sides:
    from incognote.evaluation.experiments.results import Results
    from incognote.evaluation.experiments.tallies import sides

    results = Results(Path(folder))
    return sides([results.find(name) for name in names], purpose, by)


def _corpus(sides: Sides) -> dict[str, Any]:
    return {"corpus": sides.corpus, "synthetic": sides.synthetic, "documents": sides.documents,
            "openings": sides.openings}  # fmt: skip


def _about(sides: Sides) -> str:
    made_up = " (synthetic)" if sides.synthetic else ""
    opened = "" if sides.openings is None else f" · test split, opened {sides.openings} times"
    return f"{sides.corpus}{made_up} · n = {sides.documents:,} documents{opened}"


def _print_estimate(plan: ExperimentPlan) -> None:
    guess = plan.estimate
    typer.echo(f"{plan.spec.name}: {len(plan.cells)} cells, {len(plan.pending)} to run")
    if guess.calls:
        typer.echo(
            f"estimate: {guess.calls:,} calls, {guess.tokens_in:,} input tokens, {guess.tokens_out:,} output tokens, "
            f"{dollars(guess.usd)}, minus what is already recorded"
        )
    _openings(plan.opened)


def _openings(openings: Mapping[str, int]) -> None:
    for name, times in openings.items():
        typer.echo(f"test split {name}: opened {times} times")


def _watched(plan: ExperimentPlan) -> RunOutcome:
    """Run the experiment, with progress bars on a terminal."""
    from incognote.evaluation.experiments.run import run

    with bars() as progress:
        each = {cell.key: progress.add_task(cell.label.replace("[", r"\["), total=None) for cell in plan.pending}
        return run(plan, watch=lambda cell, done, of: progress.update(each[cell.key], completed=done, total=of))


def _table(folder: Path, keys: set[str] | None = None) -> None:
    from rich.table import Table

    from incognote.evaluation.experiments.results import Results
    from incognote.evaluation.intervals import Figure

    table = Table("key", "cell", "n", "recall", "precision", "f1", "unread", "calls", "cost", box=None)
    for head in Results(folder).heads():
        if keys is None or head.key in keys:
            scores = [str(Figure(**head.scores[name])) for name in ("recall", "precision", "f1")]
            label = head.label + (" (synthetic)" if head.corpus["synthetic"] else "")
            taken, documents = head.taken, str(head.corpus["documents"])
            table.add_row(
                head.key[:6], label, documents, *scores, str(head.failed), f"{taken['calls']:,}", dollars(taken["usd"])
            )
    print_whole(table)
