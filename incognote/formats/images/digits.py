"""Numbers in Arabic lines: Tesseract reads many Arabic digits as Latin letters, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from statistics import median
from typing import TYPE_CHECKING

from incognote.formats.images.ink import InkMap
from incognote.formats.images.knownwords import is_known
from incognote.formats.images.page import DOUBT
from incognote.pages.nouns import Region, Word

if TYPE_CHECKING:
    from incognote.pages.nouns import Pixels

_LONGEST = 4  # letters that a number is read as
_GAP = 0.5  # heights of a line between two words, in which a number can be
_LEAST = 2  # Arabic words of a line


def misread_numbers(words: Sequence[Word], pixels: Pixels) -> Iterator[Region]:
    """Yield a region for each short, unknown Latin word and for unread ink between words, in lines in Arabic.

    Args:
        words: of the page, in reading order.
        pixels: gray or RGB.
    """
    lines = [list(line) for _, line in groupby(words, lambda word: (word.line, word.turn))]
    arabic = [line for line in lines if line[0].turn == 0 and sum(word.is_rtl for word in line) >= _LEAST]
    if not arabic:
        return
    ink = InkMap(pixels, [word.box for word in words])
    for line in arabic:
        high = round(median(word.box[3] - word.box[1] for word in line))
        top, bottom = min(word.box[1] for word in line), max(word.box[3] for word in line)
        for word in line:
            letters = sum(map(str.isalnum, word.text))
            certain = word.is_rtl or word.text.isdecimal() or is_known(word.text)
            if 0 < letters <= _LONGEST and not certain:
                yield Region("Unread", word.box, 0.7, (DOUBT,))
        for one, two in pairwise(sorted(line, key=lambda word: word.box[0])):
            left, right = one.box[2], two.box[0]
            if right - left > _GAP * high and (box := ink.unread((left, top, right, bottom), high // 2)):
                yield Region("Unread", box, 0.7, (DOUBT,))
