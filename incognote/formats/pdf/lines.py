"""The parts of lines that move together if their words change, where they are anchored, and their room."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import hypot, inf
from statistics import median

from incognote.formats.pdf.columns import LineSegment
from incognote.formats.pdf.glyphs import Glyph
from incognote.formats.pdf.layout import along
from incognote.formats.pdf.marks import LineMarks

LEFT, CENTER, RIGHT = 0.0, 0.5, 1.0

# In units of the font size.
_FLOW = 1.2  # the widest gap between parts of a line that move together
_GAP, _WORD_GAP = 0.17, 0.25  # the narrowest gap between words, and the gap in changed lines
_CLEAR = 0.7  # the least distance to the next words of the line; nearer ones would be joined
_NEAR = 10.0  # how far above or below other lines show how a line is anchored
_INDENT = 5.0  # the widest indent of a paragraph
_LONG = 12.0  # the length of a line of a paragraph
_STRETCHED = 0.004  # the typical addition to the spaces of a line with even margins
_NUMBER = 10  # the most characters of a number in a column

# In points.
_EQUAL, _MIDDLE = 0.6, 1.0  # between edges, and between centers, that are equal
_MARGIN = 14.0  # to the edge of the page


class PageLines:
    """The parts of the lines of a page that move together.

    Args:
        glyphs: what is on the page. segments: its text. right: where the page ends, in points.
        marks: its straight lines and boxes.

    Attributes:
        lines: the parts, each from its first to its last letter.
    """

    def __init__(
        self, glyphs: Sequence[Glyph], segments: Sequence[LineSegment], right: float, marks: LineMarks
    ) -> None:
        self._glyphs, self._right, self._marks, self._walls = glyphs, right, marks, marks.walls
        parts = [part for segment in segments for part in self._parted(segment)]
        self.lines = list(self._joined(parts))

    def anchor(self, line: LineSegment) -> float:
        """Return whether a line is set from its left (0), from its center (0.5), or from its right end (1)."""
        center, width = (line.start + line.end) / 2, line.end - line.start
        around = [
            other for other in self.lines
            if other.angle == line.angle and 0.5 * line.size < abs(other.level - line.level) < _NEAR * line.size
        ]  # fmt: skip
        if width > _LONG * line.size and self._is_in_block(line, around):
            return LEFT
        near = [other for other in around if abs(other.end - other.start - width) > 2 * _EQUAL]
        left = sum(abs(other.start - line.start) < _EQUAL for other in near)
        centers = [other for other in near if abs((other.start + other.end) / 2 - center) < _MIDDLE]
        middle = sum(self._is_around(other, line) for other in centers)
        ends = sum(abs(other.end - line.end) < _EQUAL and self._is_around(other, line) for other in near)
        if left >= max(middle, ends, 1):
            return LEFT
        if middle or ends:
            return CENTER if middle > ends else RIGHT
        return self._within(line, center)

    def _is_in_block(self, line: LineSegment, around: Sequence[LineSegment]) -> bool:
        """Whether a long line is one of a paragraph with two even margins: lines that end as it does start alike."""
        starts = sorted([line.start, *(other.start for other in around if abs(other.end - line.end) < _EQUAL)])
        pairs = list(pairwise(starts))
        return any(two - one < _EQUAL for one, two in pairs) or (
            len(pairs) == 1 and starts[1] - starts[0] < _INDENT * line.size
        )

    def _is_around(self, other: LineSegment, line: LineSegment) -> bool:
        """Whether the cell of another line, if it is in one, is around a line too."""
        walls = self._walls(other)
        left = max((wall for wall in walls if wall < other.start + 1), default=-inf)
        right = min((wall for wall in walls if wall > other.end - 1), default=inf)
        return (left < line.start + 1 and line.end - 1 < right) or inf in (-left, right)

    def _within(self, line: LineSegment, center: float) -> float:
        """Return how a line is anchored that has no equal edge with another one, by the cell or the page around it."""
        size, walls = line.size, self._walls(line)
        left = max((wall for wall in walls if wall < line.start + 1), default=None)
        right = min((wall for wall in walls if wall > line.end - 1), default=None)
        if line.angle % 90:  # oblique lines have no margins in common
            return LEFT
        if left is None or right is None:
            others = [other for other in self.lines if other.angle == line.angle and other is not line]
            left = min((other.start for other in others), default=_MARGIN if line.angle == 0 else -inf)
            right = max((other.end for other in others), default=inf)
            if line.angle == 0 and abs(center - self._right / 2) < 2 * _MIDDLE and line.start > left + size:
                return CENTER
            if line.start - left < _INDENT * size:
                return LEFT
        if abs(line.start - left - right + line.end) < 2 * _MIDDLE and line.start - left > size:
            return CENTER
        return RIGHT if right - line.end < min(size, line.start - left - size) else LEFT

    def room(self, line: LineSegment, anchor: float) -> float:
        """Return how wide a line can be until it meets other words, a wall, or the margin of the page."""
        left, right = self._marks.clips(line)
        if line.angle == 0:
            left, right = max(left, _MARGIN), min(right, self._right - _MARGIN)
        clear, pad = _CLEAR * line.size, 0.15 * line.size
        beside = list(self._beside(line))
        right = min([right, *(each.start - clear for each in beside if each.start >= line.end - 1),
                     *(wall - pad for wall in self._walls(line) if wall >= line.end - 1)])  # fmt: skip
        left = max([left, *(each.end + clear for each in beside if each.end <= line.start + 1),
                    *(wall + pad for wall in self._walls(line) if wall <= line.start + 1)])  # fmt: skip
        center = (line.start + line.end) / 2
        rooms = {LEFT: right - line.start, CENTER: 2 * min(right - center, center - left), RIGHT: line.end - left}
        return rooms[anchor]

    def _beside(self, line: LineSegment) -> Iterator[LineSegment]:
        carried = list(map(id, self.carried(line)))
        for other in self.lines:
            near = abs(other.level - line.level) < 0.8 * line.size
            if other is not line and near and other.angle == line.angle and id(other) not in carried:
                yield other

    def carried(self, line: LineSegment) -> Iterator[LineSegment]:
        """Yield what is a little above or below a line, such as exponents, and follows its words."""
        for other in self.lines:
            off = abs(other.level - line.level)
            if other.angle != line.angle or not 0 < off < 0.7 * line.size or other.size >= line.size:
                continue
            if line.start < other.start <= line.end + 0.3 * line.size:
                yield other

    def loose(self, line: LineSegment, gone: set[int]) -> list[float]:
        """Return how far each glyph moves if all words of the line have the same distance.

        In a line with even margins, the distances of the words would reveal the length of the old ones. In other lines,
        nothing moves.
        """
        moves = [0.0] * len(line.glyphs)
        if not self._is_stretched(line):
            return moves
        shift, carried = 0.0, [(other.start, other.end) for other in self.carried(line)]
        usual = self._between_letters(line)
        for position in range(1, len(line.glyphs)):
            one, two = self._glyphs[line.glyphs[position - 1]], self._glyphs[line.glyphs[position]]
            start = along(one, line.angle)[0] + hypot(one.dx, one.dy)
            gap = along(two, line.angle)[0] - start
            gap -= sum(end - begin for begin, end in carried if start - 0.1 * one.size < begin < start + gap)
            if position - 1 not in gone or position not in gone:
                if one.text == " " and two.text != " ":
                    shift -= gap - usual
                elif gap > _GAP * one.size + usual and " " not in (one.text, two.text):
                    shift += _WORD_GAP * one.size + usual - gap
            moves[position] = shift
        return moves

    def _is_stretched(self, line: LineSegment) -> bool:
        """Whether the spaces of a line may have been made wider or narrower to fill it."""
        usual = self._between_letters(line)
        pairs = [(self._glyphs[one], self._glyphs[two]) for one, two in pairwise(line.glyphs)]
        spaces = [
            abs(along(two, line.angle)[0] - along(one, line.angle)[0] - hypot(one.dx, one.dy) - usual) / one.size
            for one, two in pairs if one.text == " " != two.text and one.size
        ]  # fmt: skip
        if spaces:
            return median(spaces) > _STRETCHED
        block = [other.end for other in self.lines
                 if other.angle == line.angle and abs(other.start - line.start) < 3 * line.size]  # fmt: skip
        return line.end > max(block) - line.size

    def _between_letters(self, line: LineSegment) -> float:
        """Return the usual distance between letters."""
        pairs = [(self._glyphs[one], self._glyphs[two]) for one, two in pairwise(line.glyphs)]
        gaps = [along(two, line.angle)[0] - along(one, line.angle)[0] - hypot(one.dx, one.dy)
                for one, two in pairs if " " not in (one.text, two.text)]  # fmt: skip
        return median(gaps) if len(gaps) > 3 else 0.0

    def _parted(self, segment: LineSegment) -> Iterator[LineSegment]:
        """Yield the parts of a segment between walls."""
        walls, part = self._walls(segment), list[int]()
        end = inf
        for number in segment.glyphs:
            glyph = self._glyphs[number]
            start = along(glyph, segment.angle)[0]
            if part and any(end - 0.1 <= wall <= start + 0.1 for wall in walls):
                yield self._line(segment, part)
                part = []
            part.append(number)
            end = start if not glyph.text.strip() else start + hypot(glyph.dx, glyph.dy)
        yield self._line(segment, part)

    def _line(self, segment: LineSegment, part: list[int]) -> LineSegment:
        """Return a line from its first to its last letter."""
        letters = [self._glyphs[number] for number in part if self._glyphs[number].text.strip()]
        letters = letters or [self._glyphs[number] for number in part]
        starts = [along(glyph, segment.angle)[0] for glyph in letters]
        end = max(start + hypot(glyph.dx, glyph.dy) for start, glyph in zip(starts, letters, strict=True))
        size = max(max(glyph.size for glyph in letters), 0.1)
        return replace(segment, glyphs=part, start=min(starts), end=end, size=size)

    def _joined(self, parts: list[LineSegment]) -> Iterator[LineSegment]:
        """Join parts that are near each other, and not the cells of a table."""
        edges: dict[tuple[int, bool, int], list[tuple[float, LineSegment]]] = defaultdict(list)
        for part in parts:
            for is_end, edge in enumerate((part.start, part.end)):
                edges[part.angle, bool(is_end), round(edge)].append((edge, part))

        def is_cell(part: LineSegment) -> bool:
            return any(
                abs(edge - own) < _EQUAL and 0.5 * part.size < abs(other.level - part.level) < _NEAR * part.size
                and (not is_end or max(len(part.glyphs), len(other.glyphs)) < _NUMBER)
                for is_end, own in enumerate((part.start, part.end)) for near in (-1, 0, 1)
                for edge, other in edges[part.angle, bool(is_end), round(own) + near]
            )  # fmt: skip

        rows: list[list[LineSegment]] = []
        for part in sorted(parts, key=lambda part: (part.angle, round(part.level, 1), part.start)):
            if not rows or not self._follows(rows[-1][-1], part):
                rows.append([])
            rows[-1].append(part)
        for row in rows:
            is_even = _is_even(row)
            last = row[0]
            for part in row[1:]:
                if is_even or not is_cell(part) or self._is_word(last, part):
                    last = self._line(last, last.glyphs + part.glyphs)
                else:
                    yield last
                    last = part
            yield last

    def _is_word(self, line: LineSegment, part: LineSegment) -> bool:
        """Whether a part follows a line as the words of the line follow each other."""
        gaps = [
            along(self._glyphs[two], line.angle)[0] - along(self._glyphs[one], line.angle)[0]
            - hypot(self._glyphs[one].dx, self._glyphs[one].dy) for one, two in pairwise(line.glyphs)
        ]  # fmt: skip
        wide = [gap for gap in gaps if gap > _GAP * line.size]
        return len(wide) > 2 and abs(part.start - line.end - median(wide)) < 0.1 * line.size

    def _follows(self, one: LineSegment, two: LineSegment) -> bool:
        near = one.angle == two.angle and abs(one.level - two.level) < 0.1 * one.size
        if not near or not -0.3 * one.size < two.start - one.end < _FLOW * one.size:
            return False
        return not any(one.end - 0.1 <= wall <= two.start + 0.1 for wall in self._walls(one))


def _is_even(row: Sequence[LineSegment]) -> bool:
    """Whether most gaps between parts of a line are equal, as in a line of words with even margins."""
    gaps = [two.start - one.end for one, two in pairwise(row)]
    return len(gaps) > 2 and sum(abs(gap - median(gaps)) < 0.1 * row[0].size for gap in gaps) > 0.7 * len(gaps)
