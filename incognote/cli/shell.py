"""What holds for every command: exit codes, errors on one line, nothing of a record in any message."""

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
"""Options that were called otherwise in 0.1, with their commands: the old name is accepted until the next version."""
_INSTALLED = f"{MORE}installed packages"
_PACKAGE = Path(__file__).resolve().parents[1]
# ClickException: newer releases of typer carry a click of their own and export no name for it.
_PARSER_FAULT = cast("type[Exception]", typer.BadParameter.__mro__[2])


def _failing(problem: IncognoteError) -> Callable[[], None]:
    def command() -> None:
        raise problem

    return command


class Shell(Group):
    """The top group: turns every error into one line on the standard error and an exit code."""

    _json = False

    def main(self, args: Sequence[str] | None = None, *more: Any, **words: Any) -> Any:
        args = _with_new_names(sys.argv[1:] if args is None else args)
        self._json = "--json" in args
        return super().main(args, *more, **words)

    def list_commands(self, ctx: Any) -> list[str]:
        """Our commands, and those of installed packages."""
        return [*super().list_commands(ctx), *installed("incognote.commands")]

    def get_command(self, ctx: Any, name: str) -> Any:
        """A command; those of other packages are loaded when they are asked for."""
        own = super().get_command(ctx, name)
        if own is None and name in installed("incognote.commands"):
            outer = typer.Typer()
            try:
                outer.add_typer(load("incognote.commands", name), name=name, rich_help_panel=_INSTALLED)
            except SettingError as problem:  # one broken package takes neither the help nor another command away
                outer.command(name, help=str(problem), rich_help_panel=_INSTALLED)(_failing(problem))
            return typer.main.get_group(outer).commands[name]
        return own

    def invoke(self, ctx: Any) -> Any:
        """Run the command.

        Raises:
            typer.Exit: with the exit code of whatever went wrong.
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
        except Exception as bug:  # its message may quote a record, so only its name and our own line are printed
            fault, code = type(bug).__name__, FAILURE
            message = f"unexpected {fault} in {_place(bug)}; please report this line, it holds nothing of a record"
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
    """The arguments, old names of options replaced by the new ones; each use of an old name is warned of."""
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
    """One line on the standard error."""
    typer.echo(f"incognote: {message}", err=True)


@cache
def remedies() -> dict[str, str]:
    """What each reason code means and what to do about it."""
    from incognote.reasons import reason_texts

    return {code: f"{text.means} {text.next}" for code, text in reason_texts().items()}


def put_out(data: bytes) -> None:
    """Bytes to the standard output as they are: no encoding of the terminal's, no translated line ends."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_list(path: str, ids: Iterable[str], option: str) -> None:
    """Ids of outputs, one a line, into a new file or a stream.

    They may be those of patients, so only the owner may read the file.

    Raises:
        UsageError: it cannot be written; what was done before stands.
    """
    from incognote.files.atomic import require_writable, write_atomic

    try:
        require_writable(Path(path), overwrite=False, option="it")
        write_atomic(Path(path), "".join(f"{id_}\n" for id_ in ids).encode(), private=True)
    except IncognoteError as error:
        raise UsageError(f"{option} cannot be written: {error} The command itself was completed.") from None


def _shut() -> None:
    """Give up a standard output that takes nothing more, so that the interpreter does not try again at its end."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _place(bug: BaseException) -> str:
    """The innermost line of ours that an exception went through."""
    ours = [
        f"{Path(frame.filename).resolve().relative_to(_PACKAGE).as_posix()}:{frame.lineno}"
        for frame in traceback.extract_tb(bug.__traceback__)
        if Path(frame.filename).resolve().is_relative_to(_PACKAGE)
    ]
    return ours[-1] if ours else "incognote"
