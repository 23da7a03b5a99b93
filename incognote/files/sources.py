"""Which files a run reads: the paths it was given, folders unfolded, in a fixed order."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Literal, cast

from incognote.errors import UsageError

Kind = Literal["text", "json", "lines", "csv", "tsv"]
KINDS: dict[str, Kind] = {
    ".txt": "text",
    ".json": "json",
    ".jsonl": "lines",
    ".ndjson": "lines",
    ".csv": "csv",
    ".tsv": "tsv",
}
FORMATS: dict[str, Kind] = {"text": "text", "json": "json", "jsonl": "lines", "csv": "csv", "tsv": "tsv"}
STDIN = "-"
READABLE = ".txt, .json, .jsonl, .ndjson, .csv, .tsv, each also .gz"


@dataclass(frozen=True, slots=True)
class Source:
    """One file to read, or the standard input.

    Args:
        path: None for the standard input.
        name: its path below the folder that was given, with `/`; the file's own name when it was given itself; may be
            PHI.
        kind: how records stand in it.
        gz: whether it is compressed with gzip.
        size: bytes on disk, for progress; 0 where unknown.
        opens: gives its bytes instead of the path, where it stands on no disk of this machine, or not the whole of it
            is meant.
    """

    path: Path | None = field(repr=False)
    name: str = field(repr=False)
    kind: Kind
    gz: bool = False
    size: int = 0
    opens: Callable[[], BinaryIO] | None = field(default=None, repr=False, compare=False)

    @property
    def suffix(self) -> str:
        """The suffixes that say what it is, e.g. `.jsonl.gz`; the only part of a name that is never PHI."""
        return suffix_of(self.name) or {kind: s for s, kind in reversed(KINDS.items())}[self.kind]


@dataclass(frozen=True, slots=True)
class Sources:
    """What a run reads.

    Attributes:
        files: in the order of the paths; within a folder sorted by path.
        folders: the folders that were given; nothing may be written into them.
        skipped: how many files of folders are of no readable kind.
    """

    files: tuple[Source, ...]
    folders: tuple[Path, ...]
    skipped: int


def suffix_of(name: str) -> str:
    """`.jsonl.gz` of `Notes.JSONL.gz` (in lower case); "" where the name is of no readable kind."""
    stem, gz = (name[:-3], ".gz") if name.lower().endswith(".gz") else (name, "")
    last = os.path.splitext(stem)[1].lower()
    return last + gz if last in KINDS else ""


def find(paths: Sequence[str], *, form: str | None = None) -> Sources:
    """The sources of some paths; a file named twice is read once.

    Args:
        paths: files and folders; `-` is the standard input.
        form: the format of the standard input and of files whose suffix says nothing (a key of FORMATS). Without it
            a standard input that begins with `{` is one record, any other is a text.

    Raises:
        UsageError: nothing there, an unknown format, a file of no readable kind, no readable file at all. The message
            counts the inputs and quotes no name, since file names can name patients.
    """
    if form is not None and form not in FORMATS:
        raise UsageError(f"--format is one of {', '.join(FORMATS)}")
    files: list[Source] = []
    folders: list[Path] = []
    seen: set[str] = set()
    skipped = 0
    for number, given in enumerate(paths, 1):
        path = Path(given)
        if given == STDIN:
            found = [Source(None, STDIN, FORMATS[form] if form else _sniffed())]
        elif path.is_dir():
            folders.append(path)
            found, strangers = _unfold(path)
            skipped += strangers
        elif os.path.exists(path):
            found = [_given(path, number, form)]
        else:
            raise UsageError(f"input {number} does not exist")
        for source in found:
            key = STDIN if source.path is None else os.path.realpath(source.path)
            if key not in seen:
                seen.add(key)
                files.append(source)
    if not files:
        raise UsageError(f"there is nothing to read: no file of a readable kind ({READABLE}), {skipped} of other kinds")
    return Sources(tuple(files), tuple(folders), skipped)


def _given(path: Path, number: int, form: str | None) -> Source:
    suffix = suffix_of(path.name)
    if not suffix and form is None:
        raise UsageError(
            f"input {number} is of no readable kind ({READABLE}): say which with --format {'|'.join(FORMATS)}"
        )
    kind = KINDS[suffix.removesuffix(".gz")] if suffix else FORMATS[str(form)]
    return Source(path, path.name, kind, path.name.lower().endswith(".gz"), _size(path))


def _unfold(folder: Path) -> tuple[list[Source], int]:
    """The readable files below a folder, sorted by their path, and how many there are of other kinds.

    Hidden files and folders, and links to folders, are left out: editors and operating systems keep theirs there.
    """
    found: list[Source] = []
    strangers = 0
    for place, inner, names in os.walk(folder, followlinks=False, onerror=_refuse):
        inner[:] = [name for name in inner if not name.startswith(".")]
        for name in names:
            path = Path(place, name)
            if name.startswith("."):
                continue
            suffix = suffix_of(name)
            if not suffix or not path.is_file():
                strangers += 1
                continue
            kind = KINDS[suffix.removesuffix(".gz")]
            found.append(Source(path, path.relative_to(folder).as_posix(), kind, suffix.endswith(".gz"), _size(path)))
    return sorted(found, key=lambda source: source.name), strangers


def _sniffed() -> Kind:
    """The kind of the standard input, which has no suffix that says it."""
    head = cast(io.BufferedReader, sys.stdin.buffer).peek(512)
    return "json" if head.removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"{" else "text"


def _refuse(error: OSError) -> None:
    raise UsageError("a folder among the inputs cannot be listed: check its permissions") from None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # reading it will say why
