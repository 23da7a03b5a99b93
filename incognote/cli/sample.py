"""`incognote sample`: evidence for a release, by blind double review of documents drawn at random."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.shell import FAILURE, say, warn

if TYPE_CHECKING:
    from incognote.evaluation.sampling.report import SampleReport

app = typer.Typer(
    no_args_is_help=True, help="Draw released documents for blind double review, and say what the review proves."
)
KeyOf = Annotated[
    str | None,
    typer.Option("--key", help="The file that maps items back; default: FOLDER.key.json, beside.", metavar="FILE"),
]


@app.command("draw")
def draw_(
    outputs: Annotated[
        list[str], typer.Argument(metavar="OUTPUTS", help="What `incognote deid` wrote: files and folders.")
    ],
    out: Annotated[str, typer.Option(help="A new folder for the reviewers.", metavar="FOLDER", show_default=False)],
    bound: Annotated[
        float, typer.Option(help="The share of leaking documents that shall not be exceeded.", metavar="SHARE")
    ] = 0.01,
    confidence: Annotated[float, typer.Option(help="Of that bound, one-sided.", metavar="SHARE")] = 0.95,
    expect: Annotated[
        int, typer.Option(help="Leaking documents the draw may hold and still prove the bound.", metavar="N")
    ] = 0,
    strata: Annotated[
        str | None,
        typer.Option(
            help="The field or column that says a document's kind; each is drawn in proportion.", metavar="FIELD"
        ),
    ] = None,
    reviewers: Annotated[int, typer.Option(help="Each reviews every drawn document.", min=2, max=5)] = 2,
    plant: Annotated[
        int,
        typer.Option(help="Known leaks to put among the items, to learn what reviewers overlook.", min=0, metavar="N"),
    ] = 0,
    size: Annotated[
        int | None, typer.Option(help="Documents to draw; default: as few as will do.", metavar="N")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Repeat a draw; default: one that nobody can foresee.")] = None,
    key: KeyOf = None,
    as_json: options.AsJson = False,
) -> None:
    """Draw released documents and write each reviewer a blinded set with a page to review it on.

    The number drawn follows from the bound (exact, for a finite release); a draw that cannot prove it is refused. Keep
    the key from the reviewers, and everything from others: the texts are PHI until the review says otherwise.
    """
    from dataclasses import asdict

    from incognote.evaluation.sampling.draw import SampleRequest, draw

    asked = SampleRequest(bound, confidence, expect, strata, seed, reviewers, plant, size)
    done = draw(outputs, Path(out), _key(out, key), asked)
    if as_json:
        say("sample", asdict(done))
        return
    planted = f" and {done.plants} with planted leaks" if done.plants else ""
    typer.echo(f"{done.documents:,} of {done.population:,} documents drawn{planted}, for {done.reviewers} reviewers")
    for name, (population, drawn) in done.strata.items() if len(done.strata) > 1 else ():
        typer.echo(f"  {name}: {drawn:,} of {population:,}")
    typer.echo(
        f"if no more than {expect} of them leak, at most {100 * bound:g} % of the release do "
        f"({100 * confidence:g} % confidence)"
    )
    for page in done.pages:
        typer.echo(f"for a reviewer: {page}")
    typer.echo(f"for nobody who reviews: {done.key}")
    if done.unvouched:
        warn(
            f"no run's manifest names {done.unvouched:,} of the files: nothing says that incognote released them "
            "(name the folder that `deid --out` wrote, its manifest in it)"
        )
    warn("the sets show released texts: treat them as PHI until the review says otherwise")


@app.command("report")
def report_(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="The folder of the draw.", show_default=False)],
    decisions: Annotated[
        list[Path], typer.Argument(metavar="DECISIONS", help="What the review pages saved, one file for each reviewer.")
    ],
    adjudicated: Annotated[
        Path | None,
        typer.Option(help='A third person\'s word on disagreements: {"CASE": "leak" or "none"}.', metavar="FILE.json"),
    ] = None,
    key: KeyOf = None,
    as_json: options.AsJson = False,
) -> None:
    """Say what the reviews prove: leak rate, exact upper bound, agreement, and what the reviewers would have seen.

    Exit codes: 0 the bound is proven, 1 it is not.
    """
    from incognote.evaluation.sampling.report import report

    told = report(Path(folder), decisions, _key(folder, key), adjudicated)
    if as_json:
        say("sample", told.as_dict())
    else:
        _print(told)
    if not told.proven:
        raise typer.Exit(FAILURE)


def _key(folder: str, named: str | None) -> Path:
    place = Path(folder)
    return Path(named) if named else place.with_name(f"{place.resolve().name}.key.json")


def _print(told: SampleReport) -> None:
    from incognote.cli.tables import print_table
    from incognote.evaluation.sampling.report import sentence

    sure = f"{100 * told.confidence:g} %"
    rows = [("all", told.all), *told.strata.items()]
    print_table(
        ["documents", "of", "drawn", "leaking", "rate", f"at most ({sure})"],
        [
            [name, f"{one.population:,}", f"{one.drawn:,}", f"{one.leaking:,}", f"{one.rate:.4f}", f"{one.upper:.4f}"]
            for name, one in rows
        ],
    )
    if told.strata:
        typer.echo("each kind by itself; the bounds of kinds do not hold all at once")
    typer.echo(f"further documents of the same process leak: at most {told.process:.4f} ({sure})")
    typer.echo(f"leaks: {told.leaks:,}{_per(told.per_1000_characters, 'characters')}"
               f"{_per(told.per_1000_identifiers, 'identifiers')}")  # fmt: skip
    for one in told.agreed:
        typer.echo(
            f"reviewers {one.reviewers[0]} and {one.reviewers[1]}: both {one.both}, one only {one.first} and "
            f"{one.second}, neither {one.neither}; kappa {one.kappa} (tokens {one.tokens}), "
            f"positive agreement {one.positive}"
        )
    for who, seen in told.seen.items():
        typer.echo(f"planted leaks found, {who}: {seen.found} of {seen.planted} [{seen.low:.3f}, {seen.high:.3f}]")
    for pair, each in told.recaptured.items():
        for by, guess in each.items():
            if guess is not None:
                middle, low, high = guess.sensitivity
                typer.echo(
                    f"capture-recapture, reviewers {pair}, by {by}: {guess.estimate:.1f} [{guess.low:.1f}, "
                    f"{guess.high:.1f}] there are; together they see {middle:.3f} [{low:.3f}, {high:.3f}]"
                )
    if told.beyond:
        typer.echo(f"in documents with planted leaks, {told.beyond} have another; they are not in the rate")
    if told.disagreements:
        typer.echo(f"disagreements: {len(told.disagreements)}, {told.open} open (each counts as a leak)")
        print_table(
            ["case", "items", "marks", "adjudicated"],
            [
                [d.case, " ".join(d.items), " ".join(map(str, d.marks)), d.adjudicated or "–"]
                for d in told.disagreements
            ],
        )
    typer.echo(f"\n{'PROVEN' if told.proven else 'NOT PROVEN'}: at most {100 * told.bound:g} % leak\n{sentence(told)}")
    if told.unmoved is None:
        warn("some outputs are no longer where they were drawn from: whether they changed was not checked")


def _per(rate: float | None, what: str) -> str:
    return "" if rate is None else f", {rate:.3f} per 1,000 {what}"
