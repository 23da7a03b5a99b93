"""JSON lines as we read them: a value a line, blank lines aside, each with its number."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from incognote.errors import IncognoteError, UsageError


def rows(text: str, name: str, fault: type[IncognoteError] = UsageError) -> Iterator[tuple[int, Any]]:
    """The values of a text, each with the number of its line, from 1.

    A line ends at a line feed only: JSON may hold U+2028 or U+0085 as they are, where `str.splitlines` would part it.

    Args:
        name: what an error calls the text.

    Raises:
        fault: a line is not JSON; it gives the line's number, never its words.
    """
    return _values(text.removeprefix("\ufeff").split("\n"), name, fault)


def read_rows(path: str | Path, name: str | None = None) -> Iterator[tuple[int, Any]]:
    """The values of a file, as `rows` gives them; no more than a line is in memory.

    Args:
        name: what an error calls the file; its own name by default.

    Raises:
        UsageError: it cannot be read, or a line is not JSON.
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
