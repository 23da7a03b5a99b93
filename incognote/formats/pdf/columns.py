"""The columns of a PDF page: the parts of its lines, where the lines of a column end, and how far apart they are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import hypot, inf
from statistics import median_low
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from incognote.formats.pdf.glyphs import Glyph

# In units of the font size, or as the comment says.
DOWN = 2.2  # the most that a line is below the one that it goes on from
_INDENT = 3.0  # the most that a line begins before or after the one before it
_ROOM = 0.25  # the space before a word
_RAGGED = 1.0  # the most that a line is longer than the longest of another paragraph in its column
_NARROW = 8.0  # the width of the narrowest column of text
_WIDE = 20.0  # the width of a column of text that needs no other lines as evidence
_LARGER = 1.15  # the size of a heading, in that of the text
APART = 1.2  # the distance of paragraphs, in that of lines
_FULL = 0.4  # the least share of full lines in a column of text
_USUAL = 0.15  # the least share of lines that have the usual distance
_MOST = 1000  # stretches of text that show where other lines end
STARTS = 3  # points between the starts of the lines of a column


@dataclass(slots=True)
class LineSegment:
    """Glyphs side by side on a baseline, from left to right as they are written.

    Attributes:
        glyphs: their positions in the list of glyphs. order: the first of them in the order of the file.
        start, end: where it is along its baseline, in points. level: how high its baseline is. angle: in degrees.
        size: its largest font size.
    """

    glyphs: list[int]
    start: float
    end: float
    level: float
    angle: int
    size: float

    @property
    def order(self) -> int:
        return min(self.glyphs)


class PagePiece(NamedTuple):
    """A segment in the order in which a page is read.

    Args:
        segment: where it is. text: its characters.
        start, end: where it begins and ends along its baseline, from the side on which lines begin.
        size: the font size of most of its glyphs. word: the width of its first word.
        space: the widest gap between its words that is not a glyph. fonts: the fonts of its glyphs.
    """

    segment: LineSegment
    text: str
    start: float
    end: float
    size: float
    word: float
    space: float
    fonts: frozenset[int]

    @property
    def level(self) -> float:
        return self.segment.level


@dataclass(slots=True)
class LinePart:
    """Pieces of a line that no tab divides.

    Attributes:
        line: the number of its line. edge: where the lines of its column end, or infinity if that is not known.
        is_text: whether other lines of its column show that. is_cell: whether it is a later line of a table's cell.
    """

    pieces: list[PagePiece]
    line: int
    edge: float = inf
    is_text: bool = False
    is_cell: bool = False

    @property
    def start(self) -> float:
        return self.pieces[0].start

    @property
    def end(self) -> float:
        return self.pieces[-1].end

    @property
    def first(self) -> PagePiece:
        return self.pieces[0]

    @property
    def size(self) -> float:
        return max(piece.size for piece in self.pieces)

    @property
    def text(self) -> str:
        return " ".join(piece.text for piece in self.pieces)


def piece_of(
    glyphs: Sequence[Glyph], segment: LineSegment, characters: Sequence[tuple[str, int]], *, rtl: bool
) -> PagePiece:
    """Return a segment with the measures that decide what separates it from others.

    Args:
        characters: those of the segment in the order in which they are read, each with its glyph or -1.
        rtl: whether its lines begin on the right.
    """
    text = "".join(character for character, _ in characters)
    first = {number for character, number in _until_space(characters) if number >= 0}
    inked = [number for character, number in characters if number >= 0 and not character.isspace()]
    blank = sum(hypot(glyphs[number].dx, glyphs[number].dy) for number in _blank_end(characters))
    start, end = (-segment.end, -segment.start) if rtl else (segment.start, segment.end)
    return PagePiece(
        segment, text, start, end - blank, max(median_low(glyphs[number].size for number in segment.glyphs), 0.1),
        sum(hypot(glyphs[number].dx, glyphs[number].dy) for number in first),
        max(_gaps(glyphs, characters), default=0.0),
        frozenset(id(glyphs[number].show.state.font) for number in inked),
    )  # fmt: skip


def _gaps(glyphs: Sequence[Glyph], characters: Sequence[tuple[str, int]]) -> Iterator[float]:
    """Yield the gaps between words, in points."""
    for (_, left), (_, space), (_, right) in zip(characters, characters[1:], characters[2:], strict=False):
        if space < 0 <= min(left, right):
            one, two = glyphs[left], glyphs[right]
            yield hypot(two.x - one.x - one.dx, two.y - one.y - one.dy)


def _until_space(characters: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    for character, number in characters:
        if character.isspace():
            return
        yield character, number


def _blank_end(characters: Sequence[tuple[str, int]]) -> Iterator[int]:
    for character, number in reversed(characters):
        if not character.isspace():
            return
        if number >= 0:
            yield number


def units_of(pieces: Sequence[PagePiece], found: Sequence[str]) -> Iterator[LinePart]:
    """Yield the parts of lines, given what separates each piece from the one after it."""
    unit, line = [pieces[0]], 0
    for piece, before in zip(pieces[1:], found, strict=True):
        if before in "\t\n" and before:
            yield LinePart(unit, line)
            unit = []
            line += before == "\n"
        unit.append(piece)
    yield LinePart(unit, line)


def set_edges(units: Sequence[LinePart], usual: dict[int, float]) -> None:
    """Find where the lines of each column end."""
    margins: list[tuple[int, float, float]] = []
    parts: list[list[LinePart]] = []
    wide: dict[int, float] = {}
    for column in _columns(units):
        angle = column[0].first.segment.angle
        for part in _stretches(column, usual):
            end = max(unit.end for unit in part)
            width = end - part[0].start
            wide[angle] = max(wide.get(angle, 0.0), width)
            full = [two.text for one, two in pairwise(part) if is_full(one, two, end)]
            is_text = len(full) > 1 and len(full) >= _FULL * (len(part) - 1) and _are_sentences(full)
            if is_text and len(margins) < _MOST and width > _NARROW * part[0].size:
                margins.append((angle, part[0].start, end))
            parts.append(part)
    for part in parts:
        angle, size, start, end = part[0].first.segment.angle, part[0].size, part[0].start, max(u.end for u in part)
        edges = [
            edge for other, begin, edge in margins
            if other == angle and abs(begin - start) < 2 * _INDENT * size and edge > end - _RAGGED * size
        ]  # fmt: skip
        near = [edge for edge in edges if edge < min(edges) + _INDENT * size]
        is_wide = end - start > 0.6 * wide[angle] and end - start > _WIDE * size
        for unit in part:
            unit.edge, unit.is_text = max(*near, end) if near else end if is_wide else inf, bool(edges)


def _are_sentences(texts: Sequence[str]) -> bool:
    """Whether lines go on in the middle of sentences, judged by their capital letters."""
    if not any(c.islower() for text in texts for c in text):
        return True
    small = sum(not text[0].isupper() for text in texts if text[0].isalpha())
    return 3 * small >= sum(text[0].isalpha() for text in texts)


def _columns(units: Sequence[LinePart]) -> Iterator[list[LinePart]]:
    """Yield the units that begin at the same place, in the order in which they are read."""
    order = {id(unit): number for number, unit in enumerate(units)}
    ranked = sorted(units, key=lambda unit: (unit.first.segment.angle, unit.start))
    column: list[LinePart] = []
    for unit in ranked:
        if column and (unit.first.segment.angle != column[-1].first.segment.angle
                       or unit.start - column[-1].start > STARTS):  # fmt: skip
            yield sorted(column, key=lambda each: order[id(each)])
            column = []
        column.append(unit)
    yield sorted(column, key=lambda each: order[id(each)])


def _stretches(column: Sequence[LinePart], usual: dict[int, float]) -> Iterator[list[LinePart]]:
    """Yield the lines of a column that follow each other in one size and at the usual distance."""
    part: list[LinePart] = []
    for unit in column:
        most = min(DOWN, APART * usual.get(round(unit.size), inf))
        if part and not (0 < distance(part[-1], unit) < most and are_alike(part[-1], unit)):
            yield part
            part = []
        part.append(unit)
    yield part


def usual_down(units: Sequence[LinePart]) -> dict[int, float]:
    """Return the distance of the lines of a paragraph by their size: the smallest one that is frequent."""
    found: dict[int, list[float]] = {}
    for one, two in pairwise(units):
        if one.line != two.line and is_below(one, two) and are_alike(one, two):
            found.setdefault(round(two.size), []).append(distance(one, two))
    usual = {}
    for size, values in found.items():
        values.sort()
        least = max(2.0, _USUAL * len(values))
        usual[size] = next(
            (value for i, value in enumerate(values) if bisect_right(values, value * 1.05) - i >= least), inf
        )
    return usual


def is_below(one: LinePart, two: LinePart) -> bool:
    """Whether a line begins below another one."""
    return (
        one.first.segment.angle == two.first.segment.angle
        and 0 < distance(one, two) < DOWN
        and abs(one.start - two.start) <= _INDENT * max(one.size, two.size)
    )


def distance(one: LinePart, two: LinePart) -> float:
    """Return how far a line is below another one, in units of the font size."""
    return (one.pieces[-1].level - two.first.level) / max(one.size, two.size)


def are_alike(one: LinePart, two: LinePart) -> bool:
    """Whether lines can be of one paragraph: in one size, and not each in a font of its own."""
    fonts, others = (frozenset().union(*(piece.fonts for piece in unit.pieces)) for unit in (one, two))
    is_other = len(fonts) == len(others) == 1 and fonts != others
    return max(one.size, two.size) < _LARGER * min(one.size, two.size) and not is_other


def is_full(one: LinePart, two: LinePart, edge: float) -> bool:
    """Whether a line has no room for the first word of another one."""
    return one.end + _ROOM * one.size + two.first.word > edge
