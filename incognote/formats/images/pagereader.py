"""Read a page: its words, the text they make, and what is identifying by its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from incognote.formats.base import Finding
from incognote.formats.images import reading
from incognote.formats.images.digits import with_digits
from incognote.formats.images.fields import located
from incognote.formats.images.fitting import fitted, tight
from incognote.formats.images.page import TYPES, PlacedWord, ReadPage, text_of
from incognote.formats.images.wholeregions import considerable

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels


def read(pixels: Pixels, dpi: float | None) -> ReadPage:
    """Read a page.

    Raises:
        MissingExtra, SettingError: an OCR engine is not installed.
        RecordProblem: it cannot be read.
    """
    found = reading.reading_of(pixels, dpi)
    found = replace(found, words=tuple(with_digits(fitted(found.words, pixels))))
    where = located(found, pixels)
    whole = considerable(where.words, found.regions) if reading.regions_go_whole() else ()
    text, placed, marks = text_of(where.words, (*where.regions, *whole))
    order = {id(each.word): each for each in placed}
    findings = []
    for label in where.values:
        parts = [order[id(word)] for word in label.words]
        for start, end in _stretches(parts, label.first, label.last):
            findings.append(Finding("", start, end, label.type, label.score, label.source))
    findings += [Finding("", at, at + 1, TYPES[region.kind], region.score, "page") for at, region in marks]
    boxes = tight([each.word for each in placed], pixels)
    placed = [each._replace(word=replace(each.word, box=box)) for each, box in zip(placed, boxes, strict=True)]
    return ReadPage(text, placed, marks, findings, found.quality, (pixels.shape[1], pixels.shape[0]), found.languages)


def _stretches(parts: Sequence[PlacedWord], first: int, last: int | None) -> Iterator[tuple[int, int]]:
    """Yield the stretches of words that follow one another in the text.

    Args:
        first: characters of the first word that are left out. last: the end in the last word, or None for all of it.
    """
    for _, group in groupby(enumerate(sorted(parts)), lambda each: (each[1].word.line, each[1].word.turn)):
        run = [each for _, each in group]
        start = run[0].start + (first if run[0] is min(parts) else 0)
        end = run[-1].end if last is None or run[-1] is not max(parts) else run[-1].start + last
        if start < end:
            yield start, end
