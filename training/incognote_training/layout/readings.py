"""What an OCR engine may read on a drawn page: words that are lost, misread, or read where there are none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from incognote.pages.nouns import Box, Region, Turn, Word
from incognote_training.layout.browser import DrawnWord

Picture = NDArray[np.uint8]
_LETTERS = "abcdeilnorsuvwATMSZ()|/~-_=.,:;'1470"
_PICTURES = frozenset(("Image", "Seal_Stamp", "Logo", "Signature"))
_NOISY = _PICTURES | {"QR_Bar_Code", "Handwriting", "Face"}


def read_as(
    picture: Picture, words: Sequence[DrawnWord], regions: Sequence[Region], rng: np.random.Generator
) -> tuple[list[Word], list[Region]]:
    """Return words and barcodes as they may be read on a page.

    Args:
        picture: the page, gray. words, regions: what was drawn on it.
    """
    lost = float(rng.choice((0.005, 0.02, 0.06, 0.25), p=(0.5, 0.28, 0.15, 0.07)))
    lost_by_hand, lost_in_picture = rng.uniform(0, 0.4), rng.uniform(0.02, 0.6)
    by_hand, in_picture = rng.uniform(0.35, 0.95, 2)  # the usual confidence
    pictures = [region.box for region in regions if region.kind in _PICTURES]
    high, wide = picture.shape
    found: list[Word] = []
    for word in words:
        shown = any(_is_in(word.box, box) for box in pictures)
        chance = lost_by_hand if word.by_hand else lost_in_picture if shown else lost
        chance = chance if word.upright else max(chance, 0.3)
        small = word.box[3] - word.box[1] < 7
        if rng.random() < (max(chance, 0.5) if small else chance) or (ink := _inked(picture, word.box)) is None:
            continue
        by = rng.normal(0, 0.03 * (ink[3] - ink[1]) + 0.5, 4)
        moved = [round(side + each) for side, each in zip(ink, by, strict=True)]
        box = max(0, moved[0]), max(0, moved[1]), min(wide, moved[2]), min(high, moved[3])
        if box[2] - box[0] < 2 or box[3] - box[1] < 2:
            continue
        if word.by_hand or shown:
            sure = rng.normal(by_hand if word.by_hand else in_picture, 0.15)
        else:
            sure = rng.normal(0.93, 0.04) if rng.random() < 0.93 else rng.uniform(0.1, 0.8)
        text = word.text
        if word.by_hand and rng.random() < 0.5:
            text = "".join(letter if rng.random() < 0.7 else str(rng.choice(list(_LETTERS))) for letter in text)
        if text.endswith(":") and rng.random() < 0.06:
            text = text[:-1]
        turn: Turn = 0 if word.upright else 90
        found.append(Word(text, box, float(np.clip(sure, 0.02, 0.98)), len(found), turn))
    for region in regions:
        if region.kind in _NOISY and rng.random() < (0.75 if region.kind in ("Signature", "Image") else 0.5):
            found += _misread(region, rng, len(found))
    return found, list(_decoded(regions, rng))


def _is_in(box: Box, other: Box) -> bool:
    return other[0] - 3 <= box[0] and other[1] - 3 <= box[1] and box[2] <= other[2] + 3 and box[3] <= other[3] + 3


def _inked(picture: Picture, box: Box) -> Box | None:
    """Return the box of the ink in a box."""
    left, top, right, bottom = box
    around = picture[max(0, top - 2) : bottom + 2, max(0, left - 2) : right + 2]
    ink = np.abs(picture[top:bottom, left:right].astype(np.int16) - int(np.median(around))) > 40
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    if len(rows) < 3 or len(columns) < 2:
        return None
    return left + int(columns[0]), top + int(rows[0]), left + int(columns[-1]) + 1, top + int(rows[-1]) + 1


def _misread(region: Region, rng: np.random.Generator, line: int) -> list[Word]:
    """Return words that an engine reads in what has none: many in a picture, and often a whole signature as one."""
    left, top, right, bottom = region.box
    found: list[Word] = []
    whole = region.kind == "Signature" and rng.random() < 0.7
    for _ in range(1 if whole else int(rng.integers(1, 60 if region.kind == "Image" else 4))):
        share = (0.8, 1.0) if whole else (0.02, 0.15) if region.kind == "Image" else (0.05, 0.4)
        wide, high = (right - left) * rng.uniform(*share), (bottom - top) * rng.uniform(*share)
        x, y = left + rng.uniform(0, max(1, right - left - wide)), top + rng.uniform(0, max(1, bottom - top - high))
        if wide >= 4 and high >= 4:
            text = "".join(rng.choice(list(_LETTERS), int(rng.integers(1, 7)))).capitalize()
            box = int(x), int(y), int(x + wide), int(y + high)
            found.append(Word(text, box, float(rng.uniform(0.02, 0.95)), line + len(found)))
    return found


def _decoded(regions: Sequence[Region], rng: np.random.Generator) -> list[Region]:
    """Return barcodes as they may be found, some without the number below."""
    found = []
    for region in regions:
        if region.kind != "QR_Bar_Code" or rng.random() < 0.1:
            continue
        left, top, right, bottom = region.box
        if right - left > 1.5 * (bottom - top) and rng.random() < 0.4:
            bottom = int(bottom - (bottom - top) * rng.uniform(0.15, 0.3))
        found.append(Region(region.kind, (left, top, right, bottom), 1.0 if rng.random() < 0.85 else 0.6))
    return found
