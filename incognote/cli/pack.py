"""`incognote pack`: create and test site packs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incognote.cli import options
from incognote.cli.help import App
from incognote.cli.shell import FAILURE, say
from incognote.runs.units import counted

app = App(help="Create and test site packs: a hospital's own lists and patterns.")

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the pack.", show_default=False)]


@app.command()
def new(folder: Folder) -> None:
    """Create a pack with sample patterns, lists, staff names, and examples. Each file explains itself.

    Example:
        incognote pack new our-hospital
    """
    from incognote.detectors.packs import FILES, new_pack

    new_pack(folder)
    typer.echo(f"Created in {folder}: {', '.join(FILES)}")
    typer.echo(f"Edit the files, then run: incognote pack test {folder}. To use the pack, add --pack {folder}")


@app.command("test")
def try_(
    folder: Folder,
    show: Annotated[
        bool, typer.Option("--show", help="Show the text of each failure. It can be PHI. Only on a terminal.")
    ] = False,
    policy: Annotated[
        str | None,
        typer.Option(help="A policy with entity types of your own that the pack uses.", metavar="NAME|FILE"),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Check the files of a pack, and run the rules and its lists on its examples.

    Example:
        incognote pack test our-hospital
    """
    from incognote.cli.showing import on_terminal, visible
    from incognote.detectors.packs import check_pack, failures, load_pack
    from incognote.errors import SettingError, UsageError
    from incognote.schemas.policy import load_policy

    if policy is not None:
        load_policy(policy)  # adds its entity types to the catalog
    if show and not on_terminal():
        raise UsageError("--show prints PHI, and the output is not a terminal. Run it in a terminal, without a pipe.")
    try:
        pack = load_pack(folder)
    except SettingError:
        faults = check_pack(folder)
        lines, summary = faults, f"{counted(len(faults), 'fault')}: the pack cannot be used"
    else:
        found = failures(pack)
        lines = [f"{failure}: {visible(failure.words)!r}" if show else str(failure) for failure in found]
        summary = (
            f"{pack.name} {pack.label}: {counted(pack.rules, 'rule')}, "
            f"{counted(len(pack.known), 'listed identifier')}, {counted(len(pack.examples), 'example')}, "
            f"{counted(len(found), 'failure')}"
        )
    if as_json:
        say("pack test", {"problems": lines, "summary": summary})
    else:
        for line in lines:
            typer.echo(line)
        typer.echo(summary)
    if lines:
        raise typer.Exit(FAILURE)
