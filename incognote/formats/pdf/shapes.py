"""Shapes that may be writing: barcodes, letters that are drawn as paths or dots, and handwriting.

A path is judged by its pieces. A mark is a piece that is drawn in one line without lifting the pen. Marks are kept
with their boxes and the number of their lines and curves, without their points.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import dist, floor, hypot
from typing import Any, NamedTuple

Matrix = tuple[float, float, float, float, float, float]
Point = tuple[float, float]

MAX_MARKS = 200_000  # of a page
DRAWING = frozenset(("m", "l", "c", "v", "y", "h", "re"))
PAINTING = {"f": "f", "F": "f", "f*": "f", "B": "fs", "B*": "fs", "b": "fs", "b*": "fs", "S": "s", "s": "s", "n": ""}
_FAR = 20_000.0  # points
_LEAST_BARS, _BAR_GAP, _BAR_LENGTH, _BAR_WIDTH = 16, 8.0, 8.0, 10.0  # points
_MODULES = 8  # different gaps between bars of one width
_INK = (0.25, 0.85)  # the share of a code that is black
_LEAST_CELLS, _CELL = 100, 8.0  # squares of a code, and the longest side of one in points
_LETTER = (2.5, 40.0)  # the height of letters in points
_LEAST_LETTERS, _LEAST_SHAPES = 6, 4  # letters of a line, and how many of them differ
_MANY_LETTERS, _MANY_SHAPES = 40, 15  # letters in any places
_STROKES, _TURNS = 30, 8  # lines of a handwriting, and how often it turns up or down
_NEAR = 0.15  # points between marks that touch
_LINES = 32  # lines of letters at one height that are followed at once
_BESIDE, _MOST_COMPARED = 32, 2_000_000  # marks at one place with which another one is compared, and all on a page


class PaintedMark(NamedTuple):
    """A piece of a painted path.

    Args:
        x0, y0, x1, y1: its box on the page, with the width of its line.
        segments, curves: how many lines and curves it has together, and how many of them are curves.
        is_box: whether it is a rectangle or a straight line, along the page or upwards. is_filled: whether it has ink
            everywhere in its box, if it is one.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    segments: int
    curves: int
    is_box: bool
    is_filled: bool

    @property
    def width(self) -> float:
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    def turned(self) -> PaintedMark:
        """Return it with x and y exchanged."""
        return self._replace(x0=self.y0, x1=self.y1, y0=self.x0, y1=self.x1)


@dataclass(slots=True)
class _Pen:
    """A piece of a path while it is drawn: its box, its last point, and how often it turned."""

    first: Point
    last: Point
    x0: float
    y0: float
    x1: float
    y1: float
    segments: int = 0
    curves: int = 0
    is_straight: bool = True
    turns: list[int] = field(default_factory=lambda: [0, 0])
    ways: list[int] = field(default_factory=lambda: [0, 0])

    def go(self, points: Sequence[Point]) -> None:
        """Draw a line to one point, or a curve that has several."""
        end = points[-1]
        if end == self.last and len(points) == 1:
            return
        for x, y in points:
            self.x0, self.x1 = min(self.x0, x), max(self.x1, x)
            self.y0, self.y1 = min(self.y0, y), max(self.y1, y)
        self.segments += 1
        self.curves += len(points) > 1
        moved = (end[0] - self.last[0], end[1] - self.last[1])
        self.is_straight = self.is_straight and len(points) == 1 and min(map(abs, moved)) < 0.01
        for axis, way in enumerate(moved):
            if abs(way) > 0.3:
                self.turns[axis] += self.ways[axis] * way < 0
                self.ways[axis] = 1 if way > 0 else -1
        self.last = end

    def is_written(self) -> bool:
        """Whether it may be writing by hand."""
        width, height = self.x1 - self.x0, self.y1 - self.y0
        across, upwards = self.turns
        return (
            self.segments >= _STROKES
            and 20 <= width <= 300
            and 5 <= height <= min(width, 120)
            and upwards >= _TURNS
            and (self.curves >= _STROKES / 2 or across >= _TURNS / 2)
        )


def _pen(point: Point) -> _Pen:
    return _Pen(point, point, *point, *point)


class Shapes:
    """The painted paths of a page."""

    def __init__(self) -> None:
        self._pieces: list[_Pen] = []
        self._stroke: _Pen | None = None  # a line that goes on from path to path
        self._marks: dict[PaintedMark, None] = {}
        self._is_written = False
        self._is_long = False

    def draw(self, operator: str, operands: Sequence[Any], ctm: Matrix) -> None:
        """Add an instruction that draws a path."""
        numbers = [float(each) for each in operands]
        if operator == "re":
            x, y, width, height = numbers[:4]
            corners = _placed([x, y, x + width, y, x + width, y + height, x, y + height], ctm)
            self._pieces.append(_pen(corners[0]))
            for corner in (*corners[1:], corners[0]):
                self._pieces[-1].go([corner])
        elif operator == "m":
            self._pieces.append(_pen(_placed(numbers[:2], ctm)[0]))
        elif operator == "h":
            if self._pieces:
                self._pieces[-1].go([self._pieces[-1].first])
        elif self._pieces:
            points = _placed(numbers, ctm)
            self._pieces[-1].go(points if operator == "l" else [*points, points[-1]])

    def paint(self, operator: str, line: float, ctm: Matrix) -> None:
        """End a path, with the width of lines in its own space."""
        kind = PAINTING[operator]
        thick = line * (hypot(ctm[0], ctm[1]) + hypot(ctm[2], ctm[3])) / 2
        for piece in self._pieces if kind else ():
            if operator in ("s", "b", "b*"):
                piece.go([piece.first])
            if piece.segments and len(self._marks) < MAX_MARKS:
                self._add(piece, thick if "s" in kind else 0.0, is_filled="f" in kind)
            self._is_long = len(self._marks) >= MAX_MARKS
        self._pieces = []

    def _add(self, piece: _Pen, thick: float, *, is_filled: bool) -> None:
        half = thick / 2
        box = (piece.x0 - half, piece.y0 - half, piece.x1 + half, piece.y1 + half)
        if not all(abs(each) < _FAR for each in box):
            return
        flat = min(piece.x1 - piece.x0, piece.y1 - piece.y0) < 0.01 and not piece.curves
        if flat and thick:  # a line has no ink beyond its ends
            upward = piece.x1 - piece.x0 < piece.y1 - piece.y0
            box = (box[0], piece.y0, box[2], piece.y1) if upward else (piece.x0, box[1], piece.x1, box[3])
        is_box = piece.is_straight and (flat or (piece.segments in (3, 4) and max(piece.turns) <= 1))
        self._marks[PaintedMark(*box, piece.segments, piece.curves, is_box, is_filled or flat)] = None
        stroke = self._stroke
        if stroke is not None and dist(stroke.last, piece.first) < 0.5 and piece.segments < 4:
            stroke.go([(piece.x0, piece.y0), (piece.x1, piece.y1), piece.last][0 if piece.curves else 2 :])
        else:
            self._stroke = stroke = piece
        self._is_written = self._is_written or stroke.is_written()

    def problem(self) -> str | None:
        """Return what of the page has no reader, or None."""
        if self._is_long:
            return f"a page of more than {MAX_MARKS:,} shapes"
        if self._is_written:
            return "a drawing that may be writing by hand, which has no reader"
        marks = list(self._marks)
        if _has_bars(marks) or _has_bars([each.turned() for each in marks]) or _has_cells(marks):
            return "a page with a barcode, which has no reader"
        small = [each for each in marks if max(each.width, each.height) <= _LETTER[1] * 1.5]
        blobs = _blobs(small)
        if blobs is None:
            return "a page of more shapes over each other than can be judged"
        if _has_letters(small) or any(_has_lines(each) for each in _in_all_directions(blobs)):
            return "a page of shapes that may be letters, which have no reader"
        return None


def _placed(numbers: Sequence[float], ctm: Matrix) -> list[Point]:
    a, b, c, d, e, f = ctm
    return [(a * x + c * y + e, b * x + d * y + f) for x, y in zip(numbers[0::2], numbers[1::2], strict=True)]


def _has_bars(marks: Iterable[PaintedMark]) -> bool:
    """Whether upright bars of one height stand side by side and have different widths or gaps."""
    rows: dict[tuple[int, int], list[PaintedMark]] = defaultdict(list)
    for each in marks:
        if each.is_box and each.is_filled and each.width < _BAR_WIDTH and each.height > max(_BAR_LENGTH, each.width):
            rows[round(each.y0 / 2), round(each.height / 2)].append(each)
    return any(_is_code(run) for row in rows.values() for run in _side_by_side(row))


def _side_by_side(row: list[PaintedMark]) -> Iterator[list[PaintedMark]]:
    row.sort()
    run = row[:1]
    for one, two in pairwise(row):
        if two.x0 - one.x1 >= _BAR_GAP:
            yield run
            run = []
        run.append(two)
    yield run


def _is_code(bars: Sequence[PaintedMark]) -> bool:
    if len(bars) < _LEAST_BARS:
        return False
    ink = sum(each.width for each in bars) / (bars[-1].x1 - bars[0].x0)
    gaps = [two.x0 - one.x1 for one, two in pairwise(bars)]
    if not _INK[0] < ink < _INK[1] or min(gaps) < -0.2:
        return False
    few = len({round(gap, 1) for gap in gaps}) <= _MODULES
    return _differ([each.width for each in bars]) or (few and _differ(gaps))


def _differ(lengths: list[float]) -> bool:
    """Whether more than a few lengths differ by a quarter from the usual one."""
    usual = sorted(lengths)[len(lengths) // 2]
    return sum(abs(each - usual) > max(0.25 * abs(usual), 0.1) for each in lengths) > len(lengths) / 8


def _has_cells(marks: Iterable[PaintedMark]) -> bool:
    """Whether small marks of one size are in some of the places of a grid, as in a QR code or in letters of dots."""
    sizes: dict[int, list[PaintedMark]] = defaultdict(list)
    for each in marks:
        side = min(each.width, each.height)
        if 0.3 < side < _CELL and (each.is_box or abs(each.width - each.height) < 0.2 * side) and each.is_filled:
            sizes[round(side * 10)].append(each)
    for size, group in sizes.items():
        alike = [*group, *sizes.get(size + 1, ())]
        if len(alike) >= _LEAST_CELLS / 2 and any(_is_grid(area, size / 10) for area in _areas(alike, size / 10)):
            return True
    return False


def _areas(marks: Iterable[PaintedMark], side: float) -> Iterator[list[PaintedMark]]:
    """Yield marks that are near each other."""
    wide = 5 * side
    places: dict[tuple[int, int], list[PaintedMark]] = defaultdict(list)
    for each in marks:
        places[floor(each.x0 / wide), floor(each.y0 / wide)].append(each)
    while places:
        todo, area = [next(iter(places))], []
        while todo:
            x, y = todo.pop()
            if (x, y) in places:
                area += places.pop((x, y))
                todo += [(x + i, y + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        yield area


def _is_grid(area: Sequence[PaintedMark], side: float) -> bool:
    centers = sorted({round(each.y0, 2) for each in area}), sorted({round(each.x0, 2) for each in area})
    steps = [b - a for each in centers for a, b in pairwise(each) if b - a > 0.7 * side]
    if not steps or min(len(each) for each in centers) < 6:
        return False
    pitch = min(steps)
    cells: set[tuple[int, int]] = set()
    off = 0
    left, low = min(each.x0 for each in area), min(each.y0 for each in area)
    for each in area:
        x, y = (each.x0 - left) / pitch, (each.y0 - low) / pitch
        off += abs(x - round(x)) > 0.25 or abs(y - round(y)) > 0.25
        wide, high = (max(1, min(200, round(length / pitch))) for length in (each.width, each.height))
        cells |= {(round(x) + i, round(y) + j) for i in range(wide) for j in range(high)}
    columns, rows = {x for x, _ in cells}, {y for _, y in cells}
    share = len(cells) / ((max(columns) + 1) * (max(rows) + 1))
    patterns = {tuple(sorted(x for x, y in cells if y == row)) for row in rows} if len(rows) < 200 else set()
    return (
        len(cells) >= _LEAST_CELLS and off < len(area) / 10 and min(len(columns), len(rows)) >= 6
        and 0.1 < share < _INK[1] and len(patterns) > min(6, len(rows) / 2)
    )  # fmt: skip


def _has_letters(marks: Iterable[PaintedMark]) -> bool:
    """Whether marks are like letters, in lines or in any places."""
    letters = [mark for mark in marks if not mark.is_box and (mark.curves > 1 or mark.segments > 4)]
    letters = [mark for mark in letters if max(mark.width, mark.height) >= _LETTER[0]]
    shapes = {(each.segments, each.curves) for each in letters}
    if len(letters) >= _MANY_LETTERS and len(shapes) >= _MANY_SHAPES:
        return True
    return any(_has_lines(each) for each in _in_all_directions(letters))


def _in_all_directions(marks: list[PaintedMark]) -> Iterator[list[PaintedMark]]:
    turned = [each.turned() for each in marks]
    yield from (marks, turned)
    yield from ([each._replace(y0=-each.y1, y1=-each.y0) for each in several] for several in (marks, turned))


def _has_lines(marks: Iterable[PaintedMark]) -> bool:
    """Whether marks of different shapes stand side by side on a baseline."""
    lines: dict[int, list[list[PaintedMark]]] = defaultdict(list)
    for each in sorted(mark for mark in marks if _LETTER[0] <= mark.height <= _LETTER[1]):
        row = floor(each.y0 / 5)
        found = next((line for near in (row, row - 1, row + 1) for line in lines[near] if _follows(line, each)), None)
        if found is None:
            lines[row] = [*(line for line in lines[row] if each.x0 - line[-1].x1 < 2 * _LETTER[1]), [each]][-_LINES:]
            continue
        found.append(each)
        if len(found) >= _LEAST_LETTERS and _are_different(found[-64:]):
            return True
    return False


def _follows(line: Sequence[PaintedMark], mark: PaintedMark) -> bool:
    last = line[-1]
    high = max(each.height for each in line[-8:])
    return (
        abs(line[0].y0 - mark.y0) < 0.12 * high
        and 0.35 < mark.height / high < 2.5
        and -0.4 * high < mark.x0 - last.x1 < 1.6 * high
        and mark.x1 > last.x1
    )


def _are_different(marks: Sequence[PaintedMark]) -> bool:
    """Whether marks have different shapes. Round ones must also have different numbers of curves, unlike bubbles."""
    kinds = {(each.segments, each.curves) for each in marks}
    return (len(kinds) > 2 or not any(each.curves for each in marks)) and _shapes(marks) >= _LEAST_SHAPES


def _shapes(marks: Iterable[PaintedMark]) -> int:
    """Return how many marks differ."""
    different: list[PaintedMark] = []
    for each in marks:
        if not any(
            (each.segments, each.curves) == (other.segments, other.curves)
            and abs(each.width - other.width) < 0.03 * other.height + 0.1
            and abs(each.height - other.height) < 0.03 * other.height + 0.1
            for other in different
        ):
            different.append(each)
    return len(different)


def _blobs(marks: Sequence[PaintedMark]) -> list[PaintedMark] | None:
    """Return marks that touch each other as one mark, such as a letter of lines or of squares. None: too many touch."""
    above = list(range(len(marks)))

    def top(number: int) -> int:
        while above[number] != number:
            above[number] = number = above[above[number]]
        return number

    places: dict[tuple[int, int], list[int]] = defaultdict(list)
    compared = 0
    for number, each in enumerate(marks):
        if compared > _MOST_COMPARED:
            return None
        for x in range(floor(each.x0 / 6), floor(each.x1 / 6) + 1):
            for y in range(floor(each.y0 / 6), floor(each.y1 / 6) + 1):
                beside = places[x, y][-_BESIDE:]
                compared += len(beside) + 1
                for other in beside:
                    if _touch(each, marks[other]):
                        above[top(number)] = top(other)
                places[x, y].append(number)
    groups: dict[int, list[PaintedMark]] = defaultdict(list)
    for number, each in enumerate(marks):
        groups[top(number)].append(each)
    return [_joined(group) for group in groups.values() if len(group) > 1 and not _is_plain(group)]


def _joined(group: Sequence[PaintedMark]) -> PaintedMark:
    return PaintedMark(
        min(each.x0 for each in group), min(each.y0 for each in group),
        max(each.x1 for each in group), max(each.y1 for each in group),
        sum(each.segments for each in group), sum(each.curves for each in group), is_box=False, is_filled=False,
    )  # fmt: skip


def _touch(one: PaintedMark, two: PaintedMark) -> bool:
    return max(one.x0 - two.x1, two.x0 - one.x1, one.y0 - two.y1, two.y0 - one.y1) < _NEAR


def _is_plain(group: Sequence[PaintedMark]) -> bool:
    """Whether marks are one bar, one line, or round marks of one kind over each other."""
    if any(not each.is_box and each.curves for each in group):
        return len({(each.segments, each.curves) for each in group}) == 1
    return any(
        max(each[low] for each in group) - min(each[low] for each in group) < 0.3
        and max(each[high] for each in group) - min(each[high] for each in group) < 0.3
        for low, high in ((0, 2), (1, 3))
    )
