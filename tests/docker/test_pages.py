"""The operators' pages name only commands and options that exist, including commands mentioned in the text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from incognote.cli import app

DOCS = Path(__file__).parents[2] / "docs"
PAGES = "api backup docker incident key-rotation keys operations runbooks upgrade worker".split()


def unknown(words: list[str]) -> list[str]:
    """Return the words of a command line that are not a command or an option. Values are ignored."""
    command = typer.main.get_command(app)
    while words and hasattr(command, "commands"):
        if words[0] not in command.commands:
            return [words[0]]
        command, words = command.commands[words[0]], words[1:]
    options = {flag for option in command.params for flag in option.opts}
    return [word for word in words if word.startswith("--") and word.partition("=")[0] not in options]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_commands_and_options_that_there_are(page: str) -> None:
    text = re.sub(r"\\\n\s*", " ", (DOCS / f"{page}.md").read_text(encoding="utf-8"))
    inline = re.findall(r"`incognote ([a-z][^`]*)`", text)
    blocks = re.findall(r"^ *(?:\$ )?incognote (?!serves on)([a-z][^\n#<]*)", text, re.M)
    assert inline or blocks
    assert [(line, wrong) for line in inline + blocks if (wrong := unknown(line.split()))] == []
