"""The text of a page, the place of each character, and the identifiers that are found by their place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from incognote.formats.base import UNWORDED, Change, Finding
from incognote.formats.images.painting import Cover
from incognote.formats.images.paragraphs import wrapped
from incognote.pages.nouns import Box, Region, Turn, Word
from incognote.text.lexicon import only_titles

if TYPE_CHECKING:
    pass

TYPES = {
    "Signature": "SIGNATURE", "Seal_Stamp": "STAMP", "QR_Bar_Code": "BARCODE", "Face": "FACE", "Logo": "LOGO",
    "Handwriting": "HANDWRITING", "Unread": "UNREAD", "Region": "REGION",
}  # fmt: skip
"""The entity types of regions without words. Regions of other kinds stay."""
BETWEEN_CELLS = "   "
_WIDE = 1.1  # heights of a line between two cells of it
POOR = 0.75
"""The quality of a reading below which its words are in doubt."""
UNREADABLE = 0.6
"""The quality of a reading below which all ink of a page is in doubt."""
DOUBT = "doubt"
"""The source of regions of words that were not surely read."""
_TILTED = 1.2  # heights of its words that a cover of a line may have
_MARGIN = 0.12  # heights of a word that a cover reaches beyond it
_CREDENTIAL = re.compile(r"[,.]? ?\(?([A-Z][A-Za-z.]*(?:[-/][A-Z0-9]+)?)\)?")
_CREDENTIALS = frozenset(
    "MD DO RN PhD NP PA PA-C BSN MSN LPN LVN CNM CNS CNA CRNA APRN ARNP DNP FNP FNP-C FNP-BC MPH MBA DDS DMD PharmD "
    "RPh PT DPT OT OTR SLP LCSW LMSW RDMS RT FACS FACP FACC FACOG FACR FRCS FRCP FRCR FRCA FRCPath MRCP MRCS MRCGP "
    "MB BS MBBS MBBCh BCh ChB BSc MSc DNB DM MCh DGO DCH MLT MLS ASCP CMA PsyD MS PGY-1 PGY-2 PGY-3 PGY-4".split()
)
"""What follows a name to say what its bearer has passed. It goes with the name."""
_TITLES = frozenset("Miss Sister Nurse Herr Frau Sr Master Or Ora Mes".split())
"""Titles that are also words, and how `Dr`, `Dra`, and `Mrs` are misread."""
_DEGREES = frozenset("med dent vet nat rer phil habil dipl priv doz univ".split())
"""What stands between a title and a name, as in `Dr. med.`"""
_LONGEST = 20  # characters before a stretch that belong to it
_BEFORE = re.compile(r"(?:[^\W_]*\d[^\W_]*[-/])*[^\W_]+\Z|(?:[^\W_]*\d[^\W_]*[-/])+\Z")
_AFTER = re.compile(r"[^\W_]+(?:[-/][^\W_]*\d[^\W_]*)*|(?:[-/][^\W_]*\d[^\W_]*)+")
_GROUPS = re.compile(r"(?: \d{2,6}(?![\w%.,/]))+(?! ?[^\W\d_]|%)")
_CODE_BEFORE = re.compile(r"(?<!\S)(?:(?:[A-Z]{1,4}|\d{1,4}) )+\Z")
_GROUPED = 5  # digits of a number that may be written in groups
_TAG = re.compile(r"<(?=[a-zA-Z/!?])")
_TITLE = re.compile(r"([^\W\d_]+)\.? ?\Z")


class PlacedWord(NamedTuple):
    """A word in the text of a page.

    Args:
        start, end: in code points of the text.
    """

    start: int
    end: int
    word: Word


@dataclass(frozen=True, slots=True)
class ReadPage:
    """What was read on a page.

    Args:
        text: its lines, then a character for each region without words.
        words: in the order of the text.
        marks: the regions without words, each with its position in the text.
        findings: without a field; offsets in the text.
        quality: of the reading, from 0 to 1.
        size: width and height in pixels.
        languages: in which it was read (ISO 639-1).
    """

    text: str = field(repr=False)
    words: Sequence[PlacedWord] = field(repr=False)
    marks: Sequence[tuple[int, Region]]
    findings: Sequence[Finding] = field(repr=False)
    quality: float
    size: tuple[int, int]
    languages: tuple[str, ...] = ("en",)

    @property
    def is_in_doubt(self) -> bool:
        """Whether words on it were covered because they were not surely read. A person must look at it."""
        return any(DOUBT in region.sources for _, region in self.marks)

    def covers(self, changes: Iterable[Change]) -> list[Cover]:
        """Return the parts of the page to cover for the changes of its text."""
        found: list[Cover] = []
        starts = [each.start for each in self.words]
        for start, end, new in changes:
            start, end = _to_whole_codes(self.text, start, end, poor=self.quality < POOR)
            while (passed := _CREDENTIAL.match(self.text, end)) and passed[1].replace(".", "") in _CREDENTIALS:
                end = passed.end()
            while (title := _TITLE.search(self.text, max(0, start - 12), start)) and is_title(title[1]):
                start = title.start(1)
            first = max(0, bisect_right(starts, start) - 1)
            near = self.words[first : bisect_right(starts, end)]
            touched = [each for each in near if each.start < end and start < each.end]
            lines = groupby(touched, lambda each: (each.word.line, each.word.turn))
            boxes = [
                self._around(box, _MARGIN)
                for (_, turn), line in lines for box in _level([_part(each, start, end) for each in line], turn)
            ]  # fmt: skip
            boxes += [self._around(region.box, 0) for at, region in self.marks if start <= at < end]
            widest = max(boxes, key=lambda box: box[2] - box[0], default=None)
            found += [Cover(box, new if box is widest else "") for box in boxes]
        return found

    def boxes(self) -> list[Box | None]:
        """Return where each character of the text is."""
        found: list[Box | None] = [None] * len(self.text)
        for each in self.words:
            found[each.start : each.end] = _parts(each.word, each.end - each.start)
        for at, region in self.marks:
            found[at] = region.box
        return found

    def _around(self, box: Box, share: float) -> Box:
        """Return a box with a margin of two pixels, or of a share of its shorter side."""
        wide, high = self.size
        left, top, right, bottom = box
        margin = max(2, round(share * min(bottom - top, right - left)))
        return max(0, left - margin), max(0, top - margin), min(wide, right + margin), min(high, bottom + margin)


def _level(boxes: Sequence[Box], turn: Turn) -> list[Box]:
    """Return one box around those of a line, or several side by side if the line is so tilted that it covers others."""
    whole = union(boxes)
    high = max(box[3] - box[1] for box in boxes)
    if turn in (90, 270) or len(boxes) < 2 or whole[3] - whole[1] <= _TILTED * high:
        return [whole]
    middle = len(boxes) // 2
    one, two = _level(boxes[:middle], turn), _level(boxes[middle:], turn)
    left, top, _, bottom = one[-1]
    return [*one[:-1], (left, top, max(one[-1][2], two[0][0]), bottom), *two]


def _to_whole_codes(text: str, start: int, end: int, *, poor: bool) -> tuple[int, int]:
    """Return a stretch of text that cuts no word, and no number into its groups.

    Args:
        poor: whether the page was read poorly, so that the hyphens of a code may be lost.
    """
    if before := _BEFORE.search(text, max(0, start - _LONGEST), start):
        start = before.start() if text[start].isalnum() else start
    if text[end - 1].isalnum() and (after := _AFTER.match(text, end)):
        end = after.end()
    if sum(map(str.isdigit, text[start:end])) >= _GROUPED and (more := _GROUPS.match(text, end)):
        end = more.end()
    if poor and text[start].isdigit() and (parts := _CODE_BEFORE.search(text, max(0, start - _LONGEST), start)):
        start = parts.start()
    return start, end


def is_title(word: str) -> bool:
    """Whether a word is a title of a person, or a part of one such as `med` in `Dr. med.`"""
    return word.lower() in _DEGREES or word in _TITLES or only_titles([word])


def _part(placed: PlacedWord, start: int, end: int) -> Box:
    """Return the box of the characters of a word that are in a stretch, and of half a character around them."""
    word, n = placed.word, placed.end - placed.start
    first, last = max(start - placed.start, 0), min(end - placed.start, n)
    if (first, last) == (0, n) or word.is_rtl:
        return word.box
    boxes = list(_parts(word, n))
    left, top, right, bottom = union(boxes[first:last])
    one = max(boxes[0][2] - boxes[0][0], 1) // 2 + 1 if word.turn in (0, 180) else 0
    other = max(boxes[0][3] - boxes[0][1], 1) // 2 + 1 if not one else 0
    a, b, c, d = word.box
    return max(a, left - one), max(b, top - other), min(c, right + one), min(d, bottom + other)


def union(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around some boxes, of which there is at least one."""
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def shared(one: Box, two: Box) -> int:
    """Return the pixels that two boxes share."""
    wide, high = min(one[2], two[2]) - max(one[0], two[0]), min(one[3], two[3]) - max(one[1], two[1])
    return wide * high if wide > 0 and high > 0 else 0


def _parts(word: Word, n: int) -> Iterator[Box]:
    """Yield a box for each of the `n` characters of a word, all as wide."""
    left, top, right, bottom = word.box
    backwards = word.turn in (180, 270)
    for i in range(n):
        low, high = (n - 1 - i, n - i) if backwards else (i, i + 1)
        if word.turn in (0, 180):
            yield left + (right - left) * low // n, top, left + (right - left) * high // n, bottom
        else:
            yield left, top + (bottom - top) * low // n, right, top + (bottom - top) * high // n


def text_of(words: Sequence[Word], regions: Sequence[Region]) -> tuple[str, list[PlacedWord], list[tuple[int, Region]]]:
    """Return the text of a page, and where its words and regions are in it.

    Args:
        words: in reading order, with lines numbered in order.
        regions: those that get a character of their own.
    """
    pieces: list[str] = []
    placed: list[PlacedWord] = []
    at = 0
    lines = [list(line) for _, line in groupby(words, lambda word: (word.line, word.turn))]
    whole = [not any(is_apart(one, two) for one, two in pairwise(line)) for line in lines]
    after = [
        " " if goes_on else BETWEEN_CELLS if next_ and _is_beside(line, next_) else "\n"
        for line, next_, goes_on in zip(lines, [*lines, None][1:], wrapped(lines, whole), strict=True)
    ]
    for line, gap_after in zip(lines, after, strict=True):
        before: Word | None = None
        for word in line:
            gap = "" if before is None else BETWEEN_CELLS if is_apart(before, word) else " "
            pieces += (gap, _TAG.sub("‹", word.text))
            at += len(gap)
            placed.append(PlacedWord(at, at + len(word.text), word))
            at += len(word.text)
            before = word
        pieces.append(gap_after)
        at += len(gap_after)
    marks = [(at + 2 * i, region) for i, region in enumerate(regions)]
    pieces.append("\n".join(UNWORDED for _ in marks))
    return "".join(pieces), placed, marks


def _is_beside(one: Sequence[Word], two: Sequence[Word]) -> bool:
    """Whether a line is in the same row of a table or form as the line before it."""
    (_, top, _, bottom), (_, other_top, _, other_bottom) = one[-1].box, two[0].box
    level = min(bottom, other_bottom) - max(top, other_top) > 0.5 * min(bottom - top, other_bottom - other_top)
    return level and one[0].turn == two[0].turn == 0 and is_apart(one[-1], two[0])


def cells(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield words in groups of neighbors of a line.

    Args:
        words: in reading order, with lines numbered in order.
    """
    group: list[Word] = []
    for word in words:
        if group and (word.line != group[-1].line or word.turn != group[-1].turn or is_apart(group[-1], word)):
            yield group
            group = []
        group.append(word)
    if group:
        yield group


def is_apart(one: Word, two: Word) -> bool:
    """Whether two neighbors in a line are in two cells."""
    if one.turn in (0, 180):
        gap = max(two.box[0] - one.box[2], one.box[0] - two.box[2])
        high = max(one.box[3] - one.box[1], two.box[3] - two.box[1])
    else:
        gap = max(two.box[1] - one.box[3], one.box[1] - two.box[3])
        high = max(one.box[2] - one.box[0], two.box[2] - two.box[0])
    return gap > _WIDE * high
