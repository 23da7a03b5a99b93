"""Batches of worn pages, and the pages of a folder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from incognote.errors import UsageError
from incognote.evaluation import coco
from incognote.evaluation.coco import RegionPage
from incognote.pages.boxes import boxes_of
from incognote.pages.layout import KINDS
from incognote_training.layout import effects
from incognote_training.layout.generate import REGIONS

Picture = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Batch:
    """Inputs of one size and what is in them.

    Args:
        pictures: pages × 1 × height × width, 8-bit gray levels.
        boxes: regions × 4, in pixels of the input.
        kinds: the place in `KINDS` of each region.
        pages: the row of `pictures` of each region.
    """

    pictures: NDArray[np.uint8]
    boxes: NDArray[np.float32]
    kinds: NDArray[np.int64]
    pages: NDArray[np.int64]


def read(*folders: Path) -> list[RegionPage]:
    """Return the pages of folders that `generate` wrote. Their names are paths.

    Raises:
        UsageError: a folder has none.
        MalformedRecord: a file of regions is not in COCO's format.
    """
    made = []
    for folder in folders:
        try:
            data = (folder / REGIONS).read_bytes()
        except OSError:
            raise UsageError("the folder holds no pages. Name one that `layout generate` wrote") from None
        made += [replace(page, name=str(folder / page.name)) for page in coco.read(data)]
    return made


def picture(page: RegionPage) -> Picture:
    """Return the gray picture of a page.

    Raises:
        UsageError: it is missing or no picture.
    """
    import cv2

    made = cv2.imread(page.name, cv2.IMREAD_GRAYSCALE)
    if made is None:
        raise UsageError("a picture of the folder is missing. Generate the pages again")
    return np.asarray(made, np.uint8)


def regions(page: RegionPage) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return the boxes of a page's regions (regions × 4) and their places in `KINDS`."""
    kinds = np.array([KINDS.index(region.kind) for region in page.regions], np.int64)
    return boxes_of(page.regions), kinds


def plan(pages: list[RegionPage], count: int, seed: int, epoch: int) -> list[list[tuple[int, int]]]:
    """Return the batches of an epoch: for each, its pages and their quarter turns. Inputs of a batch have one shape.

    Args:
        count: pages in a batch.
    """
    rng = np.random.default_rng((seed, epoch))
    turns = rng.choice((0, 1, 2, 3), len(pages), p=(0.93, 0.03, 0.01, 0.03))
    waiting: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    made = []
    for number in rng.permutation(len(pages)).tolist():
        sides = (pages[number].height, pages[number].width)
        batch = waiting[sides[0] > sides[1] if turns[number] % 2 == 0 else sides[1] > sides[0]]
        batch.append((number, int(turns[number])))
        if len(batch) == count:
            made.append(batch.copy())
            batch.clear()
    return made + [batch for batch in waiting.values() if batch]


def batch(
    pages: list[RegionPage],
    numbers: list[tuple[int, int]],
    size: int,
    seed: tuple[int, int],
    *,
    square: bool = False,
) -> Batch:
    """Return pages as a network sees them in training: turned, worn, and placed at random.

    Args:
        numbers: one batch of `plan`.
        size: pixels of the input's longer side. The shorter one has three quarters, unless `square`.
        seed: of the training, and the epoch.
    """
    pictures, boxes, kinds, rows = [], [], [], []
    for row, (number, turns) in enumerate(numbers):
        rng = np.random.default_rng((*seed, number))
        gold, classes = regions(pages[number])
        page, gold = effects.turned(picture(pages[number]), gold, turns)
        short = size if square else size * 3 // 4
        shape = (size, short) if page.shape[0] > page.shape[1] else (short, size)
        made, moved, inside = effects.placed(effects.worn(page, rng), gold, shape, rng)
        pictures.append(made)
        boxes.append(moved[inside])
        kinds.append(classes[inside])
        rows.append(np.full(int(inside.sum()), row, np.int64))
    return Batch(np.stack(pictures)[:, None], np.concatenate(boxes), np.concatenate(kinds), np.concatenate(rows))
