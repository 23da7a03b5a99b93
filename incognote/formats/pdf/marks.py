"""Straight lines and boxes at the words of a page: underlines, marked words, frames, and the walls of tables.

A line under words that go is as long as they were. So it gets the length of the new words, like a mark or a frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import cos, hypot, inf, radians, sin
from typing import Any, NamedTuple

from incognote.formats.pdf.columns import LineSegment
from incognote.formats.pdf.content import PageContent
from incognote.formats.pdf.glyphs import IDENTITY, Matrix, Show, StreamKey, times
from incognote.formats.pdf.layout import along
from incognote.formats.pdf.shapes import DRAWING, PAINTING

# In units of the font size.
_WALL = 2.2  # the shortest wall; a shorter line belongs to the words beside it
_PAD = 0.6  # the widest distance from words to the end of their mark or frame
_BESIDE = 1.2  # how far a mark beside the last word of a line, such as that of an exponent, ends from it
_INNER = 0.35  # how far the end of a line may be from the end of its words to belong to it
_BELOW, _ABOVE, _LOWEST, _HIGHEST = 0.6, 1.4, 1.3, 2.0  # where a mark overlaps a line, and where it ends at most
_GAP = 0.15  # the narrowest gap between words, and the widest distance from words to the line under them
_OTHER = 0.7  # the least distance to another line that is not an exponent
_THIN = 3.0  # points: the width of a wall
_TOUCH = 1.5  # points between the parts of a wall
_SAME = 0.6  # points between equal places
_OBLIQUE = 0.03  # the slope of a line that is neither along words nor across them; angles are even numbers of degrees
_LARGE = 2.5  # how many times larger words are if the marks of other words at the same place are not theirs
_MOST_PIECES, _MOST_WALLS = 50_000, 2_000  # of a page

Instructions = list[tuple[str, list[Any]]]
Point = tuple[float, float]
Box = tuple[float, float, float, float]


@dataclass(slots=True, eq=False)
class _Path:
    """A path: its pieces that consist of straight lines, the number of all, and the instruction that paints it."""

    painted: int = -1
    is_clip: bool = False
    count: int = 0
    pieces: list[_Piece] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _Piece:
    """A piece of a path that is drawn without lifting the pen.

    Attributes:
        steps: its instructions. points: its corners on the page. matrix: from the space of its stream to the page.
    """

    path: _Path
    stream: StreamKey
    steps: list[int]
    points: list[Point]
    matrix: Matrix
    is_straight: bool = True


class Hole(NamedTuple):
    """Words that go, from `start` to `end` along the line, and where the new ones are."""

    start: float
    end: float
    new_start: float
    new_end: float

    @property
    def is_bare(self) -> bool:
        """Whether nothing is written instead, because the new words are on the line before."""
        return self.new_end - self.new_start < _SAME


@dataclass(frozen=True, slots=True)
class MovedLine:
    """How a line moves.

    Args:
        segment: where it was. holes: its words that go.
        starts, ends: where the other glyphs start and end, and how far they move.
    """

    segment: LineSegment
    holes: Sequence[Hole]
    starts: Sequence[tuple[float, float]]
    ends: Sequence[tuple[float, float]]

    def place(self, at: float, *, is_start: bool) -> float | None:
        """Return where the start or the end of a mark goes, or None if no word starts or ends there."""
        size = self.segment.size
        pad, inner = _PAD * size, _INNER * size
        for hole in self.holes:
            edge, new = (hole.start, hole.new_start) if is_start else (hole.end, hole.new_end)
            if hole.start + 0.05 * size < at < hole.end - 0.05 * size:
                return new
            if -inner < (edge - at if is_start else at - edge) < 0.05 * size:
                return new + at - edge
        best, moved = inf, 0.0
        holes = ((h.start, h.new_start - h.start) if is_start else (h.end, h.new_end - h.end) for h in self.holes)
        for edge, shift in (*(self.starts if is_start else self.ends), *holes):
            off = edge - at if is_start else at - edge
            if -inner < off < pad and abs(off) < best:
                best, moved = abs(off), shift
        return at + moved if best < inf else None

    def followed(self, at: float, *, is_start: bool) -> float:
        """Return where the start or the end of a mark goes. One that is between words goes with those before it."""
        size = self.segment.size
        found = self.place(at, is_start=is_start)
        if found is not None or not self.segment.start < at < self.segment.end + _BESIDE * size:
            return at if found is None else found
        before = [*self.ends, *((hole.end, hole.new_end - hole.end) for hole in self.holes)]
        return at + max((each for each in before if each[0] < at + 0.5 * size), default=(at, 0.0))[1]


class LineMarks:
    """The straight pieces of the paths of a page, and how they change.

    Args:
        content: what is on the page. segments: its text.
    """

    def __init__(self, content: PageContent, segments: Sequence[LineSegment]) -> None:
        self._segments, self._glyphs = segments, content.glyphs
        self._pieces = list(_pieces(content))[:_MOST_PIECES]
        self._boxes: dict[int, list[Box]] = {}
        self._walls: dict[int, list[tuple[float, float, float]]] = {}
        self._changed: set[_Piece] = set()
        self._gone: set[_Piece] = set()
        self.steps: dict[StreamKey, dict[int, Instructions]] = {}

    def walls(self, segment: LineSegment) -> list[float]:
        """Return where upright lines and the edges of boxes that are higher than a line cross the height of a line."""
        low, high = segment.level + 0.1 * segment.size, segment.level + 0.5 * segment.size
        return [
            at for at, bottom, top in self._all_walls(segment.angle)
            if bottom < low and high < top and top - bottom > _WALL * segment.size
        ]  # fmt: skip

    def clips(self, segment: LineSegment) -> tuple[float, float]:
        """Return where the area begins and ends outside of which a line cannot be seen."""
        left, right = -inf, inf
        for piece, (start, low, end, high) in zip(self._pieces, self._of(segment.angle), strict=True):
            inside = start < segment.start + 1 and segment.end - 1 < end and low < segment.level < high
            if piece.path.is_clip and inside:
                left, right = max(left, start), min(right, end)
        return left, right

    def follow(self, line: MovedLine) -> None:
        """Let the marks of a line follow its words."""
        segment, size = line.segment, line.segment.size
        walls = [wall for wall in self._all_walls(segment.angle) if wall[2] - wall[1] > _WALL * size]
        taken: set[tuple[int, int, int]] = set()
        smaller = [(each, self._of(each.angle)) for each in self._segments if _LARGE * each.size < size]
        others = [
            each for each in self._segments
            if each.angle == segment.angle and _OTHER * size < abs(each.level - segment.level) < 2 * _HIGHEST * size
        ]  # fmt: skip
        for at, (piece, box) in enumerate(zip(self._pieces, self._of(segment.angle), strict=True)):
            left, low, right, high = box
            if not _is_at(segment, box) or piece in self._changed:
                continue
            if low - segment.level < -_LOWEST * size or high - segment.level > _HIGHEST * size:
                continue
            off = _off(segment, box)
            if any(_is_at(each, box) and _off(each, box) < off and self._has_words(each, box) for each in others):
                continue
            if any(_is_at(each, boxes[at]) for each, boxes in smaller):
                continue
            inner = _INNER * size
            number = next(
                (i for i, hole in enumerate(line.holes) if hole.start - inner < left and right < hole.end + inner), None
            )
            key = (-1 if number is None else number, round(low), round(high))
            is_thin = high - low < 0.3 * size or right - left > 0.3 * size
            is_bare = number is not None and line.holes[number].is_bare and not piece.path.is_clip
            if number is not None and is_thin and (
                is_bare or key in taken or (piece.path.is_clip and piece.path.count > 1)
            ):
                self._remove(piece)
                continue
            taken.add(key)
            own = [wall for wall, bottom, top in walls if bottom < high + _TOUCH and low < top + _TOUCH]
            ends = self._ends(line, left, right, high - low, own)
            if ends != (left, right):
                self._change(piece, segment.angle, (left, right), ends)

    def _has_words(self, segment: LineSegment, box: Box) -> bool:
        """Whether a box begins and ends where words of a line do, as a line under them does."""
        letters = [self._glyphs[number] for number in segment.glyphs if self._glyphs[number].text.strip()]
        places = [(at := along(each, segment.angle)[0], at + hypot(each.dx, each.dy)) for each in letters]
        gaps = [(one[1], two[0]) for one, two in pairwise(places) if two[0] - one[1] > _GAP * segment.size]
        starts, ends = [segment.start, *(two for _, two in gaps)], [*(one for one, _ in gaps), segment.end]
        return any(abs(each - box[0]) < _GAP * segment.size for each in starts) and any(
            abs(each - box[2]) < _INNER * segment.size for each in ends
        )

    def _ends(
        self, line: MovedLine, left: float, right: float, height: float, walls: Sequence[float]
    ) -> tuple[float, float]:
        """Return where a mark starts and ends after its line has moved."""
        if any(abs(wall - left) < 2 * _SAME or abs(wall - right) < 2 * _SAME for wall in walls):
            return left, right
        if right - left < min(0.25 * line.segment.size, height):
            places = [place for is_start in (True, False) if (place := line.place(left, is_start=is_start)) is not None]
            inside = any(hole.start < left and right < hole.end for hole in line.holes)
            new = min(places, key=lambda each: abs(each - left), default=left) if not inside else left
            return new, new + right - left
        start, end = line.place(left, is_start=True), line.place(right, is_start=False)
        return (start, end) if start is not None and end is not None and start < end else (left, right)

    def _change(
        self, piece: _Piece, angle: int, old: tuple[float, float], new: tuple[float, float]
    ) -> None:
        c, s = cos(radians(angle)), sin(radians(angle))
        moved: list[Point] = []
        for x, y in piece.points:
            along, up = x * c + y * s, y * c - x * s
            side = min((0, 1), key=lambda side: abs(along - old[side]))
            if abs(along - old[side]) > _SAME:
                return
            along += new[side] - old[side]
            moved.append((along * c - up * s, along * s + up * c))
        back = _inverse(piece.matrix)
        if back is None:
            return
        a, b, d, e, f, g = back
        corners = [[a * x + d * y + f, b * x + e * y + g] for x, y in moved]
        steps = self.steps.setdefault(piece.stream, {})
        if len(piece.steps) == 1:  # a rectangle
            steps[piece.steps[0]] = [("m", corners[0]), *(("l", corner) for corner in corners[1:]), ("h", [])]
        else:
            for number, (step, corner) in enumerate(zip(piece.steps, corners, strict=False)):
                steps[step] = [("l" if number else "m", corner)]
        self._changed.add(piece)

    def _remove(self, piece: _Piece) -> None:
        path, steps = piece.path, self.steps.setdefault(piece.stream, {})
        self._changed.add(piece)
        self._gone.add(piece)
        steps.update((step, []) for step in piece.steps)
        if len(path.pieces) == path.count and all(each in self._gone for each in path.pieces):
            steps[path.painted] = []

    def _of(self, angle: int) -> list[Box]:
        """Return the box of each piece, along lines of an angle and across them. An oblique piece is nowhere."""
        if angle not in self._boxes:
            c, s = cos(radians(angle)), sin(radians(angle))
            boxes: list[Box] = []
            for piece in self._pieces:
                along = [x * c + y * s for x, y in piece.points]
                up = [y * c - x * s for x, y in piece.points]
                sides = [(abs(a - b), abs(d - e)) for (a, b), (d, e) in zip(pairwise(along), pairwise(up), strict=True)]
                if any(min(side) > _SAME + _OBLIQUE * max(side) for side in sides):
                    boxes.append((inf, inf, -inf, -inf))
                else:
                    boxes.append((min(along), min(up), max(along), max(up)))
            self._boxes[angle] = boxes
        return self._boxes[angle]

    def _all_walls(self, angle: int) -> list[tuple[float, float, float]]:
        """Return the place and the lowest and highest points of all upright lines and edges."""
        if angle not in self._walls:
            edges = []
            for piece, (left, low, right, high) in zip(self._pieces, self._of(angle), strict=True):
                if high - low > _THIN and not piece.path.is_clip:
                    sides = ((left + right) / 2,) if right - left < _THIN else (left, right)
                    edges += [(round(side / _SAME), low, high, side) for side in sides]
            walls: list[tuple[float, float, float]] = []
            before = None
            for key, low, high, side in sorted(edges):
                if key == before and low - walls[-1][2] < _TOUCH:
                    walls[-1] = (walls[-1][0], walls[-1][1], max(walls[-1][2], high))
                else:
                    walls.append((side, low, high))
                before = key
            self._walls[angle] = sorted(walls, key=lambda wall: wall[1] - wall[2])[:_MOST_WALLS]
        return self._walls[angle]


def _is_at(segment: LineSegment, box: Box) -> bool:
    """Whether a box is at the words of a line."""
    left, low, right, high = box
    size = segment.size
    near = segment.start - size < right and left < segment.end + size
    return near and low - segment.level <= _ABOVE * size and high - segment.level >= -_BELOW * size


def _off(segment: LineSegment, box: Box) -> float:
    """Return how far the middle of a box is above or below that of the words of a line, in points."""
    return abs((box[1] + box[3]) / 2 - segment.level - 0.25 * segment.size)


def _pieces(content: PageContent) -> Iterator[_Piece]:
    """Yield the straight pieces of the streams of a page. Those of a form without text are left out."""
    shows: dict[StreamKey, dict[int, Show]] = {}
    for glyph in content.glyphs:
        shows.setdefault(glyph.show.stream, {})[glyph.show.index] = glyph.show
    for key, instructions in content.streams.items():
        found, base = _read(key, instructions, shows.get(key, {}))
        if base is None:
            continue
        for piece in found:
            piece.matrix = times(piece.matrix, base)
            a, b, c, d, e, f = base
            piece.points = [(a * x + c * y + e, b * x + d * y + f) for x, y in piece.points]
            yield piece


def _read(
    key: StreamKey, instructions: Instructions, shows: Mapping[int, Show]
) -> tuple[list[_Piece], Matrix | None]:
    """Return the straight pieces of a stream in its own space, and the matrix of that space, if it is known."""
    base = IDENTITY if key == (0, 0) else None
    ctm, path = IDENTITY, _Path()
    stack: list[Matrix] = []
    found: list[_Piece] = []
    for index, (operator, operands) in enumerate(instructions):
        if operator == "q":
            stack.append(ctm)
        elif operator == "Q":
            ctm = stack.pop() if stack else ctm
        elif operator == "cm":
            a, b, c, d, e, f = map(float, operands[:6])
            ctm = times((a, b, c, d, e, f), ctm)
        elif operator in DRAWING:
            _draw(path, key, index, operator, [float(each) for each in operands], ctm)
        elif operator in ("W", "W*"):
            path.is_clip = True
        elif operator in PAINTING:
            path.painted, path.count = index, len(path.pieces)
            path.pieces = [piece for piece in path.pieces if piece.is_straight and len(piece.points) > 1]
            found += path.pieces
            path = _Path()
        elif base is None and index in shows:
            back = _inverse(ctm)
            base = times(back, shows[index].above) if back else None
    return found, base


def _draw(path: _Path, key: StreamKey, index: int, operator: str, numbers: list[float], ctm: Matrix) -> None:
    a, b, c, d, e, f = ctm
    corners = [numbers[-2:]]
    if operator == "re":
        x, y, width, height = numbers[:4]
        corners = [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]
    if operator in ("m", "re"):
        path.pieces.append(_Piece(path, key, [], [], ctm))
    if not path.pieces:
        return
    piece = path.pieces[-1]
    if operator in ("l", "m", "re"):
        piece.steps.append(index)
        piece.points += [(a * x + c * y + e, b * x + d * y + f) for x, y in corners]
        whole = len(piece.points) in (4 * len(piece.steps), len(piece.steps))  # a rectangle alone, or a line
        piece.is_straight = piece.is_straight and piece.matrix == ctm and whole
    elif operator != "h":
        piece.is_straight = False


def _inverse(matrix: Matrix) -> Matrix | None:
    a, b, c, d, e, f = matrix
    size = a * d - b * c
    if not size:
        return None
    return d / size, -b / size, -c / size, a / size, (c * f - d * e) / size, (b * e - a * f) / size
