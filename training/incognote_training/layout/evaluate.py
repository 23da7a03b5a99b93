"""Precision, recall, and F1 of regions, by class: a region is right if its class is and the boxes overlap enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incognote.pages.boxes import overlaps
from incognote.pages.layout import KINDS
from incognote.pages.nouns import Region
from incognote.pages.regions import RegionFinder
from incognote_training.layout import data

PAPER = KINDS[:9]
"""The classes that the image paper prints."""


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of one class, or of several.

    Args:
        right: regions found.
        wrong: findings that match no region.
        missed: regions not found.
    """

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        return self.right / max(1, self.right + self.wrong)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.right + self.missed)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, 2 * self.right + self.wrong + self.missed)

    def __add__(self, other: Score) -> Score:
        return Score(self.right + other.right, self.wrong + other.wrong, self.missed + other.missed)


def matched(found: Sequence[Region], gold: Sequence[Region], least: float = 0.5) -> list[int | None]:
    """Return, for each finding, the place in `gold` that it matches, or None.

    By falling score, a finding takes the region of its class that it overlaps most, if by `least` and not yet taken.
    """
    made: list[int | None] = [None] * len(found)
    if not found or not gold:
        return made
    shared = overlaps(_array(found), _array(gold))
    taken: set[int] = set()
    for place in sorted(range(len(found)), key=lambda each: -found[each].score):
        for other in np.argsort(-shared[place], kind="stable").tolist():
            if shared[place, other] < least:
                break
            if other not in taken and gold[other].kind == found[place].kind:
                taken.add(other)
                made[place] = other
                break
    return made


def scored(pages: Iterable[tuple[Sequence[Region], Sequence[Region]]], least: float = 0.5) -> dict[str, Score]:
    """Return the counts of each class over pages of findings and gold, and under `all` and `paper` their sums.

    `paper` counts the nine classes that the image paper prints.
    """
    counts = {kind: np.zeros(3, int) for kind in KINDS}
    for found, gold in pages:
        places = matched(found, gold, least)
        for region, place in zip(found, places, strict=True):
            counts[region.kind][0 if place is not None else 1] += 1
        taken = {place for place in places if place is not None}
        for place, region in enumerate(gold):
            if place not in taken:
                counts[region.kind][2] += 1
    made = {kind: Score(*map(int, each)) for kind, each in counts.items()}
    return {
        **made,
        "paper": sum((made[kind] for kind in PAPER), Score()),
        "all": sum((made[kind] for kind in KINDS), Score()),
    }


def limits(pages: Sequence[tuple[Sequence[Region], Sequence[Region]]]) -> dict[str, float]:
    """Return for each class the lowest score at which its F1 is highest.

    Args:
        pages: findings with low scores too, and gold.
    """
    rows: dict[str, list[tuple[float, bool]]] = {kind: [] for kind in KINDS}
    total = dict.fromkeys(KINDS, 0)
    for found, gold in pages:
        for region, place in zip(found, matched(found, gold), strict=True):
            rows[region.kind].append((region.score, place is not None))
        for region in gold:
            total[region.kind] += 1
    made = {}
    for kind, each in rows.items():
        each.sort(reverse=True)
        right = np.cumsum([good for _, good in each])
        f1 = 2 * right / (np.arange(1, len(each) + 1) + total[kind]) if each else np.zeros(0)
        best = float(each[int(f1.argmax())][0]) if len(f1) and f1.max() > 0 else 0.5
        made[kind] = round(min(0.7, max(0.1, best - 0.01)), 3)
    return made


def on_folder(
    find: Callable[[NDArray[np.uint8]], list[Region]],
    folder: Path,
    change: Callable[[NDArray[np.uint8], int], NDArray[np.uint8]] = lambda page, number: page,
) -> list[tuple[list[Region], list[Region]]]:
    """Return findings and gold of the pages of a folder.

    Args:
        find: returns the regions of a page.
        change: what is done to a page before, such as noise; it takes the page's number.

    Raises:
        UsageError: the folder has no pages.
    """
    return [
        (find(change(data.picture(page), number)), list(page.regions))
        for number, page in enumerate(data.read(folder))
    ]


def reader(finder: RegionFinder) -> Callable[[NDArray[np.uint8]], list[Region]]:
    """Return a function that reads a page with OCR and returns its regions."""
    from incognote.pages.codes import codes
    from incognote.pages.ocr.passes import read_page

    def find(page: NDArray[np.uint8]) -> list[Region]:
        return finder.find(page, read_page(page, None, ["en", "es", "de", "fr"]).words, codes(page))

    return find


def _array(regions: Sequence[Region]) -> NDArray[np.float32]:
    return np.array([region.box for region in regions], np.float32)


def rows(scores: dict[str, Score]) -> list[dict[str, Any]]:
    """Return the figures as rows with plain numbers."""
    return [
        {
            "kind": kind,
            "regions": score.right + score.missed,
            "precision": round(score.precision, 3),
            "recall": round(score.recall, 3),
            "f1": round(score.f1, 3),
        }
        for kind, score in scores.items()
    ]
