"""`incognote convert`: annotated texts from one format to another."""

from __future__ import annotations

from typing import Annotated

import typer

from incognote.cli import options
from incognote.cli.shell import FAILURE, say


def convert(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="Annotated texts: a file or a folder.", show_default=False)
    ],
    out: Annotated[
        str, typer.Argument(metavar="OUT", help="A file, or for brat and XML a new folder.", show_default=False)
    ],
    form: Annotated[
        str | None,
        typer.Option("--from", help="The input's format. Detected from the content by default.", metavar="FORMAT"),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="The output's format; default: by its suffix.", metavar="FORMAT")
    ] = None,
    types: Annotated[
        str,
        typer.Option(
            help="Under whose names types are written: source, ours (where the catalogue has the kind), i2b2, "
            "presidio, aws or azure.",
            metavar="NAMES",
        ),
    ] = "source",
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Convert annotated texts: i2b2, BRAT, CoNLL, spaCy, INCEpTION, TAB, MEDDOCAN, ours.

    Results of other systems are read, too, where the package incognote-benchmarks is installed.

    Every span is held against its text. A document with one that does not fit, or that the other format cannot say, is
    left out and told, and the exit code is 1.
    """
    from incognote.evaluation.convert import convert as converted

    done = converted(source, out, form, to, types=types, overwrite=overwrite)
    if as_json:
        say("convert", done.as_dict())
    else:
        typer.echo("\n".join(done.lines()))
    if done.problems:
        raise typer.Exit(FAILURE)
