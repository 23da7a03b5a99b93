"""The text of a PDF page in reading order, and the glyph of each of its characters.

A producer writes a page in reading order, as a rule: a column after the other, and a table row by row. So glyphs that
follow each other on a baseline become runs, runs side by side become segments, and segments keep the order of the
file. If the order of the file contradicts the places of the glyphs, the places decide.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import atan2, cos, degrees, hypot, radians, sin
from statistics import median
from typing import NamedTuple

from incognote.errors import MalformedRecord
from incognote.formats.pdf.bidi import is_rtl, logical
from incognote.formats.pdf.columns import DOWN, LineSegment, PagePiece, piece_of
from incognote.formats.pdf.glyphs import Glyph
from incognote.formats.pdf.separators import is_division, separators

__all__ = ["PageText", "along", "page_text"]

# All in units of the font size.
_LARGE = 2.5  # how many times larger words are that are not in a run with others, such as a watermark
_LEVEL = 0.35  # the most that a glyph of a line is above or below the one before
_BACK = 0.6  # the most that a glyph overlaps the one before
_NEAR = 0.55  # the widest gap between runs of a segment that the file does not write after each other
_APART = 1.05  # the widest gap between glyphs of a run
_ROWS = 3  # the fewest lines of a column of cells
_EVEN = 3.0  # the widest gap after a space
_FAR = 3.5  # wider than any gap in a segment
_SPACE = 0.17  # the narrowest gap that is a space
_LOOSE = 0.12  # the typical gap between letters that are spaced
_OVER = -0.15  # the gap between an accent and a letter under it
_RTL = 0.2  # the share of letters from right to left that makes a page one from right to left
_LINES = 2.2  # the most that a line of a cell is below the one before
_TWICE = 0.12  # the widest distance between a glyph and a second one over it
_TOUCHES = 0.1  # the widest gap between the letters of a word

_EDGE = 3  # the most lines at the top or at the bottom of a page
_WORD = 40  # characters of a word at the end of a line
_MOST_OPEN = 64  # segments of a line to which a run is compared

_BULLET = "\u2022"  # a glyph without characters that is alone, such as a sign of a list
_BULLETS = 20  # the most of them on a page of a few words
_ACCENTS = dict(zip("`´ˆ^˜~¯˘˙¨˚˝ˇ¸˛", map(chr, (0x300, 0x301, 0x302, 0x302, 0x303, 0x303, 0x304, 0x306, 0x307, 0x308,
                                                   0x30A, 0x30B, 0x30C, 0x327, 0x328)), strict=True))  # fmt: skip
"""Accents that are glyphs of their own, and the combining character of each."""
_PAGE_NUMBER = re.compile(
    r"(?<=\s)(?:page|seite|página|pagina|pág\.|pag\.) \d{1,4}(?: ?\W ?\d{1,4}| \w{1,3} \d{1,4})?\s*\Z", re.IGNORECASE
)
_UNREADABLE = "letters in a font that does not say which characters they are. Print the document to a new PDF"


class PageText(NamedTuple):
    """The text of a page.

    Args:
        text: its characters.
        glyphs: the glyph of each character, or -1 for one that only separates others.
        segments: in reading order.
        accents: the glyphs that are written over another one and share its character, such as accents.
    """

    text: str
    glyphs: list[int]
    segments: list[LineSegment]
    accents: dict[int, list[int]]


def along(glyph: Glyph, angle: int) -> tuple[float, float]:
    """Return where a glyph starts along a baseline of an angle, and how high that is."""
    c, s = cos(radians(angle)), sin(radians(angle))
    return glyph.x * c + glyph.y * s, glyph.y * c - glyph.x * s


def page_text(glyphs: Sequence[Glyph]) -> PageText:
    """Return the text of a page in reading order.

    Raises:
        MalformedRecord: letters have no characters, because their font does not say which.
    """
    letters = [c for glyph in glyphs for c in glyph.text if c.isalpha()]
    scattered = _are_scattered(glyphs)
    columns = _columns(glyphs)
    segments = list(_merged(glyphs, list(_runs(glyphs, columns, alone=scattered)), columns))
    if scattered:
        segments.sort(key=lambda each: (each.angle, -round(each.level / max(each.size, 1) * 2), each.start))
    else:
        segments.sort(key=lambda each: each.order)
        segments = _with_edges(segments)
    rtl = sum(map(is_rtl, letters)) > _RTL * len(letters)
    if rtl:
        segments = _from_the_right(segments)
    from_right = rtl and _most_frequent(each.end for each in segments) >= _most_frequent(
        each.start for each in segments
    )
    accents: dict[int, list[int]] = {}
    shown: list[list[tuple[str, int]]] = []
    pieces: list[PagePiece] = []
    for segment in segments:
        characters = _characters(glyphs, segment, accents)
        if any(is_rtl(c) for c, _ in characters) or (rtl and "] [" in "".join(c for c, _ in characters)):
            characters = list(logical(characters))
        if characters:
            shown.append(characters)
            pieces.append(piece_of(glyphs, segment, characters, rtl=from_right))
    _part_page_numbers(pieces, shown)
    text: list[str] = []
    at: list[int] = []
    for characters, between in zip(shown, ["", *separators(pieces)], strict=bool(shown)):
        if text and between == "" and is_division("".join(text[-_WORD:]), "".join(c for c, _ in characters)):
            text.pop()
            accents.setdefault(characters[0][1], []).append(at.pop())
        text += [*between, *(character for character, _ in characters)]
        at += [*([-1] * len(between)), *(glyph for _, glyph in characters)]
    if text.count(_BULLET) > max(_BULLETS, len(text) / 10):
        raise MalformedRecord(_UNREADABLE)
    return PageText("".join(text), at, segments, accents)


def _with_edges(segments: list[LineSegment]) -> list[LineSegment]:
    """Return segments with the lines at the top of the page first and those at its bottom last.

    They stay where they are if the file writes them between other lines.
    """
    flat = sorted((each for each in segments if each.angle == 0), key=lambda each: each.level)
    bottom, top = set(_edge(flat)), set(_edge(flat[::-1]))
    body = [number for number, each in enumerate(segments) if each.order not in bottom | top]
    if not body or bottom & top or len(body) <= body[-1] - body[0]:
        return segments
    return sorted(segments, key=lambda each: (each.order in bottom) - (each.order in top))


def _edge(ranked: Sequence[LineSegment]) -> Iterator[int]:
    """Yield the positions of the first lines, which are apart from the others. There are none if they are many."""
    found: set[int] = set()
    lines = 1
    for one, two in pairwise(ranked):
        found.add(one.order)
        down = abs(two.level - one.level) / max(one.size, two.size)
        if down > DOWN:
            yield from found
            return
        lines += down > _LEVEL
        if lines > _EDGE:
            return


def _part_page_numbers(pieces: Sequence[PagePiece], shown: Sequence[list[tuple[str, int]]]) -> None:
    """Begin a line before a page number that ends the highest or the lowest line of the page."""
    levels = [piece.level for piece in pieces if piece.segment.angle == 0]
    edges = {min(levels, default=0.0), max(levels, default=0.0)}
    for piece, characters in zip(pieces, shown, strict=True):
        number = _PAGE_NUMBER.search(piece.text)
        if number is not None and piece.segment.angle == 0 and piece.level in edges:
            characters.insert(number.start(), ("\n", -1))


def _most_frequent(places: Iterable[float]) -> int:
    return max(Counter(map(round, places)).values(), default=0)


def _from_the_right(segments: Iterable[LineSegment]) -> list[LineSegment]:
    """Return segments with those of each line from right to left."""
    lines: list[list[LineSegment]] = []
    for each in segments:
        last = lines[-1][-1] if lines else None
        if last is None or last.angle != each.angle or abs(last.level - each.level) > 0.5 * max(last.size, each.size):
            lines.append([])
        lines[-1].append(each)
    return [each for line in lines for each in sorted(line, key=lambda each: -each.start)]


def _are_scattered(glyphs: Sequence[Glyph]) -> bool:
    """Whether the file does not write the letters of a line in their order, in either direction."""
    back = pairs = 0
    for one, two in pairwise(glyphs):
        if one.show is not two.show and abs(two.y - one.y) < _LEVEL * one.size:
            pairs += 1
            back += two.x < one.x and abs(two.x + two.dx - one.x) > _BACK * one.size
    return back > max(20, pairs / 4)


def _columns(glyphs: Sequence[Glyph]) -> frozenset[tuple[int, int]]:
    """Return where cells of tables may begin: points at which instructions of several lines begin, by their angle."""
    levels: dict[tuple[int, int], set[int]] = {}
    for one, two in pairwise(glyphs):
        if one.show is not two.show:
            angle = round(degrees(atan2(two.dy, two.dx)) / 2) * 2 % 360
            start, level = along(two, angle)
            for near in (round(start) - 1, round(start), round(start) + 1):
                levels.setdefault((angle, near), set()).add(round(level))
    return frozenset(key for key, found in levels.items() if len(found) >= _ROWS)


def _runs(
    glyphs: Sequence[Glyph], columns: frozenset[tuple[int, int]], *, alone: bool
) -> Iterator[LineSegment]:
    """Yield glyphs that follow each other in the file and on a baseline, or each glyph alone."""
    run: LineSegment | None = None
    angle = 0
    for number, glyph in enumerate(glyphs):
        if hypot(glyph.dx, glyph.dy) > 0.001:
            angle = round(degrees(atan2(glyph.dy, glyph.dx)) / 2) * 2 % 360
        start, level = along(glyph, angle)
        end = start + hypot(glyph.dx, glyph.dy)
        size = max(glyph.size, 0.1)
        if (
            run is not None
            and not alone
            and run.angle == angle
            and (max(size, run.size) < _LARGE * min(size, run.size) or not glyph.text.strip())
            and abs(level - run.level) < _LEVEL * max(size, run.size)
            and (
                (-_BACK * size < start - run.end < _widest(glyphs, run, glyph, columns) * size and start >= run.start)
                or _is_twice(glyphs, run.glyphs[-1], number)
            )
        ):
            run.glyphs.append(number)
            run.end, run.size = max(run.end, end), max(run.size, size)
            continue
        if run is not None:
            yield run
        run = LineSegment([number], start, end, level, angle, size)
    if run is not None:
        yield run


def _merged(
    glyphs: Sequence[Glyph], runs: list[LineSegment], columns: frozenset[tuple[int, int]]
) -> Iterator[LineSegment]:
    """Join runs side by side. Of overlapping runs, each stays a segment of its own."""
    cells = _in_cells(each for each in runs if len(each.glyphs) > 1)
    runs.sort(key=lambda each: (each.angle, each.level))
    lines: list[list[LineSegment]] = []
    for run in runs:
        last = lines[-1][-1] if lines else None
        if last is None or last.angle != run.angle or run.level - last.level > _LEVEL * min(run.size, last.size):
            lines.append([])
        lines[-1].append(run)
    for line in lines:
        line.sort(key=lambda each: (each.start, each.order))
        open_segments: list[LineSegment] = []
        for run in line:
            if len(open_segments) >= _MOST_OPEN:
                yield open_segments.pop(0)
            yield from (each for each in open_segments if run.start - each.end > _FAR * each.size)
            open_segments = [each for each in open_segments if run.start - each.end <= _FAR * each.size]
            joined = max(
                (each for each in open_segments if _joins(glyphs, each, run, columns, cells)),
                key=lambda each: (each.glyphs[-1] + 1 == run.glyphs[0], each.end), default=None,
            )  # fmt: skip
            if joined is None:
                open_segments.append(run)
                continue
            open_segments.remove(joined)
            open_segments.append(joined)
            joined.glyphs += run.glyphs
            joined.end, joined.size = max(joined.end, run.end), max(joined.size, run.size)
        yield from open_segments


def _in_cells(runs: Iterable[LineSegment]) -> frozenset[int]:
    """Return the first glyph of each run with another one beside it in the file that begins above or below it."""
    found = set()
    for one, two in pairwise(runs):
        near = _LEVEL * two.size < abs(one.level - two.level) < _LINES * two.size
        if one.angle == two.angle and near and abs(one.start - two.start) < 1:
            found |= {one.glyphs[0], two.glyphs[0]}
    return frozenset(found)


def _joins(
    glyphs: Sequence[Glyph], segment: LineSegment, run: LineSegment, columns: frozenset[tuple[int, int]],
    cells: frozenset[int],
) -> bool:
    size = min(segment.size, run.size)
    follows = segment.glyphs[-1] + 1 == run.glyphs[0]
    if not follows and run.glyphs[0] in cells and run.start - segment.end > _TOUCHES * size:
        return False
    widest = _widest(glyphs, segment, glyphs[run.glyphs[0]], columns) if follows else _NEAR
    return -0.3 * size < run.start - segment.end < widest * size


def _widest(
    glyphs: Sequence[Glyph], run: LineSegment, glyph: Glyph, columns: frozenset[tuple[int, int]]
) -> float:
    """Return the widest gap before the next glyph of a run, in units of the font size.

    After a space, it can be that of a line with even margins. Without one, words that are shown by instructions of
    their own can be the cells of a table.
    """
    last = glyphs[run.glyphs[-1]]
    if last.text == " ":
        return _EVEN
    if last.show is glyph.show:
        return _APART
    return _SPACE if (run.angle, round(along(glyph, run.angle)[0])) in columns else _NEAR


def _characters(
    glyphs: Sequence[Glyph], segment: LineSegment, accents: dict[int, list[int]]
) -> list[tuple[str, int]]:
    """Return the characters of a segment from left to right, each with its glyph.

    Args:
        accents: gets the glyphs that are written over a letter, by the glyph of the letter.
    """
    gaps = [_gap(glyphs, segment, a, b) for a, b in pairwise(segment.glyphs)]
    inked = [gap for gap, (a, b) in zip(gaps, pairwise(segment.glyphs), strict=True)
             if glyphs[a].text.strip() and glyphs[b].text.strip()]  # fmt: skip
    usual = median(inked) if len(inked) > 3 else 0.0
    least = _SPACE + (usual if usual > _LOOSE else 0.0)
    shown: list[tuple[str, int]] = []
    accent, unknown = -1, False
    for number, gap in zip(segment.glyphs, [1.0, *gaps], strict=True):
        text = _plain(glyphs[number].text)
        if shown and _is_twice(glyphs, shown[-1][1], number):
            accents.setdefault(shown[-1][1], []).append(number)
            continue
        touches = bool(shown) and gap < _TOUCHES
        if touches and ((not text and shown[-1][0] != " ") or (text != " " and unknown)):
            raise MalformedRecord(_UNREADABLE)
        unknown = not text
        text = text or _BULLET
        if accent >= 0 and gap < _OVER:
            composed = unicodedata.normalize("NFC", text + _ACCENTS[shown[-1][0]])
            if len(composed) == 1:
                shown[-1] = (composed, number)
                accents[number] = [accent, *accents.get(accent, ())]
                accent = -1
                continue
        if gap > least and shown and shown[-1][0] != " " and text[0] != " ":
            shown.append((" ", -1))
        shown += ((character, number) for character in text)
        accent = number if text in _ACCENTS else -1
    return shown


def _is_twice(glyphs: Sequence[Glyph], first: int, second: int) -> bool:
    """Whether a glyph is written over an equal one, to make it look bold."""
    one, two = glyphs[first], glyphs[second]
    near = hypot(two.x - one.x, two.y - one.y) < _TWICE * one.size < hypot(one.dx, one.dy)
    return first >= 0 and one.text == two.text != " " and near


def _gap(glyphs: Sequence[Glyph], segment: LineSegment, first: int, second: int) -> float:
    """Return the gap between two glyphs in units of the font size, without the space between all letters."""
    one, two = glyphs[first], glyphs[second]
    end = along(one, segment.angle)[0] + hypot(one.dx, one.dy)
    state = one.show.state
    spaced = state.char_space * state.scale / abs(state.size) if one.show is two.show and state.size else 0.0
    return (along(two, segment.angle)[0] - end) / max(min(one.size, two.size), 0.1) - max(spaced, 0.0)


def _plain(text: str) -> str:
    """Return the letters that a ligature or an Arabic letter in its form within a word stands for."""
    if any("\ufb00" <= c <= "\ufdff" or "\ufe70" <= c <= "\ufefc" for c in text):
        return unicodedata.normalize("NFKC", text)
    return text
