"""Read lines of ink with OCR: all lines of an instance on one sheet, upright, black on white, and of one size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from incognote.formats.dicom.inklines import InkLine
from incognote.pages.nouns import Turn, Word

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

_TALL = 32  # pixels of a letter on the sheet
_MARGIN = 0.4  # heights around a line
_WIDE = 2_400  # pixels of a sheet
_GAP = 24
_MOST_HIGH = 4_000
_EDGE = 150  # the gray of rows of the margin that are no paper
_PAPER = 0.75  # the share of the contrast of ink that is white


class _Crop(NamedTuple):
    """A line on the sheet.

    Args:
        pixels: as it is on the sheet. origin: of the crop on the picture.
        scale: pixels of the sheet for one of the picture. size: of the crop on the picture, width and height.
    """

    line: int
    pixels: Any
    origin: tuple[int, int]
    scale: float
    size: tuple[int, int]
    turn: Turn


def read_lines(lines: Sequence[tuple[Pixels, InkLine]]) -> list[list[Word]]:
    """Return the words of each line, with boxes on its picture. Their `line` is the index of the line.

    A vertical line has the words of the turn that is read better.

    Raises:
        MissingExtra, SettingError, RecordProblem: as in `OcrEngine.read`.
    """
    import numpy

    from incognote.pages.ocr.registry import engine_of

    crops = [crop for at, (gray, line) in enumerate(lines) for crop in _crops(gray, line, at)]
    found: dict[tuple[int, Turn], list[Word]] = {}
    engine = engine_of()
    for placed, (wide, high) in _sheets(crops):
        sheet = numpy.full((high, wide), 255, numpy.uint8)
        for crop, x, y in placed:
            sheet[y : y + crop.pixels.shape[0], x : x + crop.pixels.shape[1]] = crop.pixels
        for word in engine.read(sheet, ["en"], "block"):
            middle = (word.box[0] + word.box[2]) / 2, (word.box[1] + word.box[3]) / 2
            for crop, x, y in placed:
                high_, wide_ = crop.pixels.shape
                if x <= middle[0] < x + wide_ and y <= middle[1] < y + high_:
                    found.setdefault((crop.line, crop.turn), []).append(_back(word, crop, x, y))
    return [
        max((found.get((at, turn), []) for turn in _turns(line)), key=_certainty) for at, (_, line) in enumerate(lines)
    ]


def _turns(line: InkLine) -> tuple[Turn, ...]:
    return (90, 270) if line.turned else (0,)


def _certainty(words: Sequence[Word]) -> float:
    return sum(len(word.text) * word.confidence for word in words)


def _crops(gray: Pixels, line: InkLine, at: int) -> Iterator[_Crop]:
    import cv2
    import numpy

    margin = max(3, round(_MARGIN * line.height))
    left, top = max(0, line.box[0] - margin), max(0, line.box[1] - margin)
    right, bottom = min(gray.shape[1], line.box[2] + margin), min(gray.shape[0], line.box[3] + margin)
    part = gray[top:bottom, left:right]
    low, ground, high = numpy.percentile(gray[line.box[1] : line.box[3], line.box[0] : line.box[2]], (3, 50, 97))
    part = part.astype(numpy.float32)
    if high - ground > ground - low:
        part, low, ground = 255 - part, 255 - high, 255 - ground
    part = numpy.clip((part - low) / max(8.0, _PAPER * float(ground - low)) * 255, 0, 255)
    for rows in (part, part.T):  # what surrounds the ground of the letters
        edge = numpy.r_[0:margin, len(rows) - margin : len(rows)]
        rows[edge[rows[edge].mean(axis=1) < _EDGE]] = 255
    scale = min(_TALL / line.height, (_WIDE - 2 * _GAP) / max(part.shape))
    for turn in _turns(line):
        upright = numpy.rot90(part, turn // 90)
        size = max(1, round(upright.shape[1] * scale)), max(1, round(upright.shape[0] * scale))
        how = cv2.INTER_CUBIC if scale > 1 else cv2.INTER_AREA
        made = cv2.resize(numpy.ascontiguousarray(upright), size, interpolation=how)
        pixels = numpy.clip(made, 0, 255).astype(numpy.uint8)
        yield _Crop(at, pixels, (left, top), scale, (right - left, bottom - top), turn)


def _sheets(crops: Sequence[_Crop]) -> Iterator[tuple[list[tuple[_Crop, int, int]], tuple[int, int]]]:
    """Yield the crops of each sheet with their places, one below the other, and its width and height."""
    placed: list[tuple[_Crop, int, int]] = []
    y = _GAP
    for crop in crops:
        high = crop.pixels.shape[0]
        if placed and y + high + _GAP > _MOST_HIGH:
            yield placed, (_width(placed), y)
            placed, y = [], _GAP
        placed.append((crop, _GAP, y))
        y += high + _GAP
    if placed:
        yield placed, (_width(placed), y)


def _width(placed: Sequence[tuple[_Crop, int, int]]) -> int:
    return max(int(crop.pixels.shape[1]) for crop, _, _ in placed) + 2 * _GAP


def _back(word: Word, crop: _Crop, x: int, y: int) -> Word:
    """Return a word of the sheet as it is on the picture."""
    left, top, right, bottom = (
        (side - at) / crop.scale for side, at in zip(word.box, (x, y, x, y), strict=True)
    )
    wide, high = crop.size
    if crop.turn == 90:  # the crop was turned counterclockwise
        left, top, right, bottom = wide - bottom, left, wide - top, right
    elif crop.turn == 270:
        left, top, right, bottom = top, high - right, bottom, high - left
    left, top, right, bottom = max(0, left), max(0, top), min(wide, right), min(high, bottom)
    a, b = crop.origin
    box = a + int(left), b + int(top), a + max(int(left) + 1, round(right)), b + max(int(top) + 1, round(bottom))
    return replace(word, box=box, line=crop.line, turn=crop.turn, source="sheet")
