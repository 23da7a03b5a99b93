"""Pages as PDFium shows them: words with their places, changes between two versions of a page, and pictures.

All lengths are points. The origin is the lower left corner of the page.
"""

from __future__ import annotations

import ctypes
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as raw
from numpy.typing import NDArray

DPI = 100
_MOST_PIXELS = 20_000_000
_STANDARD = (
    "Helvetica Helvetica-Bold Helvetica-Oblique Helvetica-BoldOblique Times-Roman Times-Bold Times-Italic "
    "Times-BoldItalic Courier Courier-Bold Courier-Oblique Courier-BoldOblique"
).split()
Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 in points."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its place.

    Args:
        text: its characters.
        box: the box around it on the page, from the lowest descender to the highest ascender of the font.
        angle: the direction of its line in radians, counterclockwise.
        start, end: the place of its first and after its last character, along the line.
        base: the distance of the base line from the origin, across the line.
        font, size: its font and the effective size in points.
        advances: the width of each character.
    """

    text: str = field(repr=False)
    box: Box
    angle: float
    start: float
    end: float
    base: float
    font: str
    size: float
    advances: tuple[float, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class PageChange:
    """Words of a line that another version of the page shows in another way, or not at all.

    Args:
        old: the words of the first version; new: what the second one has in their place.
        before, after: the words at both sides that stayed, each as it is in the first and in the second version. None
            at the begin or end of a line, and next to another change.
        line: all words of the line in the first version. new_line: those that stayed, and the new ones.
    """

    old: tuple[Word, ...]
    new: tuple[Word, ...]
    before: tuple[Word, Word] | None
    after: tuple[Word, Word] | None
    line: tuple[Word, ...]
    new_line: tuple[Word, ...]


@contextmanager
def opened(data: bytes) -> Iterator[Any]:
    """Open a PDF. It is closed afterwards."""
    document = pdfium.PdfDocument(data)
    try:
        yield document
    finally:
        document.close()


def words(page: Any) -> list[Word]:
    """Return the words of a page in the order of its lines."""
    text = page.get_textpage()
    found: list[Word] = []
    run: list[tuple[str, Box, float, float, float, float, str, float]] = []

    def close_run() -> None:
        if run:
            found.append(_word(run))
            run.clear()

    for i in range(text.count_chars()):
        code = raw.FPDFText_GetUnicode(text, i)
        character = chr(code) if code < 0x110000 else "\ufffd"
        if character.isspace() or not code or (raw.FPDFText_IsGenerated(text, i) == 1 and character != "-"):
            close_run()
            continue
        one = _character(text, i, character)
        if run and (abs(one[2] - run[-1][2]) > 0.01 or abs(one[4] - run[-1][4]) > one[7] or one[3] < run[-1][3] - 0.1):
            close_run()  # another direction, another line, or a step back
        elif run and one[3] - run[-1][3] > run[-1][5] + 0.6 * one[7]:
            close_run()  # a gap without a space
        run.append(one)
    close_run()
    return [word for line in lines(found) for word in line]


def _character(text: Any, i: int, character: str) -> tuple[str, Box, float, float, float, float, str, float]:
    box, matrix = raw.FS_RECTF(), raw.FS_MATRIX()
    x, y, flags = ctypes.c_double(), ctypes.c_double(), ctypes.c_int()
    raw.FPDFText_GetLooseCharBox(text, i, box)
    raw.FPDFText_GetCharOrigin(text, i, x, y)
    raw.FPDFText_GetMatrix(text, i, matrix)
    name = ctypes.create_string_buffer(128)
    raw.FPDFText_GetFontInfo(text, i, name, 128, flags)
    scale = math.hypot(matrix.a, matrix.b) or 1.0
    across, up = matrix.a / scale, matrix.b / scale
    size = raw.FPDFText_GetFontSize(text, i) * scale
    advance = box.right - box.left
    if abs(up) > 0.001:
        width = ctypes.c_float()
        font = raw.FPDFTextObj_GetFont(raw.FPDFText_GetTextObject(text, i))
        raw.FPDFFont_GetGlyphWidth(font, ord(character), size, width)
        advance = width.value
    return (
        character, (box.left, box.bottom, box.right, box.top), math.atan2(up, across),
        x.value * across + y.value * up, y.value * across - x.value * up, advance,
        name.value.decode("utf-8", "replace"), size,
    )  # fmt: skip


def _word(run: Sequence[tuple[str, Box, float, float, float, float, str, float]]) -> Word:
    left, bottom, right, top = zip(*(one[1] for one in run), strict=True)
    last = run[-1]
    return Word(
        "".join(one[0] for one in run), (min(left), min(bottom), max(right), max(top)), run[0][2], run[0][3],
        last[3] + last[5], run[0][4], run[0][6], run[0][7], tuple(one[5] for one in run),
    )  # fmt: skip


def lines(found: Iterable[Word]) -> list[list[Word]]:
    """Return words by line, from the top, each line from its begin. Columns next to each other share lines."""
    ordered: list[list[Word]] = []
    for word in sorted(found, key=lambda word: (round(word.angle, 1), -word.base)):
        last = ordered[-1][-1] if ordered else None
        if last and abs(last.angle - word.angle) < 0.05 and abs(last.base - word.base) < 0.25 * word.size:
            ordered[-1].append(word)
        else:
            ordered.append([word])
    return [sorted(line, key=lambda word: word.start) for line in ordered]


def changes(old: Sequence[Word], new: Sequence[Word]) -> list[PageChange]:
    """Return the changes of a page, by line of the first version. Words that only moved have no change."""
    kept: dict[int, int] = {}
    added: list[tuple[int, int, Word]] = []
    for kind, i, end, j, until in SequenceMatcher(
        None, [word.text for word in old], [word.text for word in new], autojunk=False
    ).get_opcodes():
        if kind == "equal":
            kept.update(zip(range(i, end), range(j, until), strict=True))
        else:
            added += [(i, end, word) for word in new[j:until]]
    found = []
    at = 0
    for line in lines(old):
        first, at = at, at + len(line)
        position = first
        now = [new[kept[i]] for i in range(first, at) if i in kept]
        put_here = [each for each in added if each[0] <= at and each[1] >= first and _beside(each[2], line)]
        now += [word for _, _, word in put_here]
        now.sort(key=lambda word: word.start)
        while position < at:
            if position in kept:
                position += 1
                continue
            begin = position
            while position < at and position not in kept:
                position += 1
            put = [word for i, end, word in put_here if i <= position and end >= begin]
            before, after = (
                (old[i], new[kept[i]]) if i in kept and first <= i < at else None for i in (begin - 1, position)
            )
            gone = line[begin - first : position - first]
            found.append(PageChange(tuple(gone), tuple(put), before, after, tuple(line), tuple(now)))
    return found


def _beside(word: Word, line: Sequence[Word]) -> bool:
    return abs(word.angle - line[0].angle) < 0.05 and abs(word.base - line[0].base) < 0.5 * line[0].size


def inserted(old: Sequence[Word], new: Sequence[Word]) -> list[Word]:
    """Return the words that only the second version shows."""
    matcher = SequenceMatcher(None, [word.text for word in old], [word.text for word in new], autojunk=False)
    return [word for kind, _, _, j, until in matcher.get_opcodes() if kind != "equal" for word in new[j:until]]


def resolution(page: Any) -> float:
    """Return the resolution of pictures of a page: 100 dpi, less for a page with more than 20 million pixels."""
    width, height = page.get_size()
    return float(min(DPI, 72 * math.sqrt(_MOST_PIXELS / max(1, width * height))))


def picture(page: Any, *, notes: bool = True) -> NDArray[np.int16]:
    """Return the picture of a page: height × width × 3, from 0 to 255. `notes`: with its annotations."""
    dpi = resolution(page)
    bitmap = page.render(scale=dpi / 72, may_draw_forms=notes, draw_annots=notes, rev_byteorder=True)
    return np.asarray(bitmap.to_numpy()[..., :3], dtype=np.int16)


def pixels(page: Any, box: Box) -> tuple[slice, slice]:
    """Return the rows and columns of a box in the picture of a page, which can be rotated."""
    dpi = resolution(page)
    width, height = (math.ceil(length * dpi / 72) for length in page.get_size())
    corners = []
    for x, y in ((box[0], box[1]), (box[2], box[3])):
        column, row = ctypes.c_int(), ctypes.c_int()
        raw.FPDF_PageToDevice(page, 0, 0, width, height, 0, x, y, column, row)
        corners.append((column.value, row.value))
    (left, top), (right, bottom) = (tuple(map(side, *corners)) for side in (min, max))
    return slice(max(0, top), max(0, bottom + 1)), slice(max(0, left), max(0, right + 1))


def covers(page: Any) -> list[tuple[Any, Box]]:
    """Return the painted shapes and pictures of a page with their boxes."""
    kinds = (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING)
    return [(each, each.get_bounds()) for each in page.get_objects(max_depth=1) if each.type in kinds]


def is_image(shape: Any) -> bool:
    """Whether an object of a page is an image."""
    return bool(shape.type == raw.FPDF_PAGEOBJ_IMAGE)


def overlap(box: Box, other: Box) -> float:
    """Return the share of the first box that the other one covers."""
    width = min(box[2], other[2]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[1], other[1])
    area = (box[2] - box[0]) * (box[3] - box[1])
    return width * height / area if width > 0 and height > 0 and area > 0 else 0.0


def space(line: Sequence[Word]) -> float:
    """Return the usual distance of two words of a line: the median, or a quarter of the size if there is only one."""
    gaps = [after.start - before.end for before, after in pairwise(line)]
    return statistics.median(gaps) if gaps else 0.25 * line[0].size


@cache
def standard_widths() -> tuple[dict[str, float], ...]:
    """Return the widths per em of the Latin characters of twelve standard fonts."""
    document = pdfium.PdfDocument.new()
    tables = []
    for name in _STANDARD:
        font = raw.FPDFText_LoadStandardFont(document, name.encode("ascii"))
        table = {}
        for code in [*range(0x21, 0x7F), *range(0xC0, 0x100)]:
            width = ctypes.c_float()
            if raw.FPDFFont_GetGlyphWidth(font, code, 1.0, width) and width.value:
                table[chr(code)] = width.value
        raw.FPDFFont_Close(font)
        tables.append(table)
    document.close()
    return tuple(tables)
