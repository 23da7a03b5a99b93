"""Behavior that all commands share: exit codes, one-line errors, and messages without record data."""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

import typer

from incognote.cli.help import MORE, Group
from incognote.errors import IncognoteError, SettingError, UsageError
from incognote.plugins import installed, load

FAILURE, USAGE, HELD, INTERRUPTED = 1, 2, 3, 130
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_RENAMED = {"--lab": ("--destination", ("worker", "recall", "forget"))}
"""Options that were renamed after 0.1, with their commands. The old names are accepted until the next version."""
_INSTALLED = f"{MORE}installed packages"
_PACKAGE = Path(__file__).resolve().parents[1]
# ClickException. Newer releases of Typer bundle their own Click and do not export this name.
_PARSER_FAULT = cast("type[Exception]", typer.BadParameter.__mro__[2])


def _failing(problem: IncognoteError) -> Callable[[], None]:
    def command() -> None:
        raise problem

    return command


class Shell(Group):
    """The top-level group. It turns every error into one line on standard error and an exit code."""

    _json = False

    def main(self, args: Sequence[str] | None = None, *more: Any, **words: Any) -> Any:
        args = _with_new_names(sys.argv[1:] if args is None else args)
        self._json = "--json" in args
        return super().main(args, *more, **words)

    def list_commands(self, ctx: Any) -> list[str]:
        """Return our commands and those of installed packages."""
        return [*super().list_commands(ctx), *installed("incognote.commands")]

    def get_command(self, ctx: Any, name: str) -> Any:
        """Return a command. Commands of other packages are loaded on demand."""
        own = super().get_command(ctx, name)
        if own is None and name in installed("incognote.commands"):
            outer = typer.Typer()
            try:
                outer.add_typer(load("incognote.commands", name), name=name, rich_help_panel=_INSTALLED)
            except SettingError as problem:  # a broken package must not break the help or other commands
                outer.command(name, help=str(problem), rich_help_panel=_INSTALLED)(_failing(problem))
            return typer.main.get_group(outer).commands[name]
        return own

    def invoke(self, ctx: Any) -> Any:
        """Run the command.

        Raises:
            typer.Exit: with the exit code of the error.
        """
        try:
            return super().invoke(ctx)
        except IncognoteError as error:
            fault, message, code = type(error).__name__, str(error), USAGE if isinstance(error, UsageError) else FAILURE
        except KeyboardInterrupt:
            fault, message, code = "Interrupted", "Interrupted. No output is left half-written.", INTERRUPTED
            if ctx.invoked_subcommand == "deid":
                message += " To continue a run with --out FOLDER, repeat the command with --resume."
        except (_PARSER_FAULT, typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as bug:  # its message can quote a record, so print only its class and our source line
            fault, code = type(bug).__name__, FAILURE
            message = f"unexpected {fault} in {_place(bug)}. Please report this line. It contains no record data."
            if isinstance(bug, OSError) and bug.errno in _FULL:
                message = f"the output cannot be written: {bug.strerror}"
        try:
            if self._json:
                say(ctx.invoked_subcommand or "", error={"code": fault, "message": message})
            sys.stdout.flush()
        except OSError:
            _shut()
        typer.echo(f"incognote: {message}", err=True)
        raise typer.Exit(code)


def _with_new_names(args: Sequence[str]) -> list[str]:
    """Return the arguments with old option names replaced by the new ones. Each old name causes a warning."""
    renamed = []
    for arg in args:
        name, separator, value = arg.partition("=")
        new, commands = _RENAMED.get(name, ("", ()))
        if args[0] in commands:
            warn(f"{name} was renamed to {new}. The next version will not accept {name}.")
            arg = new + separator + value
        renamed.append(arg)
    return renamed


def say(command: str, data: dict[str, Any] | None = None, *, error: dict[str, str] | None = None) -> None:
    """Print the one line of `--json`: `{"ok", "command", "data" | "error"}`."""
    line: dict[str, Any] = {"ok": error is None, "command": command}
    line["error" if error else "data"] = error or data
    typer.echo(json.dumps(line))


def warn(message: str) -> None:
    """Print one line on standard error."""
    typer.echo(f"incognote: {message}", err=True)


@cache
def remedies() -> dict[str, str]:
    """Return the meaning and the remedy of each reason code."""
    from incognote.reasons import reason_texts

    return {code: f"{text.means} {text.next}" for code, text in reason_texts().items()}


def put_out(data: bytes, remedy: str = "Use --out, or redirect it to a file.") -> None:
    """Write bytes to standard output unchanged, without the terminal's encoding or line-end translation.

    Args:
        remedy: what a user of a terminal can do with a binary file.

    Raises:
        UsageError: they are binary, such as those of a PDF, and the standard output is a terminal.
    """
    if b"\0" in data and sys.stdout.isatty():
        raise UsageError(f"The output is a binary file, which a terminal cannot show. {remedy}")
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_list(path: str, ids: Iterable[str], option: str) -> None:
    """Write output ids to a new file or a stream, one per line.

    The ids can identify patients, so only the owner can read the file.

    Raises:
        UsageError: the file cannot be written. The command itself was completed.
    """
    from incognote.files.atomic import require_writable, write_atomic

    try:
        require_writable(Path(path), overwrite=False, option="it")
        write_atomic(Path(path), "".join(f"{id_}\n" for id_ in ids).encode(), private=True)
    except IncognoteError as error:
        raise UsageError(f"{option} cannot be written: {error} The command itself was completed.") from None


def _shut() -> None:
    """Redirect a broken standard output, so that the interpreter does not fail on it at exit."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _place(bug: BaseException) -> str:
    """Return the innermost line of our code in the traceback of an exception."""
    ours = [
        f"{Path(frame.filename).resolve().relative_to(_PACKAGE).as_posix()}:{frame.lineno}"
        for frame in traceback.extract_tb(bug.__traceback__)
        if Path(frame.filename).resolve().is_relative_to(_PACKAGE)
    ]
    return ours[-1] if ours else "incognote"
