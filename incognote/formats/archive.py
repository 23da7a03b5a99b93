"""ZIP and tar archives: their files one by one within bounds, and new archives without dates, owners, and comments.

The files of an archive are sources of their own, each in its own format (`files/inputs.py`). Nothing that a header says
about sizes is believed: what is unpacked is counted while it is unpacked. A new archive is written around the released
files (`files/writing.py`), so nothing can hide between its entries, in extra fields, or behind its end.
"""

from __future__ import annotations

import gzip
import io
import re
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from types import SimpleNamespace
from typing import Any, BinaryIO, Protocol, cast

from incognote.errors import MalformedRecord, UnsupportedFormat
from incognote.formats.base import Document, Format, Unreadable
from incognote.nouns import Reason
from incognote.text.container import is_hidden

KINDS = ("zip", "tar")
MOST_DEPTH = 3
"""The most archives inside each other."""
MOST_FILES = 200_000
MOST_BYTES = 2**38
"""The most bytes of all files in an archive."""
RATIO, ALLOWANCE = 200, 64 * 2**20
"""An archive may unpack to this many times its size, plus this many bytes. Text shrinks to a fifth to a fiftieth."""

_MOST_AT_ONCE = 32 * 2**20  # bytes of the directory of a ZIP file, or of one header of a tar file
_STEP = 2**16
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_BROKEN = (zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, struct.error, ValueError,
           OverflowError, RuntimeError)  # fmt: skip
_NOT_ARCHIVES = frozenset({"[Content_Types].xml", "META-INF/MANIFEST.MF", "AndroidManifest.xml"})
_APART = re.compile(r"[/\\]+")
_STRANGE = re.compile(r'[\x00-\x1f\x7f-\x9f:*?"<>|\ud800-\udfff]')
_NO_TIME = (1980, 1, 1, 0, 0, 0)

HIDDEN = Reason("hidden", "", "its name is that of a hidden file or system file")
"""The reason for a file that is left out, as in a folder."""
DAMAGED = Reason(MalformedRecord.code, "", "damaged, or it ends early. Fetch the archive again")
_AFTER = Reason(MalformedRecord.code, "", "other bytes after the end of the archive. Pack the files again")
_OVERLAP = Reason(MalformedRecord.code, "", "the files of the archive overlap, as in a ZIP bomb")
_BOMB = Reason(
    "too-large", "", f"the archive unpacks to more than {RATIO} times its size. Check it, and unpack it into a folder"
)
_MANY = Reason("too-large", "", f"an archive of more than {MOST_FILES:,} files, or with too long names. Split it")
TOO_DEEP = Reason(MalformedRecord.code, "", f"more than {MOST_DEPTH} archives inside each other. Unpack the inner one")


class NotUnpacked(OSError):
    """A file of an archive, or the rest of an archive, cannot be unpacked.

    Attributes:
        reason: why, without a name from the archive.
    """

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.detail)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive.

    Args:
        name: its path in the archive, which never leads out of it. It is unique there, and may be PHI.
        opens: returns its bytes. They can be read once, before the next file is taken. Reading raises NotUnpacked.
        refusal: why it is not read, or None.
    """

    name: str = field(repr=False)
    opens: Callable[[], BinaryIO] = field(repr=False)
    refusal: Reason | None = None


class UnpackBudget:
    """What may be unpacked from one archive and the archives in it.

    Args:
        packed: the size of the archive in bytes.
    """

    def __init__(self, packed: int) -> None:
        self._bytes, self._files = min(RATIO * packed + ALLOWANCE, MOST_BYTES), MOST_FILES

    def take(self, size: int) -> None:
        """Count unpacked bytes.

        Raises:
            NotUnpacked: there are too many.
        """
        self._bytes -= size
        if self._bytes < 0:
            raise NotUnpacked(_BOMB)

    def take_file(self) -> None:
        """Count a file.

        Raises:
            NotUnpacked: there are too many files or bytes.
        """
        self._files -= 1
        if self._files < 0:
            raise NotUnpacked(_MANY)
        self.take(0)


def members(kind: str, stream: BinaryIO, budget: UnpackBudget) -> Iterator[Member]:
    """Yield the files of an archive, one after the other. Folders are left out.

    Args:
        kind: `zip` or `tar`.
        stream: its bytes. Those of a ZIP file must be seekable.

    Raises:
        NotUnpacked: the archive or the rest of it cannot be read.
        OSError: the stream cannot be read.
    """
    seen: set[int] = set()
    for number, each in enumerate((_zip if kind == "zip" else _tar)(stream, budget), 1):
        budget.take_file()
        path = _path(each.name, number)
        while hash(path) in seen:
            path = f"{number}/{path}"
        seen.add(hash(path))
        hidden = any(map(is_hidden, path.split("/")))
        yield replace(each, name=path, refusal=HIDDEN if hidden else each.refusal)


def _path(name: str, number: int) -> str:
    """Return a name as a path below a folder."""
    parts = [_STRANGE.sub("_", part) for part in _APART.split(name) if part.strip(" .")]
    return "/".join(parts) or str(number)


def _zip(stream: BinaryIO, budget: UnpackBudget) -> Iterator[Member]:
    with _checked():
        file = zipfile.ZipFile(cast(BinaryIO, _Capped(stream)))
    entries = file.infolist()
    if entries and (entries[0].filename == "mimetype" or any(each.filename in _NOT_ARCHIVES for each in entries)):
        what = "office file or program, which is not an archive. Give it the suffix of its format"
        raise NotUnpacked(Reason(UnsupportedFormat.code, "", what))
    places = sorted((each.header_offset, each.compress_size + len(each.orig_filename) + 30) for each in entries)
    ends = [*(start for start, _ in places[1:]), file.start_dir]
    if any(start + size > end for (start, size), end in zip(places, ends[: len(places)], strict=True)):
        raise NotUnpacked(_OVERLAP)
    for each in entries:
        if not each.is_dir() or each.file_size:
            opens = partial(_buffered, partial(file.open, each), budget)
            yield Member(_name_of(each), opens, _refusal_in_zip(each))


def _name_of(entry: zipfile.ZipInfo) -> str:
    """Return the name of an entry. Many programs write UTF-8 without saying so."""
    with suppress(UnicodeError):
        return entry.filename.encode("cp437").decode()
    return entry.filename


def _refusal_in_zip(entry: zipfile.ZipInfo) -> Reason | None:
    mode = entry.external_attr >> 16 if entry.create_system == 3 else 0
    if entry.flag_bits & _ENCRYPTED:
        return _unsupported("encrypted file in an archive. Unpack it with its password")
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return _unsupported("link or device in an archive. Pack the file itself")
    if entry.compress_type not in _METHODS:
        return _unsupported("unusual compression in a ZIP archive. Pack the file again, with the Deflate method")
    return None


def _tar(stream: BinaryIO, budget: UnpackBudget) -> Iterator[Member]:
    forward = _Forward(stream, budget)
    with _checked():
        tar = tarfile.TarFile(fileobj=cast(BinaryIO, forward))
        entry = tar.next()
    while entry is not None:
        if not entry.isdir():
            yield Member(entry.name, partial(_buffered, partial(_extracted, tar, entry)), _refusal_in_tar(entry))
        with _checked():
            forward.seek(tar.offset)
            entry = _next(tar, forward)
    with _checked():
        forward.require_end()


def _next(tar: tarfile.TarFile, forward: _Forward) -> tarfile.TarInfo | None:
    """Return the next entry, or None at the end. `TarFile.next` also returns None if the next header is damaged."""
    try:
        return tarfile.TarInfo.fromtarfile(tar)
    except tarfile.HeaderError:
        if forward.last != bytes(tarfile.BLOCKSIZE):
            raise
        return None


def _extracted(tar: tarfile.TarFile, entry: tarfile.TarInfo) -> BinaryIO:
    return cast(BinaryIO, tar.extractfile(entry))  # not None, since it is a file


def _refusal_in_tar(entry: tarfile.TarInfo) -> Reason | None:
    if entry.issparse():
        return _unsupported("sparse file in a tar archive. Pack it again without holes")
    return None if entry.isreg() else _unsupported("link or device in an archive. Pack the file itself")


def _unsupported(detail: str) -> Reason:
    return Reason(UnsupportedFormat.code, "", detail)


@contextmanager
def _checked() -> Iterator[None]:
    """Turn every error of damaged archives into NotUnpacked. The messages of the originals can name files."""
    try:
        yield
    except _BROKEN:
        raise NotUnpacked(DAMAGED) from None


class _Capped:
    """The bytes of a ZIP file. A directory that is too large for memory is not read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(_MOST_AT_ONCE + 1 if size < 0 else size) if size <= _MOST_AT_ONCE else b""
        if max(size, len(data)) > _MOST_AT_ONCE:
            raise NotUnpacked(_MANY)
        return data


class _Forward:
    """The bytes of a tar file, read once from the beginning to the end, and counted.

    Attributes:
        last: the bytes of the last `read`.
    """

    def __init__(self, stream: BinaryIO, budget: UnpackBudget) -> None:
        self._stream, self._budget, self._at, self.last = stream, budget, 0, b""

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _MOST_AT_ONCE:
            raise NotUnpacked(_MANY)
        self.last = self._stream.read(size)
        self._at += len(self.last)
        self._budget.take(len(self.last))
        return self.last

    def seek(self, at: int) -> int:
        if at < self._at:
            raise NotUnpacked(DAMAGED)
        while at > self._at:
            if not self.read(min(_STEP, at - self._at)):
                raise NotUnpacked(DAMAGED)
        return at

    def tell(self) -> int:
        return self._at

    def seekable(self) -> bool:
        return True

    def require_end(self) -> None:
        """Raise NotUnpacked if anything but zeros follows."""
        while data := self.read(_STEP):
            if data.strip(b"\x00"):
                raise NotUnpacked(_AFTER)


class _Unpacking(io.RawIOBase):
    """The bytes of a file in an archive.

    Args:
        budget: counts them; None if they are counted where they come from.
    """

    def __init__(self, opens: Callable[[], Any], budget: UnpackBudget | None) -> None:
        self._opens, self._budget = opens, budget
        self._file: Any = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with _checked():
            if self._file is None:
                self._file = self._opens()
            data = self._file.read(min(len(buffer), _STEP))
        if self._budget is not None:
            self._budget.take(len(data))
        buffer[: len(data)] = data
        return len(data)


def _buffered(opens: Callable[[], Any], budget: UnpackBudget | None = None) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_Unpacking(opens, budget)))


class Packer(Protocol):
    """Writes an archive. Equal files give equal bytes."""

    def add(self, name: str, file: BinaryIO, size: int) -> None:
        """Add a file with its name and its size in bytes."""

    def close(self) -> None:
        """Write the end of the archive."""


def packer(kind: str, stream: BinaryIO) -> Packer | None:
    """Return what writes an archive of a kind to a stream, or None if it is not the kind of an archive."""
    makers: dict[str, Callable[[BinaryIO], Packer]] = {"zip": _ZipPacker, "tar": _TarPacker}
    return makers[kind](stream) if kind in makers else None


class _ZipPacker:
    def __init__(self, stream: BinaryIO) -> None:
        ahead = isinstance(stream, gzip.GzipFile)  # it cannot go back to write a size
        target = SimpleNamespace(write=stream.write, flush=stream.flush) if ahead else stream
        self._zip = zipfile.ZipFile(cast(BinaryIO, target), "w")

    def add(self, name: str, file: BinaryIO, size: int) -> None:
        entry = zipfile.ZipInfo(name, _NO_TIME)
        entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 0
        with self._zip.open(entry, "w", force_zip64=size >= 2**31) as out:
            shutil.copyfileobj(file, out, _STEP)

    def close(self) -> None:
        self._zip.close()


class _TarPacker:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def add(self, name: str, file: BinaryIO, size: int) -> None:
        entry = tarfile.TarInfo(name)
        entry.size = size
        self._stream.write(entry.tobuf(tarfile.PAX_FORMAT))
        shutil.copyfileobj(file, self._stream, _STEP)
        self._stream.write(bytes(-size % tarfile.BLOCKSIZE))

    def close(self) -> None:
        self._stream.write(bytes(2 * tarfile.BLOCKSIZE))


def _refused(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    """Refuse an archive where one document is expected: in the SDK, a request, or another document."""
    yield Unreadable(_unsupported("archive, which holds several documents. Unpack it, or use `incognote deid`"))


FORMATS = (
    Format(
        "zip", ("application/zip", "application/x-zip-compressed"), (".zip",), _refused, contents=("ZIP archive",),
    ),
    Format("tar", ("application/x-tar", "application/x-gtar"), (".tar", ".tgz"), _refused, contents=("tar archive",)),
)  # fmt: skip
