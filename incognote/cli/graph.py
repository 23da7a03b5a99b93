"""`incognote graph`: the machine as a picture in text."""

from __future__ import annotations

import typer


def graph() -> None:
    """Print the LangGraph machine as Mermaid text; nothing leaves this computer."""
    from incognote.agents.graph import drawing

    typer.echo(drawing().rstrip())
