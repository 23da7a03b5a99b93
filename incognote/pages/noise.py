"""Remove the noise of scanners and fax machines from a page before it is read.

Gray noise is removed with non-local means (Buades, Coll, and Morel, CVPR 2005). Specks of a page in black and white are
connected parts of at most two pixels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Gray = npt.NDArray[np.uint8]

_FLAT = 0.5  # the share of pixels equal to their neighbor on a page without noise
_STRENGTH, _PATCH, _SEARCH = 10.0, 5, 11  # of the filter: gray levels and pixels
_SPECK = 2  # pixels


def without_noise(gray: Gray) -> Gray:
    """Return a gray page of shape (height, width) without noise; the page itself if it has none."""
    import cv2
    import numpy as np

    if is_bilevel(gray):
        return _without_specks(gray)
    if float((gray[:, 1:] == gray[:, :-1]).mean()) > _FLAT:
        return gray
    return cv2.fastNlMeansDenoising(gray, None, _STRENGTH, _PATCH, _SEARCH).astype(np.uint8)


def is_bilevel(gray: Gray) -> bool:
    """Return whether a gray page of shape (height, width) has only black and white, as a fax has."""
    return bool(((gray == 0) | (gray == 255)).all())


def _without_specks(gray: Gray) -> Gray:
    import cv2
    import numpy as np

    cleared = gray.copy()
    for color in (0, 255):
        mask = (cleared == color).astype(np.uint8)
        count, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
        small = np.zeros(count, bool)
        small[1:] = stats[1:, cv2.CC_STAT_AREA] <= _SPECK
        cleared[small[labels]] = 255 - color
    return cleared
