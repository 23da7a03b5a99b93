"""The source of a worker: what is there, in which version, and its records. Nothing is ever written there."""

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
from typing import Any, BinaryIO, Literal, cast

from incognote.errors import SourceUnavailable
from incognote.files import inputs
from incognote.files.inputs import Damaged, Input
from incognote.files.sources import Source
from incognote.formats.json import JsonRecord
from incognote.formats.registry import name_of, suffix_of
from incognote.formats.tables import Layout
from incognote.nouns import Reason
from incognote.runs.location import Location, store_error
from incognote.text.container import of_bytes

ZSTD, PARQUET = ".zst", ".parquet"
Why = Literal["ready", "resting", "link-outside", "link-inside", "link-nowhere", "special", "unreadable"]
_TAGS = ("ETag", "etag", "generation", "content_md5", "md5Hash", "mtime", "LastModified", "last_modified", "updated")


@dataclass(frozen=True, slots=True)
class SeenFile:
    """A file that was seen.

    Args:
        name: its path below the source, with `/`.
        stamp: of its version: size, and time or tag.
        why: `ready`; `resting`: its writer may not be done; a link that leads out, to what is read anyway,
            or nowhere;
            `special`: a pipe, a socket or a device; `unreadable`: a folder that cannot be listed, a file of which the
            system says nothing.
    """

    name: str = field(repr=False)
    size: int
    stamp: str
    why: Why


class WatchedSource:
    """A folder or the prefix of a store.

    Args:
        rest: seconds that a file must not have changed for; in stores objects appear whole.
        shown: the location as the user typed it.

    Raises:
        SourceUnavailable: it is not there.
    """

    def __init__(self, where: Location, *, rest: float = 0.0, shown: str = "") -> None:
        self.where, self._rest, self.shown = where, rest, shown or where.root
        if where.store is None and not Path(where.root).is_dir():
            raise SourceUnavailable("The source must be a folder or a storage URL such as s3://bucket/notes.")

    def look(self) -> Iterator[SeenFile]:
        """All files, each with why it is read or not.

        Raises:
            SourceUnavailable: it cannot be listed.
        """
        return self._look_in_folder() if self.where.store is None else self._look_in_store()

    def stamp(self, name: str) -> str | None:
        """Of what is there now under a name; None for nothing.

        Raises:
            SourceUnavailable: nobody can say.
        """
        try:
            if self.where.store is None:
                return _stamp(os.stat(self._path(name)))
            self.where.store.invalidate_cache()
            return _tag(self.where.store.info(self._path(name)))
        except FileNotFoundError:
            return None
        except Exception as error:  # a store's own classes are many
            if self.where.store is None:
                return None  # a right that was taken away, a link: the next look says which
            raise SourceUnavailable(f"The source does not answer ({store_error(error)}).") from None

    def open(self, name: str) -> BinaryIO:
        """Its bytes, seekable.

        Raises:
            OSError: of a folder: it is gone, or may not be read.
            SourceUnavailable: of a store.
        """
        if self.where.store is None:
            flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)  # it was no link when it was seen
            return os.fdopen(os.open(self._path(name), flags), "rb")
        try:
            return cast(BinaryIO, self.where.store.open(self._path(name), "rb"))
        except (FileNotFoundError, PermissionError):
            raise
        except Exception as error:  # a store's own classes are many
            raise SourceUnavailable(f"The source does not answer ({store_error(error)}).") from None

    def _path(self, name: str) -> str:
        return f"{self.where.root}/{name}"

    def _look_in_folder(self) -> Iterator[SeenFile]:
        """Hidden files and folders are left out: editors and operating systems keep theirs there."""
        root, now = self.where.root, time.time()
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            try:
                with os.scandir(self._path(folder)) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
            except FileNotFoundError:
                if folder:
                    continue  # taken away since
                raise SourceUnavailable("The source no longer exists.") from None
            except OSError as error:
                if not folder:
                    raise SourceUnavailable(f"The source cannot be listed: {error.strerror}.") from None
                yield SeenFile(folder, 0, "", "unreadable")
                continue
            for entry in found:
                name = folder + entry.name
                if entry.name.startswith("."):
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
                    resting = 0 <= now - stat.st_mtime < self._rest  # a time to come says nothing: clocks differ
                    yield SeenFile(name, stat.st_size, _stamp(stat), "resting" if resting else "ready")

    def _look_in_store(self) -> Iterator[SeenFile]:
        store = self.where.store
        assert store is not None  # the caller asked
        try:
            store.invalidate_cache()
            found: dict[str, dict[str, Any]] = store.find(self.where.root, detail=True)
        except Exception as error:  # a store's own classes are many
            raise SourceUnavailable(f"The source cannot be listed ({store_error(error)}).") from None
        for path in sorted(found):
            name = path.removeprefix(self.where.root).lstrip("/")
            if any(piece.startswith(".") for piece in name.split("/")):
                continue
            yield SeenFile(name, int(found[path].get("size") or 0), _tag(found[path]), "ready")


def _stamp(stat: os.stat_result) -> str:
    return f"{stat.st_size} {stat.st_mtime_ns} {stat.st_ino}"


def _tag(info: dict[str, Any]) -> str:
    tags = [str(info[name]) for name in _TAGS if info.get(name)]
    return hashlib.sha256(" ".join((str(info.get("size")), *tags)).encode()).hexdigest()


_BLOCK = 2**16
_COMPRESSED = 2**10  # bytes at once: of the most compressible, they become some 32 MB
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_ROWS = 256
_DAMAGED = Reason("malformed-table", "", "not a valid Parquet file, or it has values that JSON cannot represent")


def part_ranges(name: str, size: int, part_bytes: int) -> tuple[tuple[int, int | None], ...]:
    """Where the parts of a file begin and end: only of lines that are not compressed there may be several."""
    lower = name.lower()
    if not lower.endswith((".jsonl", ".ndjson")) or size <= part_bytes:
        return ((0, None),)
    starts = range(0, size, part_bytes)
    return tuple((start, start + part_bytes if start + part_bytes < size else None) for start in starts)


def read_part(
    watched: WatchedSource, name: str, start: int, stop: int | None, layout: Layout | None
) -> Iterator[Input]:
    """Every record of a part. Of lines those that begin in it: the last one may end behind it.

    A file whose name says no readable kind is one input, which says what it is.

    Args:
        layout: how tables are read.

    Raises:
        SourceUnavailable: the store stopped answering; a folder's trouble is an Input with its reason instead.
    """
    lower = name.lower()
    if lower.endswith(PARQUET):
        yield from _rows(watched, name)
        return
    suffix = suffix_of(lower.removesuffix(ZSTD))
    opens: Callable[[], BinaryIO] = partial(
        _opened, watched, name, start, stop, zstd=bool(suffix) and lower.endswith(ZSTD)
    )
    gz = suffix.endswith(".gz")
    source = Source(None, name, name_of(suffix), gz, opens=opens, shown=_shown(watched, name))
    yield from inputs.read(source, layout)


def _shown(watched: WatchedSource, name: str) -> str:
    return f"{watched.shown.rstrip('/')}/{name}"


def _opened(watched: WatchedSource, name: str, start: int, stop: int | None, *, zstd: bool) -> BinaryIO:
    raw = watched.open(name)
    if zstd:
        return cast(BinaryIO, io.BufferedReader(_Stream(_decompressed(raw), raw.close)))
    if (start, stop) == (0, None):
        return raw if hasattr(raw, "peek") else cast(BinaryIO, io.BufferedReader(_Stream(raw.read, raw.close)))
    whole = raw.read(2) in _UTF_16  # its lines cannot be told apart by one byte: the first part takes all
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
    """A `read` for what Zstandard compressed, frame after frame. It is zstandard's own reader but for one thing: that
    one takes a frame which was cut off for one that ended, and half a note for a whole one.

    Raises:
        Damaged: by the `read`: no Zstandard, or cut off.
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
    """Where the first line begins that begins at an offset or behind it."""
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
    """Bytes that a function gives, as the readers want them."""

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
    """The rows of a Parquet file, each as the JSON of a record."""
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
        if isinstance(error, OSError) and error.errno is not None:  # Arrow's own words for damage bear no number
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
