"""Lists of outputs: their ids may be those of patients, and go into a file that is its owner's alone."""

from __future__ import annotations

import os
from collections.abc import Iterable

from incognote.errors import UsageError


def write_list(path: str, ids: Iterable[str], option: str) -> None:
    """One id a line, into a new file.

    Raises:
        UsageError: it cannot be written; what was done before stands.
    """
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise UsageError(f"{option} cannot be written: {error.strerror}; what was done stands") from None
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.writelines(f"{one}\n" for one in ids)
