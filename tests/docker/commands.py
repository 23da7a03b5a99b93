"""Checks command lines against incognote's: the command, each option, and all required arguments."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from incognote.cli import app


def problems(words: Sequence[str]) -> list[str]:
    """Return the problems in the words after `incognote`. Nothing is run."""
    found = typer.main.get_command(app)
    rest = list(words)
    while hasattr(found, "commands"):
        name = rest.pop(0)
        if name not in found.commands:
            return [f"no command {name}"]
        found = found.commands[name]
    options = {flag: one for one in found.params for flag in one.opts if flag.startswith("-")}
    arguments = [one for one in found.params if not any(flag.startswith("-") for flag in one.opts)]
    given: set[str] = set()
    plain = 0
    for word in rest:
        flag, separator, _ = word.partition("=")
        if not word.startswith("-"):
            plain += 1
        elif flag not in options:
            return [f"no option {flag}"]
        elif bool(separator) == bool(getattr(options[flag], "is_flag", False)):
            return [f"{flag} is written FLAG, or OPTION=VALUE"]
        else:
            given.add(options[flag].name)
    missing = [one.name for one in found.params if one.required and one.name not in given and one not in arguments]
    if plain < sum(one.required for one in arguments) or plain > len(arguments):
        missing.append("the right number of arguments")
    return [f"{name} is missing" for name in missing]
