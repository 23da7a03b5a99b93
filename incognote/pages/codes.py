"""Barcodes and QR codes of a page: those that can be decoded, and what looks like one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incognote.errors import MissingExtra
from incognote.pages.nouns import Box, Region

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Gray = npt.NDArray[np.uint8]

KIND = "QR_Bar_Code"
CANDIDATE = 0.6
"""The score of a region that only looks like a code."""
_LARGEST = 8_000_000  # pixels of a page that is also searched at twice its size


def codes(image: npt.NDArray[np.uint8], dpi: float | None = None) -> list[Region]:
    """Return the codes of a page: barcodes, QR codes, Data Matrix, PDF417, Aztec, and others, in any direction.

    A box covers a whole symbol up to its quiet zone. What a code holds is not returned.

    Args:
        image: 8-bit gray of shape (height, width) or RGB of shape (height, width, 3).
        dpi: its resolution, if it is known.

    Returns:
        Regions of kind `QR_Bar_Code`: with score 1.0 and source `barcode` if the code was decoded; with a lower score
        and source `bars` if the region has dense parallel bars or the squares of a matrix code.

    Raises:
        MissingExtra: the extra `images` is not installed.
    """
    try:
        import cv2
        import numpy as np
        import zxingcpp
    except ImportError:
        raise MissingExtra("images", "finding barcodes") from None
    gray = np.ascontiguousarray(image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), np.uint8)
    found: list[Region] = []
    factors = (1, 2) if gray.size <= _LARGEST else (1,)
    for factor in factors:
        picture = gray if factor == 1 else cv2.resize(gray, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC)
        for symbol in zxingcpp.read_barcodes(picture):
            box = _cut(_whole(symbol.position, factor), gray)
            if box is not None and not any(_within(box, other.box) > 0.7 for other in found):
                found = [other for other in found if _within(other.box, box) <= 0.7]
                found.append(Region(KIND, _grown(gray, box), 1.0, ("barcode",)))
    known = [region.box for region in found]
    for box in (*_bars(gray, dpi or 200), *_squares(gray, dpi or 200)):
        if not any(_within(box, other) > 0.5 for other in known):
            known.append(box)
            found.append(Region(KIND, box, CANDIDATE, ("bars",)))
    return found


def _whole(position: Any, factor: int) -> Box:
    """Return the box around the corners of a symbol."""
    corners = [getattr(position, name) for name in ("top_left", "top_right", "bottom_right", "bottom_left")]
    x, y = [corner.x / factor for corner in corners], [corner.y / factor for corner in corners]
    return int(min(x)) - 1, int(min(y)) - 1, int(max(x)) + 2, int(max(y)) + 2


def _cut(box: Box, gray: Gray) -> Box | None:
    height, width = gray.shape
    left, top, right, bottom = max(0, box[0]), max(0, box[1]), min(width, box[2]), min(height, box[3])
    return (left, top, right, bottom) if left < right and top < bottom else None


def _within(one: Box, two: Box) -> float:
    """Return the part of a box that is within another one."""
    across, down = min(one[2], two[2]) - max(one[0], two[0]), min(one[3], two[3]) - max(one[1], two[1])
    return max(0, across) * max(0, down) / ((one[2] - one[0]) * (one[3] - one[1]))


def _grown(gray: Gray, box: Box) -> Box:
    """Return the box of a symbol, grown over the bars or squares that touch it.

    A decoder may return only the row of a barcode that it read. Rows and columns are added while they change as often
    as those of the symbol.
    """
    import numpy as np

    left, top, right, bottom = box
    part = gray[top:bottom, left:right]
    low, high = np.percentile(part, (5, 95))
    if high - low < 20:
        return box
    black = gray < (int(low) + int(high)) / 2

    def busy(line: npt.NDArray[np.bool_]) -> int:
        return int(np.count_nonzero(line[1:] != line[:-1]))

    height, width = gray.shape
    rows = float(np.median([busy(black[y, left:right]) for y in range(top, bottom)]))
    columns = float(np.median([busy(black[top:bottom, x]) for x in range(left, right)]))
    if rows >= columns:  # bars stand upright, or it is a matrix
        while top > 0 and rows >= 8 and busy(black[top - 1, left:right]) > 0.6 * rows:
            top -= 1
        while bottom < height and rows >= 8 and busy(black[bottom, left:right]) > 0.6 * rows:
            bottom += 1
    else:
        while left > 0 and columns >= 8 and busy(black[top:bottom, left - 1]) > 0.6 * columns:
            left -= 1
        while right < width and columns >= 8 and busy(black[top:bottom, right]) > 0.6 * columns:
            right += 1
    return left, top, right, bottom


def _bars(gray: Gray, dpi: float) -> list[Box]:
    """Return areas of dense parallel bars that stand upright or lie flat."""
    import cv2
    import numpy as np

    blurred = cv2.GaussianBlur(gray, (3, 3), 0)
    down = cv2.convertScaleAbs(cv2.Sobel(blurred, cv2.CV_16S, 0, 1, ksize=3))
    across = cv2.convertScaleAbs(cv2.Sobel(blurred, cv2.CV_16S, 1, 0, ksize=3))
    found: list[Box] = []
    wide, high = max(5, round(0.06 * dpi)) | 1, max(5, round(0.1 * dpi)) | 1
    for strong, weak, upright in ((across, down, True), (down, across, False)):
        change = np.where(cv2.subtract(strong, weak) > 60, np.uint8(255), np.uint8(0))
        along, bar = ((wide, 1), (1, high)) if upright else ((1, wide), (high, 1))
        change = cv2.morphologyEx(change, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_RECT, bar))
        change = cv2.morphologyEx(change, cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_RECT, along))
        size = (high, high)
        change = cv2.morphologyEx(change, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_RECT, size))
        _, _, stats, _ = cv2.connectedComponentsWithStats(change, connectivity=8)
        for left, top, width, height, area in stats[1:].tolist():
            length, side = (width, height) if upright else (height, width)
            if length < 0.4 * dpi or side < 0.1 * dpi or area < 0.5 * width * height:
                continue
            box = (left, top, left + width, top + height)
            if _count_bars(gray, box, upright) >= 15:
                found.append(box)
    return found


def _count_bars(gray: Gray, box: Box, upright: bool) -> int:
    """Return how many bars three lines through a box cross, the fewest of the three."""
    import numpy as np

    left, top, right, bottom = box
    part = gray[top:bottom, left:right] if upright else gray[top:bottom, left:right].T
    black = part < (int(part.min()) + int(part.max())) / 2
    lines = [black[len(black) * quarter // 4] for quarter in (1, 2, 3)]
    return min(int(np.count_nonzero(line[1:] & ~line[:-1])) for line in lines)


def _squares(gray: Gray, dpi: float) -> list[Box]:
    """Return areas with the texture of a matrix code: squares of ink, half black, that change in both directions."""
    import cv2
    import numpy as np

    ground = cv2.blur(gray, (max(9, round(0.25 * dpi)) | 1,) * 2)
    black = np.where(gray < np.minimum(ground, 200).astype(np.int16) - 15, np.uint8(255), np.uint8(0))
    side = max(5, round(0.2 * dpi)) | 1
    found: list[Box] = []
    areas: list[list[int]] = []
    for inches in (0.035, 0.07):  # the width of a white square
        reach = max(3, round(inches * dpi)) | 1
        joined = cv2.morphologyEx(black, cv2.MORPH_CLOSE, np.ones((reach, reach), np.uint8))
        joined = cv2.morphologyEx(joined, cv2.MORPH_OPEN, np.ones((side, side), np.uint8))
        areas += cv2.connectedComponentsWithStats(joined, connectivity=8)[2][1:].tolist()
    for left, top, width, height, area in areas:
        if not 0.8 < width / height < 1.25 or width < 0.25 * dpi or area < 0.55 * width * height:
            continue
        part = gray[top : top + height, left : left + width]
        dark = part < (int(part.min()) + int(part.max())) / 2
        rows = np.count_nonzero(dark[:, 1:] != dark[:, :-1], axis=1)
        columns = np.count_nonzero(dark[1:] != dark[:-1], axis=0)
        changes = float(np.median(rows)), float(np.median(columns))
        if 0.3 < dark.mean() < 0.7 and min(changes) >= 7 and max(changes) < 0.3 * width:  # not noise
            found.append((left, top, left + width, top + height))
    return found
