"""Join the letters of fields with a box for each letter, as on claim forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from statistics import fmean, median

from incognote.pages.nouns import Word

COMB = "comb"
"""The source of joined words. Fields with a box for each letter are filled in by a person."""
_LEAST = 4  # letters
_NARROW, _WIDE = 0.8, 2.2  # the distance of letters, in heights of them
_OFF = 0.3  # by which a distance differs from the usual one, as a part of it
_EMPTY = 1.6  # usual distances from which on there is an empty box between two letters


def joined(words: Sequence[Word]) -> list[Word]:
    """Return words in which runs of single letters at equal distances are one word, up to an empty box.

    Args:
        words: in reading order.
    """
    found: list[Word] = []
    for _, line in groupby(words, lambda word: (word.line, word.turn)):
        for run in _runs(list(line)):
            distance = _distance(run)
            found += run if distance is None else _united(run, distance)
    return found


def _runs(line: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield the words of a line in runs of short ones and runs of others."""
    for _, run in groupby(line, lambda word: len(word.text) <= 2 and word.text.isalnum() and word.turn == 0):
        yield list(run)


def _distance(run: Sequence[Word]) -> float | None:
    """Return the usual distance of the letters of a run in pixels, or None if they are not in boxes."""
    if len(run) < _LEAST or sum(len(word.text) for word in run) > 1.5 * len(run) or run[0].turn:
        return None
    middles = [(word.box[0] + word.box[2]) / 2 for word in run]
    steps = [two - one for one, two in pairwise(middles)]
    usual, high = median(steps), median(word.box[3] - word.box[1] for word in run)
    if not _NARROW * high < usual < _WIDE * high:
        return None
    near = sum(abs(step / usual - max(1, round(step / usual))) < _OFF for step in steps)
    return usual if near > 0.8 * len(steps) else None


def _united(run: Sequence[Word], distance: float) -> Iterator[Word]:
    group = [run[0]]
    for before, word in pairwise(run):
        if (word.box[0] + word.box[2] - before.box[0] - before.box[2]) / 2 > _EMPTY * distance:
            yield _one(group)
            group = []
        group.append(word)
    yield _one(group)


def _one(group: Sequence[Word]) -> Word:
    lefts, tops, rights, bottoms = zip(*(word.box for word in group), strict=True)
    return replace(
        group[0],
        text="".join(word.text for word in group),
        box=(min(lefts), min(tops), max(rights), max(bottoms)),
        confidence=fmean(word.confidence for word in group),
        source=COMB,
    )
