"""Read JSON lines: one value per line, numbered, without blank lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from incognote.errors import IncognoteError, UsageError


def rows(text: str, name: str, fault: type[IncognoteError] = UsageError) -> Iterator[tuple[int, Any]]:
    """Yield the values of a text, each with its line number, starting at 1.

    A line ends at a line feed only. JSON may contain a raw U+2028 or U+0085, where `str.splitlines` would split it.

    Args:
        name: the name of the text in error messages.

    Raises:
        fault: a line is not JSON. The error gives the line's number, never its content.
    """
    return _values(text.removeprefix("\ufeff").split("\n"), name, fault)


def read_rows(path: str | Path, name: str | None = None) -> Iterator[tuple[int, Any]]:
    """Yield the values of a file like `rows`. Only one line at a time is in memory.

    Args:
        name: the name of the file in error messages; its own name by default.

    Raises:
        UsageError: the file cannot be read, or a line is not JSON.
    """
    name = Path(path).name if name is None else name
    try:
        with Path(path).open(encoding="utf-8-sig", newline="\n") as lines:
            yield from _values(lines, name, UsageError)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{name} cannot be read ({type(error).__name__}). It must be a file of JSON lines in UTF-8."
        ) from None


def _values(lines: Iterable[str], name: str, fault: type[IncognoteError]) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                raise fault(f"{name}, line {number}: not JSON") from None
            yield number, value
