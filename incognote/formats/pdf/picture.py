"""Pictures of PDF pages with the place of each character.

PDFium draws the page, in a process of its own: a file can make it fail, or take all memory. The characters are those
of our own reader, because the spans are over its text.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import subprocess
import sys
import zlib
from collections.abc import Mapping
from contextlib import suppress
from io import BytesIO
from math import hypot
from threading import Semaphore
from typing import NamedTuple

from incognote.formats.pdf.content import ContentReader
from incognote.formats.pdf.glyphs import Glyph, Matrix, StreamKey
from incognote.formats.pdf.layout import page_text
from incognote.formats.pictures import Box, DrawnPage

MOST_PIXELS = 1600  # of a side
MOST_SCALE = 20.0  # pixels of a point
SECONDS = 20
MOST_MEMORY = 2**30  # bytes of address space of a process
_ASCENT, _DESCENT = 0.85, 0.25  # how far a glyph reaches above and below its baseline, in units of the font size
_COMMAND = (sys.executable, "-P", "-c", "from incognote.formats.pdf.picture import main; main()")
_PROCESSES = Semaphore(2)
_FINE = 1_000_000
_ROWS = 33  # where the rows begin in a PNG file that `png` made


class Raster(NamedTuple):
    """The picture of a page, as a PNG file of red, green, and blue bytes.

    Args:
        width, height: in pixels.
        wide, high: in points.
        matrix: leads from the points of the page to the pixels of the picture.
    """

    png: bytes
    width: int
    height: int
    wide: float
    high: float
    matrix: Matrix

    def packed(self) -> bytes:
        """Return the rows of the picture, compressed with Deflate, each after a byte for the predictor."""
        return self.png[_ROWS + 8 : _ROWS + 8 + int.from_bytes(self.png[_ROWS : _ROWS + 4])]


def raster(data: bytes, number: int, most: int, scale: float) -> Raster:
    """Return the picture of a page.

    Args:
        data: the file.
        number: of the page, from 1.
        most: pixels of a side. scale: pixels of a point, or less if the page is larger than `most`.

    Raises:
        OSError, subprocess.SubprocessError, ValueError: PDFium cannot draw it, or not within `SECONDS` and
            `MOST_MEMORY`.
    """
    with _PROCESSES:
        done = subprocess.run(  # noqa: S603 -- this interpreter, with a constant program
            (*_COMMAND, str(number), str(most), str(scale)),
            input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=SECONDS, check=True,
            env={name: value for name, value in os.environ.items() if not name.startswith("INCOGNOTE_")},
        )  # fmt: skip
    head, _, png = done.stdout.partition(b"\n")
    width, height, wide, high, matrix = json.loads(head)
    return Raster(png, width, height, wide, high, tuple(matrix))


def picture(data: bytes, number: int, owners: Mapping[StreamKey, int]) -> DrawnPage:
    """Return the picture of a page, with the box of each character of its text.

    Args:
        data: the file.
        number: of the page, from 1.
        owners: the page with which each form is read.

    Raises:
        OSError, subprocess.SubprocessError, ValueError: as in `raster`.
        MalformedRecord: it cannot be read.
    """
    import pikepdf

    drawn = raster(data, number, MOST_PIXELS, MOST_SCALE)
    with pikepdf.open(BytesIO(data), suppress_warnings=True) as pdf:
        glyphs = ContentReader(pdf, owners).read(pdf.pages[number - 1], number).glyphs
        found = page_text(glyphs).glyphs
    size = drawn.width, drawn.height
    boxes = [_box(glyphs[each], size, drawn.matrix) if each >= 0 else None for each in found]
    return DrawnPage(drawn.png, *size, boxes)


def _box(glyph: Glyph, size: tuple[int, int], matrix: Matrix) -> Box | None:
    """Return the box of a glyph, or None if it is outside the picture.

    Args:
        matrix: leads from the points of the page to the pixels of the picture.
    """
    length = hypot(glyph.dx, glyph.dy)
    ux, uy = (-glyph.dy / length, glyph.dx / length) if length else (0.0, 1.0)
    a, b, c, d, e, f = matrix
    xs, ys = [], []
    for up in (glyph.size * _ASCENT, -glyph.size * _DESCENT):
        for step in (0, 1):
            x, y = glyph.x + step * glyph.dx + up * ux, glyph.y + step * glyph.dy + up * uy
            xs.append(min(max(a * x + c * y + e, 0), size[0]))
            ys.append(min(max(b * x + d * y + f, 0), size[1]))
    box = (round(min(xs)), round(min(ys)), round(max(xs)), round(max(ys)))
    return box if box[0] < box[2] and box[1] < box[3] else None


def main() -> None:
    """Draw a page of the file on standard input. Write its sizes and matrix as JSON, a line end, and a PNG file."""
    with suppress(ImportError, ValueError, OSError):  # not on every system
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    import pypdfium2
    from pypdfium2 import raw

    pdf = pypdfium2.PdfDocument(sys.stdin.buffer.read())
    pdf.init_forms()
    page = pdf[int(sys.argv[1]) - 1]
    width, height = page.get_size()
    scale = min(float(sys.argv[3]), (int(sys.argv[2]) - 1) / max(width, height))
    drawn = page.render(scale=scale, rev_byteorder=True)
    size = (drawn.width, drawn.height)
    ends: list[tuple[float, ...]] = []
    for at in ((0, 0), (1000, 0), (0, 1000)):
        place = (ctypes.c_int(), ctypes.c_int())
        raw.FPDF_PageToDevice(page, 0, 0, _FINE, _FINE, 0, *at, *map(ctypes.byref, place))
        ends.append(tuple(each.value / _FINE * side for each, side in zip(place, size, strict=True)))
    (e, f), (right, across), (aside, up) = ends
    matrix = ((right - e) / 1000, (across - f) / 1000, (aside - e) / 1000, (up - f) / 1000, e, f)
    sys.stdout.buffer.write(json.dumps([*size, width, height, matrix]).encode() + b"\n")
    sys.stdout.buffer.write(png(bytes(drawn.buffer), *size, drawn.stride))


def png(pixels: bytes, width: int, height: int, stride: int) -> bytes:
    """Return a PNG file of rows of red, green, and blue bytes. `stride` is the length of a row in `pixels`."""
    rows = b"".join(b"\0" + pixels[at : at + 3 * width] for at in range(0, height * stride, stride))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts
    )
