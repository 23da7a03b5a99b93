"""The source of a worker: its files, their versions, and their records. It is never written to."""

from __future__ import annotations

import hashlib
import io
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from datetime import time as clock_time
from decimal import Decimal
from functools import partial
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO, Literal, Protocol, cast

from incognote.errors import SourceUnavailable
from incognote.files import inputs
from incognote.files.inputs import Damaged, Input
from incognote.files.sources import Source
from incognote.formats import archive
from incognote.formats.json import JsonRecord
from incognote.formats.registry import is_gzip, name_of, suffix_of
from incognote.formats.tables import Layout
from incognote.nouns import Reason
from incognote.runs.location import Location, store_error
from incognote.text.container import is_hidden, of_bytes

ZSTD, PARQUET = ".zst", ".parquet"
Why = Literal["ready", "resting", "link-outside", "link-inside", "link-nowhere", "special", "unreadable"]
_TAGS = ("ETag", "etag", "generation", "content_md5", "md5Hash", "mtime", "LastModified", "last_modified", "updated")


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file that was found in the source.

    Args:
        name: its path below the source, with `/`.
        stamp: identifies its version: size, and time or tag.
        why: `ready`; `resting`: it may still be written to; `link-outside`, `link-inside`, `link-nowhere`: a link that
            leads out, to a file that is read anyway, or nowhere; `special`: a pipe, a socket or a device; `unreadable`:
            a folder that cannot be listed, or a file without status information.
    """

    name: str = field(repr=False)
    size: int
    stamp: str
    why: Why


class RecordSource(Protocol):
    """What a worker reads: the files of a folder or a store, or the windows of a table."""

    shown: str
    """The location as the user typed it, without credentials."""

    @property
    def moves(self) -> bool:
        """Whether a file may change while it is read."""

    def look(self, latest: Callable[[str], str | None] | None = None) -> Iterator[SeenFile]:
        """Yield the files, each with the reason why it is read or not.

        Args:
            latest: returns the name of the last file in the ledger, by the location.

        Raises:
            SourceUnavailable: it does not answer.
        """

    def location(self, name: str) -> str:
        """Return the identity of a file: the same for all of its versions."""

    def ranges(self, name: str, size: int, part_bytes: int) -> tuple[tuple[int, int | None], ...]:
        """Return the ranges of a file's parts."""

    def stamp(self, name: str) -> str | None:
        """Return the stamp of the current file with this name; None if there is none."""

    def read(self, name: str, start: int, stop: int | None, layout: Layout | None) -> Iterator[Input]:
        """Yield every record of a part."""


class WatchedSource:
    """A folder or the prefix of a store.

    Args:
        rest: the number of seconds that a file must be unchanged. In stores, objects appear as a whole.
        shown: the location as the user typed it.

    Raises:
        SourceUnavailable: it does not exist.
    """

    def __init__(self, where: Location, *, rest: float = 0.0, shown: str = "") -> None:
        self.where, self._rest, self.shown = where, rest, shown or where.root
        if where.store is None and not Path(where.root).is_dir():
            raise SourceUnavailable("The source must be a folder or a storage URL such as s3://bucket/notes.")

    @property
    def moves(self) -> bool:
        """Whether a file may change while it is read. An object of a store appears as a whole."""
        return self.where.store is None

    def location(self, name: str) -> str:
        """Return the identity of a file: the same for all of its versions."""
        return name

    def ranges(self, name: str, size: int, part_bytes: int) -> tuple[tuple[int, int | None], ...]:
        """Return the byte ranges of a file's parts."""
        return part_ranges(name, size, part_bytes)

    def read(self, name: str, start: int, stop: int | None, layout: Layout | None) -> Iterator[Input]:
        """Yield every record of a part (`read_part`)."""
        return read_part(self, name, start, stop, layout)

    def look(self, latest: Callable[[str], str | None] | None = None) -> Iterator[SeenFile]:
        """Yield all files, each with the reason why it is read or not.

        Args:
            latest: not used, since all files are listed each time.

        Raises:
            SourceUnavailable: it cannot be listed.
        """
        return self._look_in_folder() if self.where.store is None else self._look_in_store()

    def stamp(self, name: str) -> str | None:
        """Return the stamp of the current file with this name; None if there is none.

        Raises:
            SourceUnavailable: the source does not answer.
        """
        try:
            if self.where.store is None:
                return _stamp(os.stat(self._path(name)))
            self.where.store.invalidate_cache()
            return _tag(self.where.store.info(self._path(name)))
        except FileNotFoundError:
            return None
        except Exception as error:  # stores have many error classes of their own
            if self.where.store is None:
                return None  # a revoked permission or a link: the next `look` gives the reason
            raise SourceUnavailable(f"The source does not answer ({store_error(error)}).") from None

    def open(self, name: str) -> BinaryIO:
        """Return its bytes as a seekable stream.

        Raises:
            OSError: in a folder, the file is gone or may not be read.
            SourceUnavailable: the store failed.
        """
        if self.where.store is None:
            flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)  # it was not a link when it was found
            return os.fdopen(os.open(self._path(name), flags), "rb")
        try:
            return cast(BinaryIO, self.where.store.open(self._path(name), "rb"))
        except (FileNotFoundError, PermissionError):
            raise
        except Exception as error:  # stores have many error classes of their own
            raise SourceUnavailable(f"The source does not answer ({store_error(error)}).") from None

    def _path(self, name: str) -> str:
        return f"{self.where.root}/{name}"

    def _look_in_folder(self) -> Iterator[SeenFile]:
        """Leave out hidden files and folders, since editors and operating systems keep their data there."""
        root, now = self.where.root, time.time()
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(self._path(folder)) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except FileNotFoundError:
                if folder:
                    continue  # removed since
                raise SourceUnavailable("The source no longer exists.") from None
            except OSError as error:
                if not folder:
                    raise SourceUnavailable(f"The source cannot be listed: {error.strerror}.") from None
                yield SeenFile(folder, 0, "", "unreadable")
                continue
            for entry in found:
                name = folder + entry.name
                if is_hidden(entry.name):
                    continue
                if entry.is_symlink():
                    inside = os.path.realpath(entry.path).startswith(root + "/")
                    whither: Why = "link-outside"
                    if inside:
                        whither = "link-inside" if os.path.exists(entry.path) else "link-nowhere"
                    yield SeenFile(name, 0, "", whither)
                elif entry.is_dir():
                    waiting.append(name + "/")
                else:
                    try:
                        stat = entry.stat()
                    except FileNotFoundError:
                        continue
                    except OSError:
                        yield SeenFile(name, 0, "", "unreadable")
                        continue
                    if not S_ISREG(stat.st_mode):
                        yield SeenFile(name, 0, "", "special")
                        continue
                    resting = 0 <= now - stat.st_mtime < self._rest  # a future time proves nothing: clocks differ
                    yield SeenFile(name, stat.st_size, _stamp(stat), "resting" if resting else "ready")

    def _look_in_store(self) -> Iterator[SeenFile]:
        store = self.where.store
        assert store is not None  # checked by the caller
        try:
            store.invalidate_cache()
            found: dict[str, dict[str, Any]] = store.find(self.where.root, detail=True)
        except Exception as error:  # stores have many error classes of their own
            raise SourceUnavailable(f"The source cannot be listed ({store_error(error)}).") from None
        for path in sorted(found):
            name = path.removeprefix(self.where.root).lstrip("/")
            if any(map(is_hidden, name.split("/"))):
                continue
            yield SeenFile(name, int(found[path].get("size") or 0), _tag(found[path]), "ready")


def _stamp(stat: os.stat_result) -> str:
    return f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino}"


def _tag(info: dict[str, Any]) -> str:
    tags = [str(info[name]) for name in _TAGS if info.get(name)]
    return hashlib.sha256(" ".join((str(info.get("size")), *tags)).encode()).hexdigest()


_BLOCK = 2**16
_COMPRESSED = 2**10  # bytes per step: the most compressible ones become about 32 MB
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_ROWS = 256
_DAMAGED = Reason("malformed-table", "", "not a valid Parquet file, or it has values that JSON cannot represent")


def part_ranges(name: str, size: int, part_bytes: int) -> tuple[tuple[int, int | None], ...]:
    """Return the byte ranges of a file's parts. Only an uncompressed file of lines can have several."""
    lower = name.lower()
    if not lower.endswith((".jsonl", ".ndjson")) or size <= part_bytes:
        return ((0, None),)
    starts = range(0, size, part_bytes)
    return tuple((start, start + part_bytes if start + part_bytes < size else None) for start in starts)


def read_part(
    watched: WatchedSource, name: str, start: int, stop: int | None, layout: Layout | None
) -> Iterator[Input]:
    """Yield every record of a part. For lines, these are the lines that begin in it, so the last one may end after it.

    A file whose name does not give a readable format is one input with its reason.

    Args:
        layout: how tables are read.

    Raises:
        SourceUnavailable: the store stopped answering. A problem in a folder is an Input with its reason instead.
    """
    lower = name.lower()
    if lower.endswith(PARQUET) and layout is None:  # rows that name their schema, or are notes
        yield from _rows(watched, name)
        return
    suffix = suffix_of(lower.removesuffix(ZSTD))
    kind = name_of(suffix)
    opens: Callable[[], BinaryIO] = partial(
        _opened, watched, name, start, stop, zstd=bool(suffix) and lower.endswith(ZSTD)
    )
    if kind in archive.KINDS and lower.endswith(suffix):  # not Zstandard
        opens = partial(watched.open, name)  # seekable, also in a store
    source = Source(None, name, kind, is_gzip(suffix), opens=opens, shown=_shown(watched, name))
    yield from inputs.read(source, layout)


def _shown(watched: WatchedSource, name: str) -> str:
    return f"{watched.shown.rstrip('/')}/{name}"


def _opened(watched: WatchedSource, name: str, start: int, stop: int | None, *, zstd: bool) -> BinaryIO:
    raw = watched.open(name)
    if zstd:
        return cast(BinaryIO, io.BufferedReader(_Stream(_decompressed(raw), raw.close)))
    if (start, stop) == (0, None):
        return raw if hasattr(raw, "peek") else cast(BinaryIO, io.BufferedReader(_Stream(raw.read, raw.close)))
    whole = raw.read(2) in _UTF_16  # its lines cannot be split at single bytes, so the first part takes all
    begin = 0 if whole else _line_at(raw, start)
    end = (None if start == 0 else 0) if whole else None if stop is None else _line_at(raw, stop)
    raw.seek(begin)
    left = end - begin if end is not None else None

    def some(most: int) -> bytes:
        nonlocal left
        data = raw.read(most if left is None else min(most, left))
        if left is not None:
            left -= len(data)
        return data

    return cast(BinaryIO, io.BufferedReader(_Stream(some, raw.close), _BLOCK))


def _decompressed(raw: BinaryIO) -> Callable[[int], bytes]:
    """Return a `read` function for data that Zstandard compressed, frame after frame.

    zstandard's own reader treats a frame that was cut off as complete, and so half a note as a whole one. This one does
    not.

    Raises:
        Damaged: raised by the returned function. The data is not Zstandard, or is cut off.
    """
    from zstandard import ZstdDecompressor, ZstdError

    def pieces() -> Iterator[bytes]:
        frame = None
        while block := raw.read(_COMPRESSED):
            while block:
                frame = frame or ZstdDecompressor().decompressobj()
                yield frame.decompress(block)
                block, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
        if frame is not None:
            raise Damaged

    stream, left = pieces(), memoryview(b"")

    def read(most: int) -> bytes:
        nonlocal left
        try:
            while not left and (piece := next(stream, None)) is not None:
                left = memoryview(piece)
        except ZstdError:
            raise Damaged from None
        data, left = bytes(left[:most]), left[most:]
        return data

    return read


def _line_at(raw: BinaryIO, at: int) -> int:
    """Return the offset of the first line that begins at or after an offset."""
    if at == 0:
        return 0
    where = at - 1
    raw.seek(where)
    while block := raw.read(_BLOCK):
        found = block.find(b"\n")
        if found >= 0:
            return where + found + 1
        where += len(block)
    return where


class _Stream(io.RawIOBase):
    """A raw stream of the bytes that a function returns."""

    def __init__(self, read: Callable[[int], bytes], close: Callable[[], Any]) -> None:
        self._read, self._close = read, close

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._close()
        super().close()


def _rows(watched: WatchedSource, name: str) -> Iterator[Input]:
    """Yield the rows of a Parquet file, each as the JSON of a record."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    opens = partial(watched.open, name)
    source, position = Source(None, name, "lines", opens=opens, shown=_shown(watched, name)), 0
    try:
        raw = watched.open(name)
    except OSError as error:
        yield inputs.unread(source, 1, error)
        return
    try:
        with raw:
            for batch in ParquetFile(raw).iter_batches(batch_size=_ROWS):
                for row in batch.to_pylist():
                    position += 1
                    yield Input(source, position, JsonRecord(json.dumps(row, ensure_ascii=False, default=_spoken)))
    except (ArrowException, OSError, TypeError, ValueError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # Arrow's own errors for damage have no errno
            yield inputs.unread(source, position + 1, error)
        elif position:
            yield Input(source, position + 1, None, error=_DAMAGED)
        else:
            one = inputs.turned_away(source, _DAMAGED)
            yield replace(one, error=_DAMAGED) if one.raw and of_bytes(one.raw) == "Parquet" else one


def _spoken(value: object) -> str:
    if isinstance(value, date | datetime | clock_time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError
