"""Find the files that a run reads: the given paths, with folders expanded, in a fixed order.

Every file of a folder is a source, whatever its name. Its content determines what it is. A file that cannot be read is
also a source, with the reason.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, cast

from incognote.errors import UsageError
from incognote.formats.encoding import peeked
from incognote.formats.registry import OPTIONS, OTHER, every, is_gzip, name_of, named, of_content, suffix_of
from incognote.text.container import is_hidden

STDIN = "-"
_SAME = "a link to a file that is already read under another name"
_WITHIN = "!/"  # between the path of an archive and that of a file in it
_OUTSIDE = "a link to a file outside the folder. Name the link or the file itself"


BLOCK_FILES, BLOCK_BYTES = 64, 1_000_000
"""The size of a block: consecutive small files, whose records may share requests to a language model.

A run that is continued repeats whole blocks. Otherwise the records of its first half would get other requests, and a
replay could not rebuild them.
"""


@dataclass(frozen=True, slots=True)
class Source:
    """The place that a run reads records from: a file or standard input.

    Args:
        path: None for the standard input.
        name: its path below the given folder, with `/`, or the file's own name if it was given itself. May be PHI.
        kind: the name of its format, by its name or the user, or by its content once that is read; `other` for none.
        gz: whether it is compressed with gzip.
        size: bytes on disk, for progress; 0 if unknown.
        opens: returns its bytes instead of the path, if it is not on a local disk, or if only a part of it is meant.
        shown: its path as the user typed it, for the user alone. May be PHI.
        unread: why its bytes cannot be read; "" if they can, as far as is known.
        block: the number of its block (`BLOCK_FILES`).
        archive: the archive that it is in; None if it is in none.
        others: for an archive, the format of its files whose suffix gives none.
    """

    path: Path | None = field(repr=False)
    name: str = field(repr=False)
    kind: str = field(compare=False)
    gz: bool = False
    size: int = 0
    opens: Callable[[], BinaryIO] | None = field(default=None, repr=False, compare=False)
    shown: str = field(default="", repr=False, compare=False)
    unread: str = field(default="", compare=False)
    block: int = field(default=0, compare=False)
    archive: Source | None = field(default=None, repr=False, compare=False)
    others: str = field(default=OTHER, compare=False)

    @property
    def suffix(self) -> str:
        """The suffixes that give its format, such as `.jsonl.gz`. They are the only part of a name that is never PHI.

        They are those of its name, unless its content has another format.
        """
        given = suffix_of(self.name)
        if self.kind == OTHER or (given and name_of(given) == self.kind):
            return given
        return named(self.kind).suffixes[0] + ".gz" * self.name.lower().endswith(".gz")

    @property
    def single_pass(self) -> bool:
        """Whether its bytes can be read only once, as with the standard input, a pipe, or a file in an archive."""
        if self.archive is not None:
            return True
        return self.opens is None and (self.path is None or not os.path.isfile(self.path))

    @property
    def chain(self) -> tuple[Source, ...]:
        """The archives that it is in, the outermost first, and itself."""
        return (self,) if self.archive is None else (*self.archive.chain, self)

    @property
    def file(self) -> Source:
        """The file that was given or found: itself, or the outermost archive that it is in."""
        return self.chain[0]

    @property
    def inner_name(self) -> str:
        """Its path within its archive; its name if it is in none."""
        return self.name if self.archive is None else self.name[len(self.archive.name) + len(_WITHIN) :]

    def member(self, name: str, opens: Callable[[], BinaryIO]) -> Source:
        """Return a file of this archive, by its path in the archive."""
        return replace(
            _named(name, self.others), name=f"{self.name}{_WITHIN}{name}", shown=f"{self.shown}{_WITHIN}{name}",
            opens=opens, block=self.block, archive=self,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of a run.

    Attributes:
        files: in the order of the paths; within a folder sorted by path.
        folders: the folders that were given. No output may be written into them.
        hidden: hidden files and folders, and system files, which are left out, as the user would type them.
            May be PHI.
    """

    files: tuple[Source, ...]
    folders: tuple[Path, ...]
    hidden: tuple[str, ...] = field(default=(), repr=False)


def find(paths: Sequence[str], *, form: str | None = None, missing: bool = False) -> Sources:
    """Return the sources for some paths. A file named twice is read once.

    Args:
        paths: files and folders; `-` is the standard input.
        form: the format of the standard input and of files whose suffix gives none (see `--format`). Without it, the
            content of the standard input determines whether it is a record, lines of records or a text.
        missing: if some paths do not exist and others do, turn each missing path into a source with the reason.

    Raises:
        UsageError: a path does not exist, the format is unknown, or there is nothing to read. The message names the
            path as it was given.
    """
    if form is not None:
        try:
            form = named(form).name
        except KeyError:
            options = {name: option for option, name in OPTIONS.items()}
            raise UsageError(
                f"--format must be one of {', '.join(options.get(name, name) for name in every())}."
            ) from None
    files: list[Source] = []
    folders: list[Path] = []
    hidden: list[str] = []
    absent: list[str] = []
    for given in paths:
        if given == STDIN:
            found = [Source(None, STDIN, form or _sniffed(), shown="the standard input")]
        elif os.path.isdir(given):
            folders.append(Path(given))
            found = _unfold(given, form, hidden)
        else:
            try:
                os.lstat(given)
            except (FileNotFoundError, NotADirectoryError):
                absent.append(given)
            except OSError:
                pass  # the source gives the reason
            found = [_source(Path(given), Path(given).name, given, form)]
        files += found
    if absent and (not missing or len(absent) == len(files)):
        raise UsageError(f"{', '.join(absent)}: no such file or folder.")
    if not files:
        raise UsageError(f"There are no files to read in {', '.join(paths)}{', only hidden files' if hidden else ''}.")
    return Sources(tuple(_in_blocks(_unique(files))), tuple(folders), tuple(hidden))


def _in_blocks(files: Sequence[Source]) -> Iterator[Source]:
    """Yield the files with the numbers of their blocks. A large file is a block of its own."""
    block = small = 0
    for source in files:
        large = source.size > BLOCK_BYTES
        if small == BLOCK_FILES or (large and small):
            block, small = block + 1, 0
        yield replace(source, block=block)
        block, small = (block + 1, 0) if large else (block, small + 1)


def _unique(files: Sequence[Source]) -> list[Source]:
    """Return each file once, however often it is named. A link to another source gets a reason, and is not read.

    A file that is not read as a part of its folder is still read if it is named itself.
    """
    plain = {os.path.realpath(one.path) for one in files if one.path is not None and not one.path.is_symlink()}
    kept: dict[str, Source] = {}
    read: set[str] = set()
    for source in files:
        place = where = STDIN
        if source.path is not None:
            where = os.path.realpath(source.path)
            place = os.path.join(os.path.realpath(source.path.parent), source.path.name)
        earlier = kept.get(place)
        if earlier is not None:
            if source.unread or not earlier.unread:
                continue
            source = replace(earlier, unread="")
        if not source.unread and place != where and (where in plain or where in read):
            source = replace(source, unread=_SAME)
        elif not source.unread:
            read.add(where)
        kept[place] = source
    return list(kept.values())


def _source(path: Path, name: str, shown: str, form: str | None, *, within: str | None = None) -> Source:
    """Return one file by its name. Its kind is `other` if neither its suffix nor `form` gives one.

    Args:
        within: the real path of the folder that was expanded. Pipes, devices and links that lead out of the folder are
            read only if they are named themselves.
    """
    unread, size = "", 0
    try:
        told = path.stat()
        size = told.st_size
        if within is not None and path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(within):
            unread = _OUTSIDE
        elif within is not None and not stat.S_ISREG(told.st_mode):
            unread = "a pipe, a socket, or a device"
    except OSError as error:
        unread = "a broken link" if path.is_symlink() else reason_of(error)
    return replace(_named(name, form or OTHER), path=path, size=size, shown=shown, unread=unread)


def _named(name: str, others: str) -> Source:
    """Return a source with what its name says.

    Args:
        others: the format if its suffix gives none.
    """
    suffix = suffix_of(name)
    kind = name_of(suffix) if suffix else others
    return Source(None, name, kind, kind != OTHER and is_gzip(name), others=others)


def _unfold(folder: str, form: str | None, hidden: list[str]) -> list[Source]:
    """Return the files below a folder, sorted by path, and the entries that cannot be read.

    Hidden files and folders are left out, since editors and operating systems keep their data there. A link out of the
    folder is not followed. Nor is a link to a folder inside, which is read anyway.
    """
    found: list[Source] = []
    root = os.path.realpath(folder)

    def told(place: str, name: str) -> tuple[Path, str, str]:
        path = Path(place, name)
        below = path.relative_to(folder).as_posix()
        return path, below, os.path.join(folder, below)

    def unlisted(error: OSError) -> None:
        where = Path(error.filename or folder)
        below = where.relative_to(folder).as_posix() if where.is_relative_to(folder) else ""
        shown = os.path.join(folder, "" if below == "." else below)
        found.append(Source(where, below, OTHER, shown=shown, unread=f"a folder: {reason_of(error)}"))

    for place, inner, names in os.walk(folder, followlinks=False, onerror=unlisted):
        hidden += [told(place, name)[2] for name in (*inner, *names) if is_hidden(name)]
        inner[:] = [name for name in inner if not is_hidden(name)]
        for name in inner:
            path, below, shown = told(place, name)
            if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(root):
                why = "a link to a folder, which is not followed. Name the folder itself"
                found.append(Source(path, below, OTHER, shown=shown, unread=why))
        found += [_source(*told(place, name), form, within=root) for name in names if not is_hidden(name)]
    return sorted(found, key=lambda source: source.name)


def _sniffed() -> str:
    """Return the format of the standard input, which has no suffix."""
    return of_content(peeked(cast(BinaryIO, sys.stdin.buffer))).name


def reason_of(error: OSError) -> str:
    """Return what may be shown of a file error: the system's reason or the error's class, never its message."""
    reason = error.strerror or type(error).__name__
    return reason if error.errno == 0 else reason.lower()  # 0: our own words, from `Source.unread`
