"""The reading order of words on a page."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from incognote.pages.nouns import Box, Turn, Word

GAP = 2.2
"""A gap wider than this many heights of a line ends it: the next words are another column or cell."""


def ordered(words: Iterable[Word], size: tuple[int, int]) -> list[Word]:
    """Return words in reading order, with lines numbered from 0.

    Rows go from top to bottom. A row is split into lines at wide gaps. Cells of a row follow each other, but columns of
    running text are read one after another. Words of a line written from right to left are in logical order. Words with
    other turns follow those of the turn that most words have.

    Args:
        words: with boxes on a page.
        size: width and height of the page.
    """
    by_turn: dict[Turn, list[Word]] = {}
    for word in words:
        by_turn.setdefault(word.turn, []).append(word)
    found: list[Word] = []
    count = 0
    for turn, group in sorted(by_turn.items(), key=lambda item: (-len(item[1]), item[0])):
        upright = [(turned(word.box, turn, size), word) for word in group]
        rows = [_lines(row) for row in _rows(upright)]
        for line in _columns(rows):
            found += [replace(word, line=count) for word in _logical(line)]
            count += 1
    return found


def turned(box: Box, turn: Turn, size: tuple[int, int]) -> Box:
    """Return a box on the page that is turned so that words with this turn are upright."""
    left, top, right, bottom = box
    width, height = size
    match turn:
        case 90:
            return top, width - right, bottom, width - left
        case 180:
            return width - right, height - bottom, width - left, height - top
        case 270:
            return height - bottom, left, height - top, right
    return box


Placed = tuple[Box, Word]


def _rows(words: list[Placed]) -> list[list[Placed]]:
    """Return words grouped by the height at which they stand, from top to bottom, each row from left to right."""
    if not words:
        return []
    typical = median(box[3] - box[1] for box, _ in words)
    rows: list[list[Placed]] = []
    open_rows: list[list[Placed]] = []
    for box, word in sorted(words, key=lambda item: ((item[0][1] + item[0][3]), item[0][0])):
        middle, height = (box[1] + box[3]) / 2, box[3] - box[1]
        open_rows = [row for row in open_rows if max(each[3] for each, _ in row[-8:]) + 2 * typical > box[1]]
        best: tuple[float, list[Placed]] | None = None
        for row in open_rows:
            # compare with the neighbor, since a line may fall or rise slowly
            near = min((each for each, _ in row), key=lambda each: max(each[0] - box[2], box[0] - each[2]))
            if max(near[0] - box[2], box[0] - near[2]) < -0.5 * min(near[2] - near[0], box[2] - box[0]):
                continue  # one stands above the other
            lower = min(near[3], box[3]) - max(near[1], box[1])
            share = lower / min(height, near[3] - near[1])
            off = abs(middle - (near[1] + near[3]) / 2)
            if share > 0.5 and off < 0.6 * max(height, near[3] - near[1]) and (best is None or share > best[0]):
                best = share, row
        if best is None:
            rows.append([(box, word)])
            open_rows.append(rows[-1])
        else:
            best[1].append((box, word))
    for row in rows:
        row.sort(key=lambda item: item[0][0])
    rows.sort(key=lambda row: median((box[1] + box[3]) / 2 for box, _ in row))
    return rows


def _lines(row: list[Placed]) -> list[list[Placed]]:
    """Return a row split at wide gaps."""
    height = median(box[3] - box[1] for box, _ in row)
    lines = [[row[0]]]
    for before, item in pairwise(row):
        if item[0][0] - before[0][2] > GAP * height:
            lines.append([])
        lines[-1].append(item)
    if sum(map(_is_rtl, row)) * 2 > len(row):
        lines.reverse()
    return lines


def _columns(rows: list[list[list[Placed]]]) -> list[list[Placed]]:
    """Return the lines of rows in reading order: row by row, but columns of running text one after another."""
    found: list[list[Placed]] = []
    start = 0
    while start < len(rows):
        end = start
        split: float | None = None
        while end < len(rows) and (at := _gutter(rows[start : end + 1])) is not None:
            split, end = at, end + 1
        block = rows[start:end]
        if split is not None and len(block) >= 4 and _running(block, split):
            rtl = sum(_is_rtl(item) for row in block for line in row for item in line) * 2 > sum(
                len(line) for row in block for line in row
            )
            sides = ([line for row in block for line in row if line[0][0][0] < split],
                     [line for row in block for line in row if line[0][0][0] >= split])
            for side in reversed(sides) if rtl else sides:
                found += side
            start = end
        else:
            found += rows[start]
            start += 1
    return found


def _gutter(rows: list[list[list[Placed]]]) -> float | None:
    """Return a place between left and right that no line of the rows crosses, in the middle of their common gap."""
    low, high = None, None
    spans = [(line[0][0][0], line[-1][0][2]) for row in rows for line in row]
    split_rows = [sorted((line[0][0][0], line[-1][0][2]) for line in row) for row in rows]
    for row in split_rows:
        if len(row) == 2:
            gap = row[0][1], row[1][0]
            low = gap[0] if low is None else max(low, gap[0])
            high = gap[1] if high is None else min(high, gap[1])
        elif len(row) > 2:
            return None
    if low is None or high is None or low >= high:
        return None
    middle = (low + high) / 2
    return None if any(left < middle < right for left, right in spans) else middle


def _running(rows: list[list[list[Placed]]], split: float) -> bool:
    """Return whether both sides of a gap are running text: lines of several words."""
    sides = ([], [])  # type: tuple[list[int], list[int]]
    for row in rows:
        for line in row:
            sides[line[0][0][0] >= split].append(len(line))
    return all(len(side) >= 3 and median(side) >= 4 for side in sides)


def _is_rtl(item: Placed) -> bool:
    return any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in item[1].text)


def _logical(line: Sequence[Placed]) -> list[Word]:
    """Return the words of a line from left to right, or, if most letters are of a script from right to left, in
    logical order."""
    words = [word for _, word in line]
    strong = [unicodedata.bidirectional(letter) for word in words for letter in word.text]
    if sum(kind in ("R", "AL") for kind in strong) <= sum(kind == "L" for kind in strong):
        return words
    found: list[Word] = []
    for word in reversed(words):
        found.append(word)
    # runs of words from left to right within the line keep their order
    at = 0
    while at < len(found):
        end = at
        while end < len(found) and _is_ltr(found[end]):
            end += 1
        found[at:end] = reversed(found[at:end])
        at = max(end, at + 1)
    return found


def _is_ltr(word: Word) -> bool:
    return any(unicodedata.bidirectional(letter) == "L" for letter in word.text)
