"""The text of a picture of pixels: what is known from the header, what may stay, and ink that goes unread.

Words that may stay are on closed lists, as for the settings in the header. All other ink that looks like letters goes,
however it was read: low contrast and noise make OCR of burned-in text unreliable.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import NamedTuple

from incognote.formats.base import UNWORDED, Finding
from incognote.formats.dicom.inklines import InkLine
from incognote.formats.dicom.profile import lists, words_of
from incognote.formats.images.page import TYPES, PlacedWord, ReadPage, union
from incognote.nouns import Known
from incognote.pages.nouns import Box, Region, Word

HEADER = "header"
"""The source of findings of what the header has, too."""
_SURE = 0.6  # the confidence of a word that stays
_EDGES = ".,:;()[]{}\"'|=*~-–—_<>"
_NUMBER = re.compile(r"[+-]?\d{1,4}(?:[.,]\d{1,3})?")
_ALONE = re.compile(r"\d{1,3}(?:[.,]\d)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MEASURE = re.compile(r"([+-]?\d{1,4}(?:[.,]\d{1,3})?)(\D{1,6})")
_SIDE, _FAR, _ABOVE = 1.0, 2.0, 0.22  # heights of letters around ink that goes: beside words that stay, or not
_LEAST_DIGITS = 4
_LIKE = 0.8  # of two words that are the same, misread
_LEAST_LETTERS = 3
_PITCH = (0.12, 1.6)  # the width of a letter in heights


@dataclass(frozen=True)
class HeaderWords:
    """The identifiers of a header, as they may be printed.

    Args:
        words: in lower case, with the type of the identifier that each belongs to.
        digits: the digits of numbers and of dates in every order.
    """

    words: dict[str, str] = field(repr=False)
    digits: dict[str, str] = field(repr=False)

    @classmethod
    def of(cls, known: Iterable[Known]) -> HeaderWords:
        """Return the words of two or more letters and the numbers of four or more digits of identifiers."""
        words: dict[str, str] = {}
        digits: dict[str, str] = {}
        for each in known:
            for word in words_of(each.value):
                if len(word) >= _LEAST_LETTERS - 1 and not word.isdigit():
                    words.setdefault(word, each.type)
            found = "".join(filter(str.isdigit, each.value))
            if len(found) >= _LEAST_DIGITS:
                digits.setdefault(found, each.type)
            if re.fullmatch(r"\d{4}-\d\d-\d\d", each.value):
                year, month, day = each.value.split("-")
                for date in (day + month + year, month + day + year, day + month + year[2:], month + day + year[2:]):
                    digits.setdefault(date, each.type)
        return cls(words, digits)

    def exactly(self, text: str) -> str | None:
        """Return the type of an identifier that has a word, as it is read."""
        kinds = (self.words[word] for word in words_of(text) if word in self.words)
        return next(kinds, None) or self.digits.get("".join(filter(str.isdigit, text)))

    def nearly(self, text: str) -> str | None:
        """Return the type of an identifier that has a word, or one much like it."""
        if kind := self.exactly(text):
            return kind
        from rapidfuzz.fuzz import ratio

        word = text.strip(_EDGES).casefold()
        digits = "".join(filter(str.isdigit, word))
        sought, among = (digits, self.digits) if 2 * len(digits) > len(word) else (word, self.words)
        if len(sought) <= _LEAST_LETTERS:
            return None
        return next((kind for each, kind in among.items() if ratio(sought, each) >= 100 * _LIKE), None)


class PictureLine(NamedTuple):
    """A line of ink, its words, and whether words on it may stay."""

    line: InkLine
    words: Sequence[Word]
    may_stay: bool = True


def page_of(lines: Sequence[PictureLine], masked: Sequence[Box], known: HeaderWords, size: tuple[int, int]) -> ReadPage:
    """Return the text of a picture.

    Args:
        masked: what goes whatever is there. size: width and height.
    """
    words: list[Word] = []
    kinds: list[str | None] = []
    regions = [Region("Unread", box, 1.0, ("mask",)) for box in masked]
    for number, each in enumerate(sorted(lines, key=lambda found: (found.line.box[1], found.line.box[0]))):
        kept = _kept(each, known)
        for word in each.words:
            kind = None if word in kept else known.nearly(word.text)
            if kind or word in kept:
                words.append(replace(word, line=number))
                kinds.append(kind)
        regions += [Region("Unread", box, 1.0, ("ink",)) for box in _gone(each, [word.box for word in kept], size)]
    text, placed, marks = _text(words, _united(regions))
    findings = [
        Finding("", place.start, place.end, kind, 1.0, HEADER)
        for place, kind in zip(placed, kinds, strict=True) if kind
    ]  # fmt: skip
    findings += [Finding("", at, at + 1, TYPES[region.kind], 1.0, "page") for at, region in marks]
    return ReadPage(text, placed, marks, findings, 1.0, size)


def _text(words: Sequence[Word], regions: Sequence[Region]) -> tuple[str, list[PlacedWord], list[tuple[int, Region]]]:
    """Return the text of words and of regions, and where they are in it."""
    placed: list[PlacedWord] = []
    text = ""
    for _, line in groupby(words, lambda word: word.line):
        for word in line:
            placed.append(PlacedWord(len(text), len(text) + len(word.text), word))
            text += f"{word.text} "
        text = f"{text[:-1]}\n"
    marks = [(len(text) + 2 * at, region) for at, region in enumerate(regions)]
    return text + "\n".join(UNWORDED for _ in marks), placed, marks


def _kept(found: PictureLine, known: HeaderWords) -> list[Word]:
    """Return the words of a line that may stay."""
    if not found.may_stay:
        return []
    words = sorted(found.words, key=lambda word: word.box[:2] if not found.line.turned else word.box[1::-1])
    listed = [_is_listed(word, found.line) and not known.exactly(word.text) for word in words]
    stays = list(listed)
    for at, word in enumerate(words):
        plain = word.text.strip(_EDGES)
        if listed[at] or word.confidence < _SURE or known.exactly(word.text):
            continue
        near = [listed[other] for other in (at - 1, at + 1) if 0 <= other < len(words)]
        if not any(map(str.isalnum, plain)):
            stays[at] = any(near)
        elif _NUMBER.fullmatch(plain) and not _YEAR.fullmatch(plain):
            stays[at] = any(near) or (len(words) == 1 and _ALONE.fullmatch(plain) is not None)
    if _is_number_again(words, stays, known):
        return []
    return [word for word, stay in zip(words, stays, strict=True) if stay]


def _is_number_again(words: Sequence[Word], stays: Sequence[bool], known: HeaderWords) -> bool:
    """Whether numbers that stay make a known one together."""
    left = "".join(word.text for word, stay in zip(words, stays, strict=True) if stay)
    digits = "".join(filter(str.isdigit, left))
    return any(each in digits for each in known.digits)


def _is_listed(word: Word, line: InkLine) -> bool:
    plain = word.text.strip(_EDGES).casefold()
    left, top, right, bottom = word.box
    long = bottom - top if line.turned else right - left
    pitch = long / max(1.0, line.height * len(word.text))
    if word.confidence < _SURE or not _PITCH[0] < pitch < _PITCH[1] or not plain:
        return False
    if (match := _MEASURE.fullmatch(plain)) and match[2].strip() in _units():
        return not _YEAR.fullmatch(match[1])
    return not plain.isdigit() and may_stay(plain)


def may_stay(text: str) -> bool:
    """Whether a word is on the lists, or is a short number."""
    plain = text.strip(_EDGES).casefold()
    parts = [part for part in re.split(r"[/\-+.]", plain) if part]
    return _ALONE.fullmatch(plain) is not None or all(part in _stay_words() for part in parts)


@cache
def _toml() -> dict[str, str]:
    return tomllib.loads(files(__package__).joinpath("burned.toml").read_text(encoding="utf-8"))


@cache
def _stay_words() -> frozenset[str]:
    return lists().words | frozenset(_toml()["words"].split())


@cache
def _units() -> frozenset[str]:
    return frozenset(_toml()["units"].split())


def _gone(found: PictureLine, kept: Sequence[Box], size: tuple[int, int]) -> Iterator[Box]:
    """Yield the boxes of a line that go: all of it but for words that stay."""
    line = found.line
    along, across = (1, 0) if line.turned else (0, 1)
    side = max(3, round((_SIDE if kept else _FAR) * line.height))
    above = max(2, round(_ABOVE * line.height))
    first, last = max(0, line.box[along] - side), min(size[along], line.box[along + 2] + side)
    low, high = max(0, line.box[across] - above), min(size[across], line.box[across + 2] + above)
    spans, at = [], first
    for box in sorted(kept, key=lambda each: each[along]):
        spans.append((at, box[along]))
        at = max(at, box[along + 2])
    for start, end in [*spans, (at, last)]:
        ink = [part for part in line.parts if _overlap(part[along], part[along + 2], start, end) > 0.5]
        if end - start >= 2 and (ink or not kept):
            yield (start, low, end, high) if along == 0 else (low, start, high, end)


def _overlap(first: int, last: int, start: int, end: int) -> float:
    """Return the share of the first stretch that is in the second."""
    return (min(last, end) - max(first, start)) / max(1, last - first)


def _united(regions: Sequence[Region]) -> list[Region]:
    """Return regions without those within others."""
    found: list[Region] = []
    for region in sorted(regions, key=lambda each: (each.box[0] - each.box[2]) * (each.box[3] - each.box[1])):
        if not any(union((region.box, other.box)) == other.box for other in found):
            found.append(region)
    return sorted(found, key=lambda each: (each.box[1], each.box[0]))


def lines_of_words(words: Sequence[Word]) -> Iterator[tuple[InkLine, list[Word]]]:
    """Yield a line of ink with its words for words of one line that an OCR engine read."""
    for _, group in groupby(words, lambda word: (word.line, word.turn)):
        line = list(group)
        boxes = [word.box for word in line]
        box = union(boxes)
        turned = line[0].turn in (90, 270)
        tall = float(box[2] - box[0] if turned else box[3] - box[1])
        yield InkLine(box, False, tuple(boxes), tall, turned), line
