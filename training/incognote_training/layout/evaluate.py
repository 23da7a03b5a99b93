"""Find the regions of the pages of a folder, and choose the lowest scores at which their F1 is highest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from incognote.evaluation.regions import matched
from incognote.pages.layout import KINDS
from incognote.pages.nouns import Region
from incognote.pages.regions import RegionFinder
from incognote_training.layout import data


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
