"""`incognote pack`: a site's own patterns, lists and staff names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incognote.cli import options
from incognote.cli.shell import FAILURE, say

app = typer.Typer(help="Site packs: new, test.", no_args_is_help=True)

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The pack's folder.", show_default=False)]


@app.command()
def new(folder: Folder) -> None:
    """Write a skeleton: patterns, lists, staff names and examples, each file with its explanation."""
    from incognote.detectors.packs import FILES, new_pack

    new_pack(folder)
    typer.echo(f"Written to {folder}: {', '.join(FILES)}")
    typer.echo(f"Fill them in, then: incognote pack test {folder}; use it with --pack {folder}")


@app.command("test")
def try_(
    folder: Folder,
    show: Annotated[
        bool, typer.Option("--show", help="Show the words of each failure, which can be PHI; on a terminal only.")
    ] = False,
    policy: options.Policy = None,
    as_json: options.AsJson = False,
) -> None:
    """Check a pack's files, and what the rules and its lists find in its examples."""
    from incognote.cli.showing import may_show, visible
    from incognote.detectors.packs import check_pack, failures, load_pack
    from incognote.errors import SettingError
    from incognote.schemas.policy import load_policy

    if policy is not None:
        load_policy(policy)  # its own entity types join the catalogue
    showing = may_show(show, anyway=False)
    try:
        pack = load_pack(folder)
    except SettingError:
        faults = check_pack(folder)
        lines, summary = faults, f"{len(faults)} fault{'s' * (len(faults) != 1)}: the pack cannot be used"
    else:
        found = failures(pack)
        lines = [f"{failure}: {visible(failure.words)!r}" if showing else str(failure) for failure in found]
        summary = (
            f"{pack.name} {pack.label}: {pack.rules} rules, {len(pack.known)} listed identifiers, "
            f"{len(pack.examples)} examples, {len(found)} failure{'s' * (len(found) != 1)}"
        )
    if as_json:
        say("pack test", {"problems": lines, "summary": summary})
    else:
        for line in lines:
            typer.echo(line)
        typer.echo(summary)
    if lines:
        raise typer.Exit(FAILURE)
