"""What became of the identifiers and words of a page: gone, left, kept, or lost.

An identifier is gone if at least 0.9 of its ink is covered. Another word is lost if more than 0.3 of its ink is.
Without a picture, and where a box has hardly any ink, all of its pixels count as ink.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from incognote.evaluation.boxes.ink import Ink
from incognote.evaluation.boxes.nouns import LabeledBox
from incognote.pages.nouns import Box

GONE = 0.9
"""The least share of an identifier's ink that is covered if it is gone."""
LOST = 0.3
"""The largest share of another word's ink that is covered if it is kept."""
_LEAST = 4  # pixels of ink
_WITHIN = 0.5  # the share of a word's ink in boxes of identifiers from which it is one of their words


@dataclass(frozen=True, slots=True)
class JudgedPage:
    """What became of a page.

    Args:
        identifiers: each gold box, and whether it is gone. Of a page with regions: each, and whether it was found.
        others: each word that is no identifier, and whether it is kept.
        tokens: for the words of identifiers, and boxes in which the gold has no word, whether each is gone.
        covers: the boxes that were found.
        by_area: identifiers whose ink was not counted.
    """

    identifiers: tuple[tuple[LabeledBox, bool], ...]
    others: tuple[tuple[LabeledBox, bool], ...] = ()
    tokens: tuple[bool, ...] = ()
    covers: tuple[Box, ...] = field(default=(), repr=False)
    by_area: int = 0

    @property
    def gone(self) -> int:
        """How many identifiers are gone."""
        return sum(gone for _, gone in self.identifiers)

    @property
    def kept(self) -> int:
        """How many other words are kept."""
        return sum(kept for _, kept in self.others)


def judged(
    gold: Iterable[LabeledBox], words: Iterable[LabeledBox], found: Iterable[LabeledBox], ink: Ink | None
) -> JudgedPage:
    """Judge one page.

    Args:
        gold, words, found: its boxes.
        ink: of the page; None counts areas.
    """
    gold = tuple(gold)
    marked, covers = _sides(each.box for each in gold), _sides(each.box for each in found)
    identifiers, others, tokens, by_area = [], [], [], 0
    for each in gold:
        box, pixels, counted = _pixels(each.box, ink)
        identifiers.append((each, _share(pixels, _inside(box, covers)) >= GONE))
        by_area += not counted
    worded = np.zeros(len(gold), bool)
    for each in words:
        box, pixels, _ = _pixels(each.box, ink)
        own = pixels & ~_inside(box, marked)
        if each.type or own.sum() < (1 - _WITHIN) * pixels.sum():
            tokens.append(_share(pixels, _inside(box, covers)) >= GONE)
            worded |= _shared(box, marked) >= _WITHIN * (box[2] - box[0]) * (box[3] - box[1])
        else:
            others.append((each, _share(own, _inside(box, covers)) <= LOST))
    tokens += [gone for (_, gone), has_words in zip(identifiers, worded, strict=True) if not has_words]
    boxes = tuple((int(a), int(b), int(c), int(d)) for a, b, c, d in covers)
    return JudgedPage(tuple(identifiers), tuple(others), tuple(tokens), boxes, by_area)


def _sides(boxes: Iterable[Box]) -> NDArray[np.int64]:
    return np.array(list(boxes), np.int64).reshape(-1, 4)


def _pixels(box: Box, ink: Ink | None) -> tuple[Box, Ink, bool]:
    """Return the part of a box that is on its page, its ink, and whether that was counted."""
    if ink is not None:
        left, top, right, bottom = box
        part = ink[top:bottom, left:right]
        if part.sum() >= _LEAST:
            return (left, top, left + part.shape[1], top + part.shape[0]), part, True
    return box, np.ones((box[3] - box[1], box[2] - box[0]), bool), False


def _shared(box: Box, boxes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the pixels that a box shares with each of the others."""
    start, end = np.maximum(boxes[:, :2], box[:2]), np.minimum(boxes[:, 2:], box[2:])
    return np.asarray(np.prod(np.clip(end - start, 0, None), axis=1), np.int64)


def _inside(box: Box, boxes: NDArray[np.int64]) -> Ink:
    """Return which pixels of a box are in any of the others."""
    left, top, right, bottom = box
    mask = np.zeros((bottom - top, right - left), bool)
    for a, b, c, d in boxes[_shared(box, boxes) > 0]:
        mask[max(0, b - top) : max(0, d - top), max(0, a - left) : max(0, c - left)] = True
    return mask


def _share(pixels: Ink, covered: Ink) -> float:
    return float((pixels & covered).sum() / pixels.sum())


def outside(boxes: Sequence[LabeledBox], width: int, height: int) -> bool:
    """Whether a box reaches beyond its page, by more than a pixel."""
    return any(each.box[2] > width + 1 or each.box[3] > height + 1 for each in boxes)
