"""`incognote sample`: measure the leak rate of a release by blind double review of a random sample."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incognote.cli import options
from incognote.cli.help import App
from incognote.cli.shell import FAILURE, say, warn

if TYPE_CHECKING:
    from incognote.evaluation.sampling.report import SampleReport

app = App(
    help="Measure the leak rate of a release by blind double review."
)
KeyOf = Annotated[
    str | None,
    typer.Option("--key", help="The file that maps items to documents. Default: FOLDER.key.json.", metavar="FILE"),
]


@app.command("draw")
def draw_(
    outputs: Annotated[
        list[str], typer.Argument(metavar="OUTPUTS", help="The output of `incognote deid`: files and folders.")
    ],
    out: Annotated[str, typer.Option(help="A new folder for the reviewers.", metavar="FOLDER", show_default=False)],
    bound: Annotated[
        float, typer.Option(help="The share of leaking documents to rule out.", metavar="SHARE")
    ] = 0.01,
    confidence: Annotated[float, typer.Option(help="Confidence of that bound, one-sided.", metavar="SHARE")] = 0.95,
    expect: Annotated[
        int, typer.Option(help="How many leaking documents the sample may hold and still prove the bound.", metavar="N")
    ] = 0,
    strata: Annotated[
        str | None,
        typer.Option(
            help="The field or column with the kind of document. Each kind is sampled in proportion.", metavar="FIELD"
        ),
    ] = None,
    reviewers: Annotated[int, typer.Option(help="Number of reviewers. Each reviews every document.", min=2, max=5)] = 2,
    plant: Annotated[
        int,
        typer.Option(help="Number of known leaks to add, to measure what reviewers miss.", min=0, metavar="N"),
    ] = 0,
    size: Annotated[
        int | None, typer.Option(help="Documents to draw. Default: the smallest number that suffices.", metavar="N")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Repeat a draw with this seed. Default: a random seed.")] = None,
    key: KeyOf = None,
    as_json: options.AsJson = False,
) -> None:
    """Draw released documents and write a blinded set with a review page for each reviewer.

    The sample size follows exactly from the bound and the size of the release. A draw that cannot prove the bound is
    refused. Do not give the key file to the reviewers. Treat the texts as PHI until the review is done.

    Example:
        incognote sample draw released --out review
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
        f"If at most {expect} of them leak, then at most {100 * bound:g}% of the release leaks "
        f"({100 * confidence:g}% confidence)."
    )
    for page in done.pages:
        typer.echo(f"for a reviewer: {page}")
    typer.echo(f"keep away from reviewers: {done.key}")
    if done.unvouched:
        warn(
            f"No manifest lists {done.unvouched:,} of the files, so nothing proves that incognote released them. "
            "Name the folder that `deid --out` wrote, with its manifest."
        )
    warn("The sets show released texts. Treat them as PHI until the review is done.")


@app.command("report")
def report_(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="The folder of the draw.", show_default=False)],
    decisions: Annotated[
        list[Path], typer.Argument(metavar="DECISIONS", help="The files that the review pages saved, one per reviewer.")
    ],
    adjudicated: Annotated[
        Path | None,
        typer.Option(
            help='Decisions of a third person on disagreements: {"CASE": "leak" or "none"}.', metavar="FILE.json"
        ),
    ] = None,
    key: KeyOf = None,
    as_json: options.AsJson = False,
) -> None:
    """Report what the reviews prove: leak rate, exact upper bound, agreement, and estimated misses.

    Exit code 0: the bound is proven. Exit code 1: it is not.

    Example:
        incognote sample report review decisions-1.json decisions-2.json
    """
    from incognote.evaluation.sampling.report import report

    result = report(Path(folder), decisions, _key(folder, key), adjudicated)
    if as_json:
        say("sample", result.as_dict())
    else:
        _print(result)
    if not result.proven:
        raise typer.Exit(FAILURE)


def _key(folder: str, named: str | None) -> Path:
    place = Path(folder)
    return Path(named) if named else place.with_name(f"{place.resolve().name}.key.json")


def _print(told: SampleReport) -> None:
    from incognote.cli.tables import print_table
    from incognote.evaluation.sampling.report import sentence

    sure = f"{100 * told.confidence:g}%"
    rows = [("all", told.all), *told.strata.items()]
    print_table(
        ["documents", "of", "drawn", "leaking", "rate", f"at most ({sure})"],
        [
            [name, f"{one.population:,}", f"{one.drawn:,}", f"{one.leaking:,}", f"{one.rate:.4f}", f"{one.upper:.4f}"]
            for name, one in rows
        ],
    )
    if told.strata:
        typer.echo("Each kind is reported separately. The bounds do not hold for all kinds at the same time.")
    typer.echo(f"further documents of the same process leak: at most {told.process:.4f} ({sure})")
    typer.echo(f"leaks: {told.leaks:,}{_per(told.per_1000_characters, 'characters')}"
               f"{_per(told.per_1000_identifiers, 'identifiers')}")  # fmt: skip
    for one in told.agreed:
        typer.echo(
            f"reviewers {one.reviewers[0]} and {one.reviewers[1]}: both {one.both}, only the first {one.first}, "
            f"only the second {one.second}, neither {one.neither}; kappa {one.kappa} (tokens {one.tokens}), "
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
                    f"{guess.high:.1f}] estimated in total; share found {middle:.3f} [{low:.3f}, {high:.3f}]"
                )
    if told.beyond:
        typer.echo(f"{told.beyond} documents with planted leaks have another leak. It is not counted in the rate.")
    if told.disagreements:
        typer.echo(f"disagreements: {len(told.disagreements)}, {told.open} open (each counts as a leak)")
        print_table(
            ["case", "items", "marks", "adjudicated"],
            [
                [d.case, " ".join(d.items), " ".join(map(str, d.marks)), d.adjudicated or "–"]
                for d in told.disagreements
            ],
        )
    typer.echo(f"\n{'PROVEN' if told.proven else 'NOT PROVEN'}: at most {100 * told.bound:g}% leak\n{sentence(told)}")
    if told.unmoved is None:
        warn("Some outputs are no longer where they were drawn from. They were not checked for changes.")


def _per(rate: float | None, what: str) -> str:
    return "" if rate is None else f", {rate:.3f} per 1,000 {what}"
