"""`incognote mcp`: serve the tools of incognote to a client of the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from incognote.cli import options


@options.takes_all
def mcp(
    ctx: typer.Context,
    root: Annotated[
        list[str] | None,
        typer.Option(
            help="A folder whose files the client may name by path; repeatable. Default: no file.", metavar="FOLDER"
        ),
    ] = None,
    policy: options.Policy = None,
    schemas: options.Schemas = None,
    packs: options.Packs = None,
    detectors: options.Detectors = None,
    data_type: options.DataType = None,
    roster: options.Roster = None,
    config: options.Config = None,
    key_file: options.KeyFile = None,
    *,
    models: options.ModelOptions,
) -> None:
    """Serve de-identification tools to a client of the Model Context Protocol.

    It uses standard input and output. The tools are deidentify, detect, and explain. The client, often a language
    model, gets released text, offsets, types, and reasons. It never gets the words of an identifier, or the text of a
    record that is held. Nothing is stored.

    Example:
        incognote mcp --root examples
    """
    from incognote.agents.manifest import incognote_version
    from incognote.cli.engine import engine
    from incognote.errors import UsageError
    from incognote.integrations.mcp import McpTools, serve

    for folder in root or ():
        if not Path(folder).is_dir():
            raise UsageError(f"--root: {folder} is not a folder. Use a folder that exists.")
    asked = options.EngineOptions(
        policy=policy, schemas=schemas, packs=packs, detectors=detectors, data_type=data_type, roster=roster,
        config=config, key_file=key_file,
    )  # fmt: skip
    made = engine(asked, models)
    ctx.with_resource(made)
    made.ready()
    serve(McpTools(made, [Path(folder) for folder in root or ()]), incognote_version())
