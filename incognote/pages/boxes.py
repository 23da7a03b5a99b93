"""Boxes of regions: overlap, suppression of duplicates, and pages fitted into the input of a network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from incognote.pages.nouns import Region, Word

    Boxes = NDArray[np.float32]
    """Boxes × 4: left, top, right, bottom."""
    Page = NDArray[np.uint8]
    """A gray page, height × width."""


def boxes_of(found: Iterable[Region | Word]) -> Boxes:
    """Return the boxes of regions or words (regions × 4)."""
    import numpy as np

    return np.array([each.box for each in found], np.float32).reshape(-1, 4)


def common(one: Boxes, other: Boxes) -> Boxes:
    """Return the area that each box of `one` shares with each of `other`, in pixels (len(one) × len(other))."""
    import numpy as np

    start = np.maximum(one[:, None, :2], other[None, :, :2])
    end = np.minimum(one[:, None, 2:], other[None, :, 2:])
    return np.asarray(np.prod(np.clip(end - start, 0, None), axis=2), np.float32)


def overlaps(one: Boxes, other: Boxes) -> Boxes:
    """Return the intersection over union of each box of `one` with each of `other` (len(one) × len(other)).

    It is 0 where both boxes are empty.
    """
    import numpy as np

    shared = common(one, other)
    areas = [np.prod(np.clip(each[:, 2:] - each[:, :2], 0, None), axis=1) for each in (one, other)]
    union = areas[0][:, None] + areas[1][None] - shared
    return np.asarray(np.divide(shared, union, out=np.zeros_like(shared), where=union > 0), np.float32)


def suppressed(boxes: Boxes, scores: NDArray[np.float32], kinds: NDArray[np.intp], most: float) -> NDArray[np.intp]:
    """Return the indices of the boxes to keep, by score: non-maximum suppression within each kind.

    Args:
        most: of two boxes of one kind that overlap by more than this, only the one with the higher score is kept.
    """
    import numpy as np

    order = np.argsort(-scores, kind="stable")
    shared = overlaps(boxes[order], boxes[order]) > most
    shared &= kinds[order][:, None] == kinds[order][None]
    keep = np.ones(len(order), bool)
    for place in range(len(order)):
        if keep[place]:
            keep[place + 1 :] &= ~shared[place, place + 1 :]
    return np.asarray(order[keep], np.intp)


@dataclass(frozen=True, slots=True)
class Fit:
    """How a page lies in the input of a network: scaled, with its top left corner in the input's.

    Args:
        scale: pixels of the input for one pixel of the page.
        width, height: of the page, in its pixels.
    """

    scale: float
    width: int
    height: int

    def restored(self, boxes: Boxes) -> Boxes:
        """Return boxes of the input as boxes of the page, clipped to it."""
        import numpy as np

        limits = np.array([self.width, self.height, self.width, self.height], np.float32)
        return np.asarray(np.clip(boxes / np.float32(self.scale), 0, limits), np.float32)


def scaled(page: Page, longest: int) -> tuple[Page, float]:
    """Return a page whose longer side has `longest` pixels, and its pixels for one pixel of the given page.

    Raises:
        ValueError: the page is not an 8-bit gray picture, or has no pixels.
    """
    import cv2
    import numpy as np

    if page.ndim != 2 or page.dtype != np.uint8 or 0 in page.shape:
        raise ValueError("a page is an array of 8-bit gray levels, height × width")
    height, width = page.shape
    scale = longest / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    made = cv2.resize(page, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    return np.asarray(made, np.uint8), scale


def letterboxed(page: Page, longest: int, multiple: int = 32, ground: int = 127) -> tuple[Page, Fit]:
    """Scale a page so that its longer side has `longest` pixels, and fill its sides to a multiple.

    Args:
        multiple: the width and the height returned are multiples of this, at least one.
        ground: gray level of the filling.

    Returns:
        the input, and how the page lies in it.

    Raises:
        ValueError: the page is not an 8-bit gray picture, or has no pixels.
    """
    import numpy as np

    small, scale = scaled(page, longest)
    made = np.full([-(-side // multiple) * multiple for side in small.shape], ground, np.uint8)
    made[: small.shape[0], : small.shape[1]] = small
    height, width = page.shape
    return made, Fit(scale, width, height)
