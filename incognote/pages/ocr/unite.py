"""Unite the words of several passes over one page: one word for each piece of ink."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from incognote.pages.nouns import Box, Turn, Word

SAME = 0.4
"""Two words are of the same ink if their boxes share this part of the smaller one."""
SURE = 0.5
"""Words of this plausibility displace others with the same ink."""


def plausibility(word: Word) -> float:
    """Return how likely a word is what is printed, from 0 to 1: its confidence, times factors for its shape."""
    letters = sum(map(str.isalnum, word.text))
    if not letters:
        return 0.3 * word.confidence
    pitch = word.along / (word.across * len(word.text))  # of letters, in heights of the line
    shape = 0.5 + 0.5 * letters / len(word.text)
    if not 0.12 < pitch < 1.6:
        shape *= 0.5
    if any(a.islower() and b.isupper() for a, b in zip(word.text, word.text[1:], strict=False)):
        shape *= 0.9
    if len(word.text) == 1 and not word.text.isdigit():
        shape *= 0.8
    return word.confidence * shape


def is_tall(word: Word) -> bool:
    """Return whether a word of several letters is across its turn: it was read in another direction."""
    return len(word.text) > 2 and word.across > 1.3 * word.along


def with_turns(words: Sequence[Word]) -> list[Word]:
    """Return the words of an upright picture with the turn of vertical lines, which an engine may read by itself.

    A line is vertical if most of its words are tall. Its letters are turned by 90 degrees if it goes down.
    """
    lines: dict[int, list[Word]] = {}
    for word in words:
        lines.setdefault(word.line, []).append(word)
    turn: dict[int, Turn] = {}
    for line, group in lines.items():
        long = [word for word in group if len(word.text) > 2]
        if sum(map(is_tall, long)) * 2 > len(long):
            turn[line] = 90 if group[-1].box[1] >= group[0].box[1] else 270
    return [replace(word, turn=turn.get(word.line, word.turn)) for word in words]


def plausibilities(words: Sequence[Word]) -> list[float]:
    """Return the plausibility of each word of a pass, less if its line is poor: a good word in one is luck."""
    own = [plausibility(word) for word in words]
    lines: dict[int, list[tuple[int, float]]] = {}
    for word, value in zip(words, own, strict=True):
        lines.setdefault(word.line, []).append((len(word.text), value))
    mean = {
        line: sum(length * value for length, value in items) / sum(length for length, _ in items)
        for line, items in lines.items()
    }
    return [value * min(1.0, 0.5 + 0.7 * mean[word.line]) for word, value in zip(words, own, strict=True)]


def overlap(one: Box, two: Box) -> float:
    """Return the area that two boxes share, as a part of the smaller one."""
    across = min(one[2], two[2]) - max(one[0], two[0])
    down = min(one[3], two[3]) - max(one[1], two[1])
    if across <= 0 or down <= 0:
        return 0.0
    return across * down / min((box[2] - box[0]) * (box[3] - box[1]) for box in (one, two))


def united(passes: Iterable[Sequence[Word]]) -> list[Word]:
    """Return the words of several passes without two for the same ink.

    Words that overlap are united group by group: each group is read as the pass reads it whose words have the most
    plausible letters; the first one of equal passes.

    Args:
        passes: the words of each pass, with boxes on the same page.
    """
    passes = list(passes)
    words = [word for each in passes for word in each]
    value = {id(word): worth for each in passes for word, worth in zip(each, plausibilities(each), strict=True)}
    sure = [word for word in words if value[id(word)] >= SURE]
    found: list[Word] = []
    for group in _groups(sure):
        found += _best(group, value)
    rest = sorted((word for word in words if value[id(word)] < SURE), key=lambda word: -value[id(word)])
    grid = Grid(found)
    for word in rest:
        if not grid.near(word.box):
            found.append(word)
            grid.add(word)
    return found


def _best(group: list[Word], value: dict[int, float]) -> list[Word]:
    """Return the words of a group, without two for the same ink."""
    found: list[Word] = []
    while group:
        by_pass: dict[str, list[Word]] = {}
        for word in group:
            by_pass.setdefault(word.source, []).append(word)
        chosen = max(by_pass.values(), key=lambda words: sum(value[id(word)] * _letters(word) for word in words))
        for word in sorted(chosen, key=lambda word: -value[id(word)]):
            if not any(overlap(word.box, other.box) > SAME for other in found):
                found.append(word)
        group = [
            word
            for word in group
            if word.source != chosen[0].source and not any(overlap(word.box, other.box) > SAME for other in found)
        ]
    return found


def _letters(word: Word) -> float:
    return sum(map(str.isalnum, word.text)) + 0.2


def _groups(words: list[Word]) -> list[list[Word]]:
    """Return words grouped so that words of different groups do not overlap."""
    root = list(range(len(words)))

    def of(index: int) -> int:
        while root[index] != index:
            root[index] = root[root[index]]
            index = root[index]
        return index

    grid = Grid(())
    position = {id(word): index for index, word in enumerate(words)}
    for index, word in enumerate(words):
        for other in grid.near(word.box):
            root[of(index)] = of(position[id(other)])
        grid.add(word)
    ordered = sorted(range(len(words)), key=lambda index: (of(index), index))
    return [[words[index] for index in group] for _, group in groupby(ordered, key=of)]


class Grid:
    """Words by their place on the page."""

    _CELL = 64

    def __init__(self, words: Iterable[Word]) -> None:
        self._cells: dict[tuple[int, int], list[Word]] = {}
        for word in words:
            self.add(word)

    def add(self, word: Word) -> None:
        for cell in self._touched(word.box):
            self._cells.setdefault(cell, []).append(word)

    def near(self, box: Box) -> list[Word]:
        """Return the words whose boxes share more than `SAME` of the smaller box."""
        found = {id(word): word for cell in self._touched(box) for word in self._cells.get(cell, ())}
        return [word for word in found.values() if overlap(word.box, box) > SAME]

    def _touched(self, box: Box) -> Iterable[tuple[int, int]]:
        for row in range(box[1] // self._CELL, (box[3] - 1) // self._CELL + 1):
            for column in range(box[0] // self._CELL, (box[2] - 1) // self._CELL + 1):
                yield row, column
