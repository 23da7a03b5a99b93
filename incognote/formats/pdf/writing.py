"""Write new words into the content of a PDF page: old glyphs are taken out, and the rest of their line moves.

A gap as wide as the old words would tell how long they were. So the words that follow on the line move until they
follow the new words as they followed the old ones. Every other glyph of the page stays where it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import hypot
from typing import Any, NamedTuple

from incognote.errors import AccountingError
from incognote.formats.base import Change
from incognote.formats.pdf.content import Glyph, Matrix, PageContent, Show, StreamKey, times
from incognote.formats.pdf.fonts import Code, PdfFont, standard
from incognote.formats.pdf.layout import LineSegment, PageText, along

_LEAST = 0.2  # new words are not written narrower than that
_STEP = 0.1  # the scale of narrower words, which would otherwise tell how much room there was
_CLEAR = 0.7  # the least distance to the next words of the line, in font sizes; nearer ones would be joined
_GAP, _WORD_GAP = 0.17, 0.25  # the narrowest gap between words, and the gap in changed lines, in font sizes
_MARGIN = 14.0  # points to the edge of the page
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


@dataclass(slots=True)
class _Hole:
    """Glyphs of a segment that are taken out, and the words in their place."""

    first: int  # positions in the segment
    last: int
    new: str
    after: bool = False  # the words follow the glyph, which stays


class PageWriter:
    """Applies edits of a page's text to its streams.

    Args:
        content: what is on the page. text: its text. right: where the page ends, in points.
    """

    def __init__(self, content: PageContent, text: PageText, right: float) -> None:
        self._content, self._text, self._right = content, text, right
        self._shows: dict[Show, _ShowEdit] = {}
        self.fonts: dict[StreamKey, set[str]] = {}

    def apply(self, changes: Iterable[Change]) -> dict[StreamKey, list[Any]]:
        """Return the new instructions of each stream that changes.

        Raises:
            AccountingError: edits overlap or are outside the text.
            UnicodeEncodeError: no font has the new words.
        """
        holes: dict[int, list[_Hole]] = {}
        place = {glyph: (number, at) for number, segment in enumerate(self._text.segments)
                 for at, glyph in enumerate(segment.glyphs)}  # fmt: skip
        end = 0
        for start, stop, new in sorted(changes, key=lambda change: change[:2]):
            if not end <= start <= stop <= len(self._text.text):
                raise AccountingError(f"an edit at {start}..{stop} overlaps another, or is outside the text")
            end = stop
            for number, hole in self._holes(start, stop, new, place):
                holes.setdefault(number, []).append(hole)
        for number, own in holes.items():
            self._segment(self._text.segments[number], own)
        streams = {show.stream for show in self._shows}
        return {key: list(self._stream(key)) for key in streams}

    def _holes(
        self, start: int, stop: int, new: str, place: dict[int, tuple[int, int]]
    ) -> Iterable[tuple[int, _Hole]]:
        """Yield the glyphs of one edit, by segment. The first ones get the new words."""
        glyphs = self._text.glyphs
        direct = {glyph for glyph in glyphs[start:stop] if glyph >= 0}
        accents = {accent for glyph in direct for accent in self._text.accents.get(glyph, ())}
        covered = sorted(direct | accents, key=place.__getitem__)
        if not covered:
            at = next((i for i in range(stop, len(glyphs)) if glyphs[i] >= 0), None)
            if at is not None:
                number, position = place[glyphs[at]]
                yield number, _Hole(position, position - 1, new)
            else:
                at = next(i for i in range(start - 1, -1, -1) if glyphs[i] >= 0)
                number, position = place[glyphs[at]]
                yield number, _Hole(position, position, new, after=True)
            return
        new = self._rest(start, -1, glyphs) + new + self._rest(stop - 1, 1, glyphs)
        order = [glyph for i, glyph in enumerate(glyphs[start:stop]) if glyph >= 0]
        main = place[order[0]][0]
        by_segment: dict[int, list[int]] = {}
        for glyph in covered:
            by_segment.setdefault(place[glyph][0], []).append(place[glyph][1])
        for number, positions in by_segment.items():
            groups: list[list[int]] = []
            for position in sorted(positions):
                if groups and position == groups[-1][-1] + 1:
                    groups[-1].append(position)
                else:
                    groups.append([position])
            lead = place[order[0]][1]
            for group in groups:
                yield number, _Hole(group[0], group[-1], new if number == main and lead in group else "")

    def _rest(self, at: int, step: int, glyphs: Sequence[int]) -> str:
        """Return the characters of a glyph that are outside an edit, such as the f of a ligature."""
        rest = ""
        i = at + step
        while 0 <= i < len(glyphs) and glyphs[i] == glyphs[at] and glyphs[at] >= 0:
            rest = rest + self._text.text[i] if step > 0 else self._text.text[i] + rest
            i += step
        return rest

    def _segment(self, segment: LineSegment, holes: list[_Hole]) -> None:
        """Take glyphs out of a segment, and move those that are read after them."""
        glyphs = self._content.glyphs
        words = [self._set(glyphs[segment.glyphs[hole.first]], hole.new) if hole.new else None for hole in holes]
        widths = [_width(each, glyphs[segment.glyphs[hole.first]]) if each else 0.0
                  for each, hole in zip(words, holes, strict=True)]  # fmt: skip
        olds = [self._old_width(segment, hole) for hole in holes]
        is_rtl = any("\u0590" <= c <= "\u08ff" for at in segment.glyphs for c in glyphs[at].text)
        gone = {position for hole in holes if not hole.after for position in range(hole.first, hole.last + 1)}
        edges = [0.0] * len(segment.glyphs) if is_rtl else self._loose(segment, gone)  # how far each glyph moves
        scale = self._scale(segment, sum(widths), sum(olds) - edges[-1], is_rtl=is_rtl)
        for i, hole in sorted(enumerate(holes), key=lambda each: each[1].first, reverse=is_rtl):
            wide = widths[i] * scale
            own = words[i]
            if own:
                at = min(hole.first, len(segment.glyphs) - 1)
                back = olds[i] - wide if is_rtl else 0.0
                self._place(segment, hole, own, scale, edges[at] + back)
            later = range(hole.first) if is_rtl else range(hole.last + 1, len(segment.glyphs))
            for position in later:
                edges[position] += (olds[i] - wide) if is_rtl else (wide - olds[i])
        self._carry(segment, edges)
        for position, number in enumerate(segment.glyphs):
            glyph = glyphs[number]
            if position in gone:
                self._shows.setdefault(glyph.show, _ShowEdit()).gone.add(glyph.at)
            elif edges[position]:
                self._shows.setdefault(glyph.show, _ShowEdit()).shifts[glyph.at] = edges[position]

    def _loose(self, segment: LineSegment, gone: set[int]) -> list[float]:
        """Return how far each glyph moves if all words of the line have the same distance.

        In a line with even margins, the distances of the words would tell how long the old words were.
        """
        glyphs = self._content.glyphs
        shift, moves = 0.0, [0.0]
        for position in range(1, len(segment.glyphs)):
            one, two = glyphs[segment.glyphs[position - 1]], glyphs[segment.glyphs[position]]
            gap = along(two, segment.angle)[0] - along(one, segment.angle)[0] - hypot(one.dx, one.dy)
            if position - 1 not in gone or position not in gone:
                if one.text == " " and two.text != " ":
                    shift -= gap
                elif gap > _GAP * one.size and " " not in (one.text, two.text):
                    shift += _WORD_GAP * one.size - gap
            moves.append(shift)
        return moves

    def _carry(self, segment: LineSegment, edges: list[float]) -> None:
        """Move what is a little above or below the line, such as exponents, with the words before it."""
        glyphs = self._content.glyphs
        starts = [along(glyphs[number], segment.angle)[0] for number in segment.glyphs]
        for other in self._text.segments:
            off = abs(other.level - segment.level)
            if other.angle != segment.angle or not 0 < off < 0.7 * segment.size or other.size >= segment.size:
                continue
            if not segment.start < other.start <= segment.end + 0.3 * segment.size:
                continue
            before = max((i for i, start in enumerate(starts) if start <= other.start), default=0)
            for number in other.glyphs if edges[before] else ():
                edit = self._shows.setdefault(glyphs[number].show, _ShowEdit())
                edit.shifts.setdefault(glyphs[number].at, edges[before])

    def _scale(self, segment: LineSegment, new: float, old: float, *, is_rtl: bool) -> float:
        """Return how narrow new words are written, so that the line has room."""
        room = segment.start - self._left_limit(segment) if is_rtl else self._limit(segment) - segment.end
        over = new - old - max(room, 0.0)
        if over <= 0 or not new:
            return 1.0
        return max(_LEAST, int((1 - over / new) / _STEP) * _STEP)

    def _old_width(self, segment: LineSegment, hole: _Hole) -> float:
        if hole.after or hole.last < hole.first:
            return 0.0
        glyphs = self._content.glyphs
        first, last = glyphs[segment.glyphs[hole.first]], glyphs[segment.glyphs[hole.last]]
        return along(last, segment.angle)[0] + hypot(last.dx, last.dy) - along(first, segment.angle)[0]

    def _limit(self, segment: LineSegment) -> float:
        """Return where the next words on the same line begin, or the page ends."""
        starts = [other.start for other in self._beside(segment) if other.start >= segment.end - 1]
        ends = [self._right - _MARGIN] if segment.angle == 0 else []
        return min([*ends, *(start - _CLEAR * segment.size for start in starts)], default=float("inf"))

    def _left_limit(self, segment: LineSegment) -> float:
        ends = [other.end + _CLEAR * segment.size for other in self._beside(segment) if other.end <= segment.start + 1]
        return max([*ends, _MARGIN] if segment.angle == 0 else ends, default=float("-inf"))

    def _beside(self, segment: LineSegment) -> Iterator[LineSegment]:
        for other in self._text.segments:
            near = abs(other.level - segment.level) < 0.8 * segment.size
            if other is not segment and near and other.angle == segment.angle:
                yield other

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
        self, segment: LineSegment, hole: _Hole, words: tuple[list[Code], PdfFont, str], scale: float, shift: float
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
        for index, (operator, operands) in enumerate(instructions):
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


def _width(words: tuple[list[Code], PdfFont, str], model: Glyph) -> float:
    """Return the width of new words in points."""
    a, b, _, _, _, _ = times(model.show.matrix, model.show.above)
    state = model.show.state
    return sum(code.width for code in words[0]) * abs(state.size * state.scale) * hypot(a, b)


def _written(show: Show, edit: _ShowEdit) -> Iterable[tuple[str, list[Any]]]:
    a, b, _, _, _, _ = times(show.matrix, show.above)
    unit = (hypot(a, b) or 1.0) * (-1 if show.state.size * show.state.scale < 0 else 1)
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
    yield "Tf", [pikepdf.Name(name), _number(show.state.size)]
    yield "Tc", [0]
    yield "Tw", [0]
    yield "Tz", [_number(show.state.scale * words.scale * 100)]
    yield "Tm", _at(show, show.offsets[at] + words.shift / unit)
    yield "Tj", [pikepdf.String(b"".join(code.code for code in words.codes))]
    yield "ET", []
    yield "Q", []
    yield "BT", []


def _at(show: Show, offset: float) -> list[Any]:
    matrix: Matrix = times((1, 0, 0, 1, offset, 0), show.matrix)
    return [_number(each) for each in matrix]


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
                items += [pikepdf.String(piece), _number(-extra / unit * 1000)]
                piece = b""
    return pikepdf.Array([*items, pikepdf.String(piece)])


def _number(value: float) -> Decimal:
    return Decimal(f"{value:.5f}".rstrip("0").rstrip(".") or "0")
