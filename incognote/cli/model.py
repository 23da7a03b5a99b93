"""`incognote model`: record agreements for language models, and list agreements and prices."""

from __future__ import annotations

import tomllib
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incognote.cli import options
from incognote.cli.help import App
from incognote.cli.shell import say
from incognote.cli.tables import print_table

if TYPE_CHECKING:
    from pathlib import Path

    from incognote.llm.prices import Price

app = App(help="Record agreements for language models, and list prices.")


@app.command()
def agree(
    model: Annotated[str, typer.Argument(metavar="VENDOR/NAME", help="The model, as in --model.")],
    by: Annotated[str, typer.Option(help="The person responsible for the agreement.", metavar="NAME")],
    baa: Annotated[
        str,
        typer.Option(
            help="A reference to the business associate agreement or its equivalent.",
            metavar="REFERENCE",
        ),
    ],
    retention_days: Annotated[
        int,
        typer.Option(
            help="Days that the provider keeps prompts and replies. 0 if it keeps nothing.", metavar="N", min=0
        ),
    ],
    api_base: Annotated[
        str | None,
        typer.Option(help="The URL of the model. Default: the vendor's own.", metavar="URL", show_default=False),
    ] = None,
    note: Annotated[
        str,
        typer.Option(
            help="A note of at most 200 characters, such as a contract number. Do not write PHI: it is stored and "
            "listed as it is.",
            metavar="TEXT",
            show_default=False,
        ),
    ] = "",
    config: options.Config = None,
) -> None:
    """Record who agreed that a remote model may receive notes, and on what terms.

    Without this record, nothing is sent to the model. A model on this machine needs no agreement. Entries are never
    changed or deleted.

    Example:
        incognote model agree openai/gpt-4o-mini --by ada.park --baa BAA-2026-014 --retention-days 0
    """
    from incognote.llm.agreements import FILE, Agreements, AgreementTerms
    from incognote.llm.egress import Egress
    from incognote.llm.opening import ModelSpec
    from incognote.settings import Settings

    home = Settings.load(config).home
    address = ModelSpec(model, home, api_base=api_base).address
    if Egress([address]).loopback:  # also refuses plain HTTP to another machine
        typer.echo(f"{model} runs on this machine. Notes stay here, and no agreement is needed.")
        return
    entry = Agreements(home).record(model, address, by=by, terms=AgreementTerms(baa, retention_days), note=note)
    typer.echo(f"{entry.model} at {entry.address} may receive notes. Agreed by {entry.by} at {entry.at}.")
    kept = _days(entry.terms.retention_days)
    typer.echo(f"Terms: {entry.terms.baa}. Retention: {kept}. Written to {home / FILE}.")


@app.command("list")
def list_(config: options.Config = None, as_json: options.AsJson = False) -> None:
    """List the recorded agreements and the known prices.

    Example:
        incognote model list
    """
    from incognote.llm.agreements import FILE, Agreements
    from incognote.llm.prices import Prices
    from incognote.settings import Settings

    settings = Settings.load(config)
    agreements = Agreements(settings.home).all()
    known = Prices.load(settings.prices)
    prices = {name: known.of(name) for name in _priced(settings.prices)}
    if as_json:
        charged = {name: _price(price) for name, price in prices.items() if price is not None}
        say("model list", {"agreements": [asdict(a) for a in agreements], "prices": charged})
        return
    if agreements:
        print_table(
            ("model", "address", "agreed by", "at", "terms", "kept for", "note"),
            [(a.model, a.address, a.by, a.at, a.terms.baa, _days(a.terms.retention_days), a.note) for a in agreements],
        )
    else:
        typer.echo(f"No agreement is recorded in {settings.home / FILE}. To record one, run: incognote model agree")
    typer.echo()
    print_table(
        ("$ per million tokens", "in", "out", "cached", "as of"),
        [
            (name, f"{p.input:g}", f"{p.output:g}", f"{p.cached:g}", str(p.as_of or ""))
            for name, p in prices.items()
            if p is not None
        ],
    )
    typer.echo("To add or replace prices, name your own file in the setting `prices`.")


def _priced(own: Path | None) -> list[str]:
    """Return the models that have a price, the user's own first. `Prices` has checked both files."""
    from importlib.resources import files

    shipped = files("incognote.llm").joinpath("prices.toml").read_bytes()
    read = [*([own.expanduser().read_bytes()] if own else []), shipped]
    return list(dict.fromkeys(name for raw in read for name in tomllib.loads(raw.decode()).get("models", {})))


def _price(price: Price) -> dict[str, Any]:
    return {**asdict(price), "as_of": str(price.as_of) if price.as_of else None}


def _days(count: int) -> str:
    return "none" if not count else f"{count:,} day{'s' * (count != 1)}"
