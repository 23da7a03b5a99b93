"""Read the pages of an output again: an enlarged copy, and with another engine where one is installed.

What is covered is filled with the color of the paper first, so that the labels on it are not read. A word counts if the
first reader read nothing there, or something else with less confidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from incognote.formats.images.files import gray_of
from incognote.formats.images.page import shared
from incognote.pages.nouns import Box, Word

if TYPE_CHECKING:
    from incognote.formats.images.page import PlacedWord, ReadPage
    from incognote.formats.images.painting import Cover
    from incognote.pages.nouns import Pixels

_LARGER = 1.5
_SURE = 0.6  # the least confidence of a word that counts
_SAME = 0.5  # the share of a word that another one covers if both are of the same ink
_MOST_SIDE = 6000


def texts(data: bytes) -> Iterator[str]:
    """Yield the text of each page of an image file."""
    from incognote.formats.images.files import ImageFile

    file = ImageFile(data)
    for number in range(1, len(file) + 1):
        yield text_of(file.page(number).pixels)


def text_of(pixels: Pixels) -> str:
    """Return what OCR reads on an enlarged copy of a page, line by line.

    Args:
        pixels: gray, or three or four channels.
    """
    return "\n".join(" ".join(word.text for word in line) for line in _lines(_words(gray_of(pixels), ["en"])))


def unread(
    pixels: Pixels, page: ReadPage, covers: Sequence[Cover]
) -> Iterator[tuple[str, list[tuple[int, int, tuple[int, int] | None]]]]:
    """Yield the lines of an output with words that the first reader does not know.

    Args:
        pixels: of the output. page: what was read on the original. covers: what is covered in the output.

    Returns:
        Each line, and its words that count: their stretch of the line, and the stretch of the page's text with the same
        ink, or None if there is none.
    """
    import numpy

    gray = gray_of(pixels).copy()
    paper = int(numpy.median(gray))
    for cover in covers:
        left, top, right, bottom = cover.box
        gray[top:bottom, left:right] = paper
    for line in (*_lines(_words(gray, page.languages)), *_lines(_others(gray, page.languages))):
        parts, at = [], 0
        for word in line:
            own = _under(word, page.words)
            if word.confidence >= _SURE and any(map(str.isalnum, word.text)) and _is_new(word, own):
                stretch = (min(each.start for each in own), max(each.end for each in own)) if own else None
                parts.append((at, at + len(word.text), stretch))
            at += len(word.text) + 1
        if parts:
            yield " ".join(word.text for word in line), parts


def _is_new(word: Word, own: Sequence[PlacedWord]) -> bool:
    if not own:
        return True
    first = "".join(each.word.text for each in own).casefold()
    return word.text.casefold() not in first and word.confidence > max(each.word.confidence for each in own)


def _under(word: Word, words: Sequence[PlacedWord]) -> list[PlacedWord]:
    """Return the words of the first reader with the same ink."""
    size = shared(word.box, word.box)
    return [
        each for each in words
        if shared(word.box, each.word.box) > _SAME * min(size, shared(each.word.box, each.word.box))
    ]  # fmt: skip


def _lines(words: Sequence[Word]) -> Iterator[list[Word]]:
    for _, line in groupby(words, lambda word: word.line):
        yield list(line)


def _others(gray: Pixels, languages: Sequence[str]) -> list[Word]:
    """Return the words that another engine reads, with its dark areas inverted."""
    from incognote.pages.ocr.passes import default_engine, light_copy
    from incognote.pages.ocr.registry import other_engine

    engine = other_engine(default_engine(), languages)
    return [] if engine is None else engine.read(light_copy(gray), languages, "page")


def _words(gray: Pixels, languages: Sequence[str]) -> list[Word]:
    """Return the words on an enlarged copy of a page, with boxes on the page itself."""
    import cv2
    import numpy

    from incognote.pages.ocr.passes import default_engine

    if float(gray.mean()) < 100:
        gray = 255 - gray
    larger = min(_LARGER, max(1.0, _MOST_SIDE / max(gray.shape)))
    enlarged = cv2.resize(gray, None, fx=larger, fy=larger, interpolation=cv2.INTER_CUBIC).astype(numpy.uint8)
    words = default_engine().read(enlarged, languages, "page")
    return [replace(word, box=_scaled(word.box, 1 / larger)) for word in words]


def _scaled(box: Box, factor: float) -> Box:
    left, top, right, bottom = (round(side * factor) for side in box)
    return left, top, right, bottom
