"""Lists of outputs: their ids may be those of patients, and go into a file that is its owner's alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from incognote.errors import IncognoteError, UsageError
from incognote.files.atomic import free, write_whole


def write_list(path: str, ids: Iterable[str], option: str) -> None:
    """One id a line, into a new file or a stream.

    Raises:
        UsageError: it cannot be written; what was done before stands.
    """
    try:
        free(Path(path), overwrite=False, option="it")
        write_whole(Path(path), "".join(f"{one}\n" for one in ids).encode(), private=True)
    except IncognoteError as error:
        raise UsageError(f"{option} cannot be written: {error}; what was done stands") from None
