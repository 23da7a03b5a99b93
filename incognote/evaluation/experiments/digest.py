"""Content hashes: what a cell stands on, told in a few characters."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import incognote
from incognote.errors import UsageError

_UNCOUNTED = ("evaluation", "cli", "testing")
"""Parts of the package that decide no prediction."""


def of_path(path: Path) -> str:
    """SHA-256, in hexadecimal, of a file, or of a folder's files, names and contents.

    Raises:
        UsageError: there is no such file, or it cannot be read.
    """
    if path.is_dir():
        return _of_files(path, [each for each in path.rglob("*") if each.is_file()])
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{path.name} cannot be read: {error.strerror or type(error).__name__}") from None


@cache
def of_code() -> str:
    """The first 16 digits of the hash of all code and data that decide a prediction."""
    root = Path(incognote.__file__).parent
    counted = [
        each
        for each in root.rglob("*")
        if each.is_file() and "__pycache__" not in each.parts and each.relative_to(root).parts[0] not in _UNCOUNTED
    ]
    return _of_files(root, counted)[:16]


def _of_files(root: Path, files: list[Path]) -> str:
    total = hashlib.sha256()
    for each in sorted(files):
        name = each.relative_to(root).as_posix().encode()
        total.update(len(name).to_bytes(4) + name + bytes.fromhex(of_path(each)))
    return total.hexdigest()
