"""`incognote distill`: from a synthetic corpus to the embedded detector."""

from __future__ import annotations

from typing import Annotated

import typer

from incognote.cli import options
from incognote.cli.shell import say

app = typer.Typer(no_args_is_help=True, help="Make the embedded detector: corpus, selection, annotation, training.")
Config = Annotated[
    str | None, typer.Option(help="Settings of all steps (TOML); an option wins over it.", metavar="FILE")
]
Out = Annotated[str, typer.Option("--out", "-o", help="The file to write.", metavar="FILE", show_default=False)]
Many = Annotated[int | None, typer.Option("-n", help="How many documents.", min=1, metavar="N")]
Seed = Annotated[int | None, typer.Option(help="The same seed makes the same file.", metavar="N")]


@app.command("synth")
def synth_(
    out: Out, n: Many = None, seed: Seed = None, config: Config = None, as_json: options.AsJson = False
) -> None:
    """Make training notes with gold spans."""
    from incognote.distill import config as settings
    from incognote.distill.corpus.making import make

    told = settings.overridden(settings.read(config).synth, n=n, seed=seed)
    counts = make(told, out)
    if as_json:
        say("distill", counts)
    else:
        typer.echo(f"{counts['documents']:,} documents, {counts['spans']:,} spans")
