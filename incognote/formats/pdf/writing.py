"""Write new words into the content of a PDF page: old glyphs are taken out, and the rest of their line moves.

A gap as wide as the old words would reveal their length. So a line is set anew with the new words, from its left,
its center, or its right end, and the lines and boxes at its words follow. Everything else stays where it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import hypot
from typing import Any, NamedTuple

from incognote.errors import AccountingError
from incognote.formats.base import Change
from incognote.formats.pdf.columns import LineSegment
from incognote.formats.pdf.content import PageContent
from incognote.formats.pdf.cuts import Cut, taken_out
from incognote.formats.pdf.fonts import Code, PdfFont, standard
from incognote.formats.pdf.glyphs import Glyph, Matrix, Show, StreamKey, times
from incognote.formats.pdf.layout import PageText, along
from incognote.formats.pdf.lines import LEFT, RIGHT, PageLines
from incognote.formats.pdf.marks import Hole, LineMarks, MovedLine
from incognote.formats.pdf.values import decimal

_LEAST = 0.2  # new words are not written narrower than that
_STEP = 0.1  # the scale of narrower words
_LEAST_SHIFT = 1e-6  # points
_POSITIONS = frozenset(("Td", "TD", "Tm", "T*"))
_SHOWS = frozenset(("Tj", "TJ", "'", '"'))


class NewWords(NamedTuple):
    """Words that are written in place of others.

    Args:
        codes: their codes, in `font`. size: the font size. scale: how wide they are written.
        name: the resource name of the font in its stream, or "" for a standard font.
        shift: how far from the place of the old words, in points along the line.
    """

    codes: list[Code]
    font: PdfFont
    name: str
    scale: float
    shift: float


@dataclass(slots=True)
class _ShowEdit:
    """How one instruction changes: codes that go, how far others move, and the words before a code."""

    gone: set[int] = field(default_factory=set)
    shifts: dict[int, float] = field(default_factory=dict)
    words: dict[int, NewWords] = field(default_factory=dict)


class PageWriter:
    """Applies edits of a page's text to its streams.

    Args:
        content: what is on the page. text: its text. right: where the page ends, in points.

    Attributes:
        moved: the lines with new words.
    """

    def __init__(self, content: PageContent, text: PageText, right: float) -> None:
        self._content, self._text, self._right = content, text, right
        self._marks = LineMarks(content, text.segments)
        self._lines = PageLines(content.glyphs, text.segments, right, self._marks)
        self._shows: dict[Show, _ShowEdit] = {}
        self._bases: dict[int, float] = {}  # how far exponents move, by their first glyph
        self.fonts: dict[StreamKey, set[str]] = {}
        self.moved: list[MovedLine] = []

    def apply(self, changes: Iterable[Change]) -> dict[StreamKey, list[Any]]:
        """Return the new instructions of each stream that changes.

        Raises:
            AccountingError: edits overlap or are outside the text.
            UnicodeEncodeError: no font has the new words.
        """
        holes: dict[int, list[Cut]] = {}
        lines = self._lines.lines
        place = {glyph: (number, at) for number, line in enumerate(lines) for at, glyph in enumerate(line.glyphs)}
        end = 0
        for start, stop, new in sorted(changes, key=lambda change: change[:2]):
            if not end <= start <= stop <= len(self._text.text):
                raise AccountingError(f"an edit at {start}..{stop} overlaps another, or is outside the text")
            end = stop
            for number, hole in taken_out(self._text, place, start, stop, new):
                holes.setdefault(number, []).append(hole)
        for number, own in sorted(holes.items(), key=lambda each: -lines[each[0]].size):
            self._move(lines[number], own, self._bases.pop(lines[number].glyphs[0], 0.0))
        for line in lines:
            for number in line.glyphs if line.glyphs[0] in self._bases else ():
                self._shift(self._content.glyphs[number], self._bases[line.glyphs[0]])
        streams = {show.stream for show in self._shows} | self._marks.steps.keys()
        return {key: list(self._stream(key)) for key in streams}

    def words(self) -> Iterable[tuple[Show, int, NewWords]]:
        """Return the new words that `apply` placed, each with its instruction and its position among the codes."""
        return ((show, at, words) for show, edit in self._shows.items() for at, words in edit.words.items())

    def _move(self, line: LineSegment, holes: list[Cut], base: float) -> None:
        """Take glyphs out of a line, and set the line anew from its left, its center, or its right end.

        Args:
            base: how far the words before the line move, if it is carried by them.
        """
        glyphs = self._content.glyphs
        words = [self._set(glyphs[line.glyphs[hole.first]], hole.new) if hole.new else None for hole in holes]
        widths = [_width(each, glyphs[line.glyphs[hole.first]]) if each else 0.0
                  for each, hole in zip(words, holes, strict=True)]  # fmt: skip
        olds = [self._old_width(line, hole) for hole in holes]
        is_rtl = any("\u0590" <= c <= "\u08ff" for at in line.glyphs for c in glyphs[at].text)
        gone = {position for hole in holes if not hole.after for position in range(hole.first, hole.last + 1)}
        starts = self._lines.loose(line, gone) if not is_rtl else [0.0] * len(line.glyphs)
        anchor = LEFT if base else self._lines.anchor(line)
        anchor = RIGHT if is_rtl and anchor == LEFT else anchor
        kept = line.end - line.start - sum(olds) + starts[-1]
        scale = _scale(sum(widths), self._lines.room(line, anchor) - kept)
        ends = list(starts)
        for hole, wide, old in zip(holes, widths, olds, strict=True):
            for position in range(hole.last + 1, len(line.glyphs)):
                starts[position] += wide * scale - old
            for position in range(hole.last if not hole.after else hole.last + 1, len(line.glyphs)):
                ends[position] += wide * scale - old
        shift = base - anchor * ends[-1]
        starts, ends = [each + shift for each in starts], [each + shift for each in ends]
        for hole, own, wide in zip(holes, words, widths, strict=True):
            if own:
                added = wide * scale if hole.last < hole.first else 0.0
                self._place(line, hole, own, scale, starts[hole.first] - added)
        for position, number in enumerate(line.glyphs):
            self._shift(glyphs[number], starts[position], is_gone=position in gone)
        self._carry(line, ends)
        self.moved.append(self._moved(line, holes, gone, (starts, ends)))
        self._marks.follow(self.moved[-1])

    def _shift(self, glyph: Glyph, shift: float, *, is_gone: bool = False) -> None:
        if is_gone:
            self._shows.setdefault(glyph.show, _ShowEdit()).gone.add(glyph.at)
        elif abs(shift) > _LEAST_SHIFT:
            self._shows.setdefault(glyph.show, _ShowEdit()).shifts[glyph.at] = shift

    def _moved(
        self, line: LineSegment, holes: list[Cut], gone: set[int], moves: tuple[list[float], list[float]]
    ) -> MovedLine:
        glyphs = self._content.glyphs
        places = []
        for number in line.glyphs:
            start = along(glyphs[number], line.angle)[0]
            places.append((start, start + hypot(glyphs[number].dx, glyphs[number].dy)))
        starts, ends = moves
        kept = [i for i in range(len(places)) if i not in gone and glyphs[line.glyphs[i]].text.strip()]
        old = [(places[hole.first][0], places[hole.last][1], starts[hole.first], ends[hole.last])
               for hole in holes if hole.first <= hole.last and not hole.after]  # fmt: skip
        return MovedLine(
            line,
            [Hole(start, end, start + shift, end + end_shift) for start, end, shift, end_shift in old],
            [(places[i][0], starts[i]) for i in kept],
            [(places[i][1], ends[i]) for i in kept],
        )

    def _carry(self, line: LineSegment, ends: list[float]) -> None:
        """Move what is a little above or below the line, such as exponents, with the words before it."""
        glyphs = self._content.glyphs
        starts = [along(glyphs[number], line.angle)[0] for number in line.glyphs]
        for other in self._lines.carried(line):
            before = max((i for i, start in enumerate(starts) if start <= other.start), default=0)
            self._bases.setdefault(other.glyphs[0], ends[before])

    def _old_width(self, line: LineSegment, hole: Cut) -> float:
        if hole.after or hole.last < hole.first:
            return 0.0
        glyphs = self._content.glyphs
        first, last = glyphs[line.glyphs[hole.first]], glyphs[line.glyphs[hole.last]]
        return along(last, line.angle)[0] + hypot(last.dx, last.dy) - along(first, line.angle)[0]

    def _set(self, model: Glyph, new: str) -> tuple[list[Code], PdfFont, str]:
        """Return new words in the font of an old glyph, or in the standard font that looks most like it.

        Raises:
            UnicodeEncodeError: neither font has the words.
        """
        state = model.show.state
        new = " ".join(new.split()) or " "
        if state.font is not None and state.name:
            own = state.font.encoded(new)
            if own is not None:
                return own, state.font, state.name
        font = standard(state.font.standard if state.font is not None else "Helvetica")
        codes = font.codes(new.encode("cp1252"))
        return codes, font, ""

    def _place(
        self, segment: LineSegment, hole: Cut, words: tuple[list[Code], PdfFont, str], scale: float, shift: float
    ) -> None:
        glyph = self._content.glyphs[segment.glyphs[hole.first]]
        codes, font, name = words
        if hole.after:
            shift += hypot(glyph.dx, glyph.dy)
        edit = self._shows.setdefault(glyph.show, _ShowEdit())
        edit.words[glyph.at] = NewWords(codes, font, name, scale, shift)
        if not name:
            self.fonts.setdefault(glyph.show.stream, set()).add(font.standard)

    def _stream(self, key: StreamKey) -> Iterable[tuple[str, list[Any]]]:
        """Yield the new instructions of a stream. In a text object that changes, all positions become absolute."""
        instructions = self._content.streams[key]
        shows = {glyph.show.index: glyph.show for glyph in self._content.glyphs if glyph.show.stream == key}
        blocks = {show.block for show in self._shows if show.stream == key}
        block = -1
        marks = self._marks.steps.get(key, {})
        for index, (operator, operands) in enumerate(instructions):
            if index in marks:
                yield from marks[index]
                continue
            block = index if operator == "BT" else block
            if block not in blocks or operator not in _POSITIONS | _SHOWS:
                yield operator, operands
                continue
            if operator in _POSITIONS:
                if operator == "TD":
                    yield "TL", [-operands[1]]
                continue
            if operator == '"':
                yield "Tw", [operands[0]]
                yield "Tc", [operands[1]]
            show = shows.get(index)
            if show is not None and show.codes:
                yield from _written(show, self._shows.get(show, _ShowEdit()))


def resource_name(font: str) -> str:
    """Return the resource name of a standard font in the streams that we change."""
    return f"/Std{font.replace('-', '')}"


def _scale(new: float, room: float) -> float:
    """Return how wide new words of a width are written, so that they have room."""
    if new <= room or not new:
        return 1.0
    return max(_LEAST, int(room / new / _STEP) * _STEP)


def _width(words: tuple[list[Code], PdfFont, str], model: Glyph) -> float:
    """Return the width of new words in points."""
    a, b, _, _, _, _ = times(model.show.matrix, model.show.above)
    state = model.show.state
    return sum(code.width for code in words[0]) * abs(state.size * state.scale) * hypot(a, b)


def unit_of(show: Show) -> float:
    """Return the length of a unit of text space in points, in the direction of the text."""
    a, b, _, _, _, _ = times(show.matrix, show.above)
    return (hypot(a, b) or 1.0) * (-1 if show.state.size * show.state.scale < 0 else 1)


def _written(show: Show, edit: _ShowEdit) -> Iterable[tuple[str, list[Any]]]:
    unit = unit_of(show)
    chunk: list[int] = []
    moved = 0.0

    def flushed() -> Iterable[tuple[str, list[Any]]]:
        if chunk:
            yield "Tm", _at(show, show.offsets[chunk[0]] + moved / unit)
            yield "TJ", [_array(show, chunk, edit.shifts, unit)]
            chunk.clear()

    for at in range(len(show.codes)):
        if at in edit.words:
            yield from flushed()
            yield from _new(show, at, edit.words[at], unit)
        if at in edit.gone:
            yield from flushed()
            continue
        if not chunk:
            moved = edit.shifts.get(at, 0.0)
        chunk.append(at)
    yield from flushed()


def _new(show: Show, at: int, words: NewWords, unit: float) -> Iterable[tuple[str, list[Any]]]:
    """Yield a text object of its own for new words, so that the text state around it stays as it was."""
    import pikepdf

    name = words.name or resource_name(words.font.standard)
    yield "ET", []
    yield "q", []
    yield "BT", []
    yield "Tf", [pikepdf.Name(name), decimal(show.state.size)]
    yield "Tc", [0]
    yield "Tw", [0]
    yield "Tz", [decimal(show.state.scale * words.scale * 100)]
    yield "Tm", _at(show, show.offsets[at] + words.shift / unit)
    yield "Tj", [pikepdf.String(b"".join(code.code for code in words.codes))]
    yield "ET", []
    yield "Q", []
    yield "BT", []


def _at(show: Show, offset: float) -> list[Any]:
    matrix: Matrix = times((1, 0, 0, 1, offset, 0), show.matrix)
    return [decimal(each) for each in matrix]


def _array(show: Show, chunk: list[int], shifts: Mapping[int, float], points: float) -> Any:
    """Return codes in a row, with the same distances as before, except for those that move by different lengths.

    Args:
        points: the length of a unit of text space in points.
    """
    import pikepdf

    state = show.state
    unit = state.size * state.scale
    items: list[Any] = []
    piece = b""
    for position, at in enumerate(chunk):
        code = show.codes[at]
        piece += code.code
        if position + 1 < len(chunk):
            space = state.char_space + (state.word_space if code.code == b" " else 0.0)
            extra = show.offsets[at + 1] - show.offsets[at] - code.width * unit - space * state.scale
            extra += (shifts.get(at + 1, 0.0) - shifts.get(at, 0.0)) / points
            if unit and abs(extra) > 1e-6:
                items += [pikepdf.String(piece), decimal(-extra / unit * 1000)]
                piece = b""
    return pikepdf.Array([*items, pikepdf.String(piece)])
