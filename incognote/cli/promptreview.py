"""`incognote prompt review` and `judged`: compare prompt variants without gold annotations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incognote.cli import options
from incognote.cli.prompt import app
from incognote.cli.shell import say


@app.command("review")
def review(
    variants: Annotated[
        list[str],
        typer.Argument(metavar="A.jsonl B.jsonl...", help="The spans that each variant found.", show_default=False),
    ],
    texts: Annotated[str, typer.Option(help="The texts that all variants read.", metavar="FILE", show_default=False)],
    out: Annotated[str, typer.Option(help="The folder to write.", metavar="FOLDER", show_default=False)],
    sample: Annotated[
        int, typer.Option(help="How many agreed spans, and unmarked stretches, to sample.", min=0, metavar="N")
    ] = 100,
    seed: Annotated[int, typer.Option(help="Random seed of the sample.", metavar="N")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Prepare a review of prompt variants: all spans on which they differ, and a sample of the rest.

    The folder quotes notes: it holds PHI. Open review.html in it, save the decisions there, and run `judged`.

    Example:
        incognote prompt review a.jsonl b.jsonl --texts texts.jsonl --out review
    """
    from incognote.evaluation.lab.review import draw

    plan = draw(Path(texts), [Path(file) for file in variants], Path(out), sample, seed)
    counts = {kind: plan.count(kind) for kind in ("differs", "agreed", "unmarked")}
    asked = {kind: sum(item.unit.kind == kind for item in plan.items) for kind in counts}
    if as_json:
        say("prompt", {"units": counts, "items": asked})
        return
    for kind, what in (
        ("differs", "marks on which they differ"),
        ("agreed", "marks on which they agree"),
        ("unmarked", "stretches that no variant marks"),
    ):
        typer.echo(f"{asked[kind]:,} of {counts[kind]:,} {what}")
    typer.echo(f"Open {Path(out) / 'review.html'}, which holds PHI, and save its decisions there as decisions.jsonl.")


@app.command("judged")
def judged_(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="The folder of the review.", show_default=False)],
    by: Annotated[str, typer.Option(help="The person who decided.", metavar="NAME", show_default=False)],
    decisions: Annotated[
        str | None,
        typer.Option(
            help="Default: decisions.jsonl in the folder, or else items.jsonl with the decisions filled in.",
            metavar="FILE",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            help="Also write the decisions as gold to this file. Default: do not write.", metavar="FILE.jsonl"
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Compute relative recall and precision of the variants from the decisions of a reviewer.

    Example:
        incognote prompt judged review --by ada.park
    """
    from incognote.cli.tables import print_table
    from incognote.evaluation.lab.growing import grow
    from incognote.evaluation.lab.judged import judged
    from incognote.evaluation.lab.review import read_decisions, read_plan

    plan = read_plan(Path(folder))
    notes = plan.notes()
    saved = Path(folder) / "decisions.jsonl"
    place = Path(decisions) if decisions else saved if saved.exists() else Path(folder) / "items.jsonl"
    made, hash_ = read_decisions(place, plan, notes)
    found = judged(plan, made, notes)
    grown = grow(Path(out), plan, made, notes, who=by, decided=hash_) if out else None
    if as_json:
        say("prompt", {**found.as_dict(), "gold": grown})
        return
    rows = []
    for one in found.variants:
        value, low, high = one.less
        between = "" if low is None or high is None else f" [{low:+.3f}, {high:+.3f}]"
        rows.append((one.name, str(one.recall), f"{value:+.3f}{between}", str(one.precision)))
    print_table(("variant", "relative recall", "less the first's", "precision"), rows)
    typer.echo(
        f"{found.texts:,} texts, {found.variants[0].recall.of:,} confirmed identifiers, {found.items:,} decisions"
    )
    if found.unmarked.of:
        typer.echo(
            f"missed by all variants: {found.unmarked} of the unmarked stretches ({found.unmarked.of:,} of "
            f"{found.stretches:,} were reviewed)"
        )
    if grown is not None:
        typer.echo(
            f"{Path(out or '').name}: {grown[0]:,} texts, {grown[1]:,} identifiers; not complete, see provenance"
        )
