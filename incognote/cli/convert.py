"""`incognote convert`: convert annotated texts between formats."""

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
        str, typer.Argument(metavar="OUT", help="The output file. For BRAT and XML: a new folder.", show_default=False)
    ],
    form: Annotated[
        str | None,
        typer.Option("--from", help="The format of the input. Detected from the content by default.", metavar="FORMAT"),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", help="The format of the output. Default: from the suffix of OUT.", metavar="FORMAT"),
    ] = None,
    types: Annotated[
        str,
        typer.Option(
            help="Naming scheme for entity types: source, ours, i2b2, presidio, aws, or azure.",
            metavar="NAMES",
        ),
    ] = "source",
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Convert annotated texts between formats: i2b2, BRAT, CoNLL, spaCy, INCEpTION, TAB, MEDDOCAN, and ours.

    Results of other systems can be read if the package incognote-benchmarks is installed. Every span is checked against
    its text. A document with a span that does not fit, or that the output format cannot represent, is skipped and
    listed, and the exit code is 1.

    Example:
        incognote convert tests/data/notes.jsonl notes.conll
    """
    from incognote.evaluation.convert import convert as converted

    done = converted(source, out, form, to, types=types, overwrite=overwrite)
    if as_json:
        say("convert", done.as_dict())
    else:
        typer.echo("\n".join(done.lines()))
    if done.problems:
        raise typer.Exit(FAILURE)
