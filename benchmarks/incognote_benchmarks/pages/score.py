"""Score removed boxes, or an output image, against the ink of identifiers and of other words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

import numpy as np

from incognote_benchmarks.pages.degrade import TestPage, boxes_of

GONE = 0.9
"""The share of an identifier's ink that must be covered."""
LOST = 0.3
"""The share of another word's ink that may be covered before it counts as lost."""
_LEAST = 4  # pixels of ink


def covered_by(boxes: Iterable[tuple[int, int, int, int]], page: TestPage) -> Any:
    """Return which pixels the boxes cover, as booleans (height, width)."""
    mask = np.zeros(page.ink.shape, bool)
    for left, top, right, bottom in boxes:
        mask[max(0, top) : max(0, bottom), max(0, left) : max(0, right)] = True
    return mask


class Scored(TypedDict):
    """What happened to the boxes of a page; as in `scored`."""

    identifiers: list[tuple[str, str, bool]]
    kept: int
    words: int
    missed: list[tuple[str, str, str, float, tuple[int, int, int, int]]]
    touched: bool


def scored(gold: Mapping[str, Any], page: TestPage, covered: Any) -> Scored:
    """Return what happened to each identifier and each other word of a page.

    Args:
        gold: as `render` writes it.
        covered: the removed pixels.

    Returns:
        `identifiers`: (type, ink, gone) of each box; `kept`, `words`: counts; `missed`: texts of what is left.
    """
    identifiers, missed = [], []
    for each in gold["identifiers"]:
        if each["inner"]:
            continue
        for box in boxes_of(each["boxes"], page.matrix):
            left, top, right, bottom = (max(0, side) for side in box)
            ink = page.ink[top:bottom, left:right]
            if (n := int(ink.sum())) < _LEAST:
                continue
            share = float(covered[top:bottom, left:right][ink].sum()) / n
            identifiers.append((each["type"], each["ink"], share >= GONE))
            if share < GONE:
                missed.append((each["type"], each["ink"], each["text"], round(share, 2), (left, top, right, bottom)))
    kept = words = 0
    for each in gold["words"]:
        if not any(map(str.isalnum, each["text"])):
            continue
        for box in boxes_of(each["boxes"], page.matrix):
            left, top, right, bottom = (max(0, side) for side in box)
            ink = page.other[top:bottom, left:right]
            if (n := int(ink.sum())) < _LEAST:
                continue
            words += 1
            kept += float(covered[top:bottom, left:right][ink].sum()) / n <= LOST
    return {"identifiers": identifiers, "kept": kept, "words": words, "missed": missed, "touched": bool(covered.any())}
