"""Skew and ruled lines of a page.

The skew is found from the projection profile of the ink, as in Postl, Detection of linear oblique structures and skew
scan in digitized documents (ICPR 1986). Ruled lines are found with morphological openings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mask = npt.NDArray[np.uint8]
    """0 or 255, of shape (height, width)."""

WIDEST_SKEW = 8.0
"""The largest skew that is looked for, in degrees."""
_POINTS = 40_000


def ink(gray: npt.NDArray[np.uint8]) -> Mask:
    """Return 255 where a gray page is darker than its surroundings.

    A pixel is ink if it is darker than the mean around it, within about a 25th of the page's shorter side, by a tenth
    of the page's contrast and at least 12 levels.
    """
    import cv2
    import numpy as np

    side = max(15, min(gray.shape) // 25) | 1
    low, high = np.percentile(gray[::4, ::4], (1, 99))
    step = max(12.0, float(high - low) / 10)
    mean = cv2.boxFilter(gray, -1, (side, side), borderType=cv2.BORDER_REPLICATE)
    return np.where(gray < mean - step, np.uint8(255), np.uint8(0))


def skew(mask: Mask) -> float:
    """Return by how many degrees the lines of a page fall to the right, clockwise, from -8 to 8.

    Args:
        mask: 255 where the page has ink. Returns 0.0 if it has little.
    """
    import numpy as np

    y, x = np.nonzero(mask)
    if len(y) < 200:
        return 0.0
    if len(y) > _POINTS:
        chosen = np.random.default_rng(0).choice(len(y), _POINTS, replace=False)
        y, x = y[chosen], x[chosen]
    step = max(1.0, mask.shape[0] / 1200)  # rows of the profile, in pixels
    x = x - mask.shape[1] / 2

    def sharpness(angle: float) -> float:
        rows = ((y - x * np.tan(np.radians(angle))) / step).astype(np.int64)
        profile = np.bincount(rows - rows.min())
        return float(np.square(np.diff(profile.astype(np.float64))).sum())

    coarse = max(np.arange(-WIDEST_SKEW, WIDEST_SKEW + 0.1, 0.5), key=sharpness)
    fine = float(max(np.arange(coarse - 0.5, coarse + 0.51, 0.1), key=sharpness))
    if sharpness(fine) < 1.15 * sharpness(0.0):
        return 0.0
    return min(max(round(fine, 2), -WIDEST_SKEW), WIDEST_SKEW)


def ruled(mask: Mask, dpi: float) -> Mask:
    """Return 255 where a page has straight horizontal or vertical lines: rules, borders of cells, underlines.

    Args:
        mask: 255 where the page has ink.
        dpi: the page's resolution. Lines are at least 0.3 inch long and at most 0.045 inch thick.
    """
    import cv2
    import numpy as np

    length, thick = max(20, round(0.3 * dpi)), max(3, round(0.045 * dpi))
    found = np.zeros_like(mask)
    for across in (True, False):
        size = (length, 1) if across else (1, length)
        joined = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((1, 3) if across else (3, 1), np.uint8))
        lines = cv2.morphologyEx(joined, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_RECT, size))
        solid = cv2.getStructuringElement(cv2.MORPH_RECT, (thick, thick))
        lines = cv2.subtract(lines, cv2.morphologyEx(lines, cv2.MORPH_OPEN, solid))
        # what is left of the rim of a solid area is not a line
        lines = cv2.morphologyEx(lines, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_RECT, size))
        found = np.maximum(found, np.asarray(lines, np.uint8))
    return found


def without_lines(gray: npt.NDArray[np.uint8], lines: Mask) -> npt.NDArray[np.uint8]:
    """Return a gray page with its lines filled with the ground around them."""
    import cv2
    import numpy as np

    if not lines.any():
        return gray
    wide = cv2.dilate(lines, np.ones((3, 3), np.uint8))
    ground = cv2.morphologyEx(gray, cv2.MORPH_CLOSE, np.ones((15, 15), np.uint8))
    return np.where(wide > 0, ground, gray)
