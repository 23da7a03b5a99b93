"""The pages of a TIFF file: where their directories are (TIFF 6.0, section 2, and BigTIFF)."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

from incognote.errors import MalformedRecord

MOST_PAGES = 5_000
MOST_PIXELS = 100_000_000  # of a tile
MOST_OF_ALL = 60_000_000_000  # pixels of all pages
_KIND, _OLD_KIND, _WIDTH, _HEIGHT, _TILE_WIDTH, _TILE_HEIGHT = 254, 255, 256, 257, 322, 323  # tags
_REDUCED, _OLD_REDUCED = 1, 2
_NUMBERS = {1: "B", 3: "H", 4: "I", 16: "Q"}  # types of values
_MOST_TAGS = 4096


def pages(data: bytes) -> list[int]:
    """Return where the directory of each page is. Thumbnails are left out.

    Raises:
        MalformedRecord: the file is damaged, or has too many pages or pixels.
    """
    found, total = [], 0
    for start, tags in _directories(data):
        if tags.get(_KIND, 0) & _REDUCED or tags.get(_OLD_KIND) == _OLD_REDUCED:
            continue
        found.append(start)
        total += tags.get(_WIDTH, 0) * tags.get(_HEIGHT, 0)
        if tags.get(_TILE_WIDTH, 0) * tags.get(_TILE_HEIGHT, 0) > MOST_PIXELS:
            raise MalformedRecord(
                f"a tile of more than {MOST_PIXELS:,} pixels. Save the page without tiles", field=f"page {len(found)}"
            )
        if total > MOST_OF_ALL or len(found) > MOST_PAGES:
            raise MalformedRecord(f"more than {MOST_PAGES:,} pages, or too many pixels. Split the file")
    if not found:
        raise MalformedRecord("no page in the image file. Save its pages as a new TIFF file")
    return found


def starting_at(data: bytes, start: int) -> bytes:
    """Return a TIFF file whose first page is the one with its directory there."""
    order, big = _head(data)
    if big:
        return b"".join((data[:8], struct.pack(f"{order}Q", start), memoryview(data)[16:]))
    return b"".join((data[:4], struct.pack(f"{order}I", start), memoryview(data)[8:]))


def _directories(data: bytes) -> Iterator[tuple[int, Mapping[int, int]]]:
    """Yield where each directory is, and its tags that have one number."""
    order, big = _head(data)
    word, count, entry, value = ("Q", "Q", 20, 12) if big else ("I", "H", 12, 8)
    seen: set[int] = set()
    try:
        [at] = struct.unpack_from(f"{order}{word}", data, 8 if big else 4)
        while at:
            if at in seen or len(seen) >= 2 * MOST_PAGES:
                raise MalformedRecord(f"pages without an end, or more than {MOST_PAGES:,}. Split the file")
            seen.add(at)
            [n] = struct.unpack_from(f"{order}{count}", data, at)
            first = at + struct.calcsize(f"{order}{count}")
            if n > _MOST_TAGS or first + n * entry > len(data):
                raise _damaged()
            tags: dict[int, int] = {}
            for place in range(first, first + n * entry, entry):
                tag, kind = struct.unpack_from(f"{order}HH", data, place)
                if kind in _NUMBERS and struct.unpack_from(f"{order}{word}", data, place + 4)[0] == 1:
                    [tags[tag]] = struct.unpack_from(f"{order}{_NUMBERS[kind]}", data, place + value)
            yield at, tags
            [at] = struct.unpack_from(f"{order}{word}", data, first + n * entry)
    except struct.error:
        raise _damaged() from None


def _head(data: bytes) -> tuple[str, bool]:
    """Return the order of bytes, as `struct` has it, and whether the file is a BigTIFF."""
    order = "<" if data[:2] == b"II" else ">"
    return order, data[2:4] in (b"+\0", b"\0+")


def _damaged() -> MalformedRecord:
    return MalformedRecord("a damaged TIFF file, or one that ends too early. Copy it again, or save its pages anew")
