"""Make a page easier to read: dark areas inverted, pale ink darkened, small letters enlarged, lines removed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from incognote.pages import lines
from incognote.pages.nouns import Box, Turn

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Gray = npt.NDArray[np.uint8]

LETTER = 22.0
"""The height of small letters at which Tesseract reads best, in pixels: about 10 points at 300 dpi."""
MOST_PIXELS = 30_000_000


@dataclass(frozen=True, slots=True)
class PictureView:
    """A changed picture of a page, and how to map its pixels back.

    Args:
        gray: the picture.
        matrix: from homogeneous pixels of the page to those of the picture, of shape (3, 3).
        size: width and height of the page.
        turn: how the letters that are upright in the picture are turned on the page.
    """

    gray: Gray = field(repr=False)
    matrix: npt.NDArray[np.float64]
    size: tuple[int, int]
    turn: Turn = 0

    def back(self, box: Box) -> Box | None:
        """Return the box on the page that covers a box of the picture, or None if it is outside of the page."""
        import numpy as np

        left, top, right, bottom = box
        corners = np.array([(left, top, 1), (right, top, 1), (left, bottom, 1), (right, bottom, 1)], float).T
        x, y = (np.linalg.inv(self.matrix) @ corners)[:2]
        width, height = self.size
        found = (
            max(0, round(float(x.min()))),
            max(0, round(float(y.min()))),
            min(width, round(float(x.max()))),
            min(height, round(float(y.max()))),
        )
        return found if found[0] < found[2] and found[1] < found[3] else None

    def box(self, box: Box) -> Box:
        """Return the box of the picture that covers a box of the page, cut to the picture."""
        import numpy as np

        left, top, right, bottom = box
        corners = np.array([(left, top, 1), (right, top, 1), (left, bottom, 1), (right, bottom, 1)], float).T
        x, y = (self.matrix @ corners)[:2]
        height, width = self.gray.shape
        return (
            max(0, int(np.floor(x.min()))),
            max(0, int(np.floor(y.min()))),
            min(width, int(np.ceil(x.max()))),
            min(height, int(np.ceil(y.max()))),
        )


def view_of(image: npt.NDArray[np.uint8]) -> PictureView:
    """Return the gray picture of a page."""
    import cv2
    import numpy as np

    gray = image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    return PictureView(np.ascontiguousarray(gray), np.eye(3), (image.shape[1], image.shape[0]))


def turned(view: PictureView, by: Turn) -> PictureView:
    """Return a picture in which letters that are turned by so many degrees, clockwise, are upright."""
    import numpy as np

    if not by:
        return view
    height, width = view.gray.shape
    turn: dict[int, tuple[tuple[int, int, int], ...]] = {
        90: ((0, 1, 0), (-1, 0, width), (0, 0, 1)),  # counterclockwise
        180: ((-1, 0, width), (0, -1, height), (0, 0, 1)),
        270: ((0, -1, height), (1, 0, 0), (0, 0, 1)),
    }
    gray = np.ascontiguousarray(np.rot90(view.gray, by // 90))
    total: Turn = (view.turn + by) % 360  # type: ignore[assignment]  # a multiple of 90 below 360
    return PictureView(gray, np.array(turn[by], float) @ view.matrix, view.size, total)


def scaled(view: PictureView, factor: float) -> PictureView:
    """Return a picture that is larger or smaller by a factor."""
    import cv2
    import numpy as np

    if abs(factor - 1) < 0.05:
        return view
    height, width = view.gray.shape
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    how = cv2.INTER_CUBIC if factor > 1 else cv2.INTER_AREA
    matrix = np.diag((size[0] / width, size[1] / height, 1.0)) @ view.matrix
    return replace(view, gray=np.asarray(cv2.resize(view.gray, size, interpolation=how), np.uint8), matrix=matrix)


def deskewed(view: PictureView, degrees: float) -> PictureView:
    """Return a picture without a skew that `lines.skew` has found. Its corners may be cut."""
    import cv2
    import numpy as np

    if not degrees:
        return view
    height, width = view.gray.shape
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
    gray = cv2.warpAffine(
        view.gray, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    full = np.vstack([np.asarray(matrix, np.float64), (0.0, 0.0, 1.0)])
    return replace(view, gray=np.asarray(gray, np.uint8), matrix=full @ view.matrix)


def erased(view: PictureView, boxes: list[Box]) -> PictureView:
    """Return a picture in which boxes of the page are white."""
    gray = view.gray.copy()
    for box in boxes:
        left, top, right, bottom = view.box(box)
        gray[top:bottom, left:right] = 255
    return replace(view, gray=gray)


def letters_only(view: PictureView, letter: float) -> PictureView:
    """Return a cleaned picture with only the parts that are large enough for letters; blank if there are over 4,000."""
    import cv2
    import numpy as np

    mask = np.where(view.gray < 128, np.uint8(255), np.uint8(0))
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    kept = np.maximum(stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_HEIGHT]) > 0.35 * letter
    kept[0] = False
    if kept.sum() > 4000:
        return replace(view, gray=np.full_like(view.gray, 255))
    near = cv2.dilate(kept[labels].astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    return replace(view, gray=np.where(near, view.gray, np.uint8(255)))


def light(view: PictureView, letter: float) -> tuple[PictureView, bool]:
    """Return a picture whose dark areas are inverted, so that all letters are darker than their ground.

    An area is dark if most of its pixels are dark after letters in it are closed, and it is higher than a letter.

    Args:
        letter: the height of a small letter, in pixels.

    Returns:
        The picture, and whether anything was inverted.
    """
    import cv2
    import numpy as np

    dark = np.where(view.gray < 128, np.uint8(255), np.uint8(0))
    stroke, tall = max(3, round(letter * 0.6)) | 1, max(5, round(letter * 1.2))
    closed = cv2.morphologyEx(dark, cv2.MORPH_CLOSE, np.ones((stroke, stroke), np.uint8))
    areas = cv2.morphologyEx(closed, cv2.MORPH_OPEN, np.ones((tall, tall), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(areas, connectivity=4)
    filled = np.bincount(labels.ravel(), weights=(dark > 0).ravel(), minlength=count)
    reach = np.ones((2 * tall + 1, 2 * tall + 1), np.uint8)
    gray, found = view.gray.copy(), False
    for label in range(1, count):
        left, top, width, height, area = stats[label]
        if height < 1.5 * letter or area < 6 * letter**2 or filled[label] < 0.62 * area:
            continue
        part = np.s_[top : top + height, left : left + width]
        within = cv2.morphologyEx((labels[part] == label).astype(np.uint8), cv2.MORPH_CLOSE, reach) > 0
        ground = int(np.median(view.gray[part][within & (dark[part] > 0)]))
        bright = np.clip(255 + ground - view.gray[part].astype(np.int16), 0, 255).astype(np.uint8)
        gray[part] = np.where(within, bright, gray[part])
        found = True
    return replace(view, gray=gray) if found else view, found


def stretched(view: PictureView, letter: float) -> tuple[PictureView, bool]:
    """Return a picture with a white ground, in which pale letters are as dark as others.

    Each pixel's darkness below the ground around it is divided by the greatest darkness near it, at least 40 levels and
    more than the noise of the page.

    Returns:
        The picture, and whether it has pale letters.
    """
    import cv2
    import numpy as np

    height, width = view.gray.shape
    stroke, near = max(3, round(letter)) | 1, max(3, round(letter / 2)) | 1
    ground = cv2.morphologyEx(view.gray, cv2.MORPH_CLOSE, np.ones((stroke, stroke), np.uint8))
    below = cv2.subtract(ground, view.gray)
    small = max(1, round(letter / 6))
    size = (max(1, width // small), max(1, height // small))
    top = cv2.resize(cv2.dilate(cv2.medianBlur(below, 3), np.ones((small, small), np.uint8)), size)
    top = cv2.dilate(top, np.ones((6 * near // small | 1, 6 * near // small | 1), np.uint8))
    top = cv2.resize(top, (width, height), interpolation=cv2.INTER_LINEAR)
    ground_noise = float(np.percentile(cv2.absdiff(view.gray, cv2.medianBlur(view.gray, 3))[::2, ::2], 75))
    least = min(160.0, max(40.0, 14 * ground_noise))
    full = np.maximum(top, least)
    pale = float(np.mean((top > least) & (top < 110)))
    result = 255 - np.minimum(below.astype(np.float32) / full * 255, 255)
    return replace(view, gray=result.astype(np.uint8)), pale > 0.002


def letter_height(gray: Gray) -> float | None:
    """Return the height of small letters in pixels, from connected parts of strong ink; None if there are few.

    Ink differs from the mean around it by half of the page's contrast, or else by a quarter, or a tenth.
    """
    import cv2
    import numpy as np

    side = max(15, min(gray.shape) // 25) | 1
    low, high = np.percentile(gray[::4, ::4], (0.5, 99.5))
    away = cv2.absdiff(gray, cv2.boxFilter(gray, -1, (side, side), borderType=cv2.BORDER_REPLICATE))
    for part in (2, 4, 10):
        mask = np.where(away > max(10.0, float(high - low) / part), np.uint8(255), np.uint8(0))
        if (height := _letter_height(mask)) is not None:
            return height
    return None


def has_letters(gray: Gray) -> bool:
    """Return whether a cleaned picture has at least a dozen parts that may be letters."""
    import numpy as np

    return _letter_height(np.where(gray < 128, np.uint8(255), np.uint8(0))) is not None


def _letter_height(mask: lines.Mask) -> float | None:
    import cv2
    import numpy as np

    _, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    width, height, area = (stats[1:, column] for column in (cv2.CC_STAT_WIDTH, cv2.CC_STAT_HEIGHT, cv2.CC_STAT_AREA))
    like = (height >= 4) & (width >= 2) & (width < 4 * height) & (height < 6 * width) & (area > 0.15 * width * height)
    like &= (area < 0.95 * width * height) & (height < max(mask.shape) / 8)
    heights = height[like]
    if len(heights) < 12:
        return None
    return float(np.percentile(heights, 40))


def factor_for(pixels: int, letter: float, most: float = 4.0) -> float:
    """Return the factor that brings letters to the best height, within the limit of pixels."""
    return float(max(0.25, min(LETTER / letter, most, (MOST_PIXELS / pixels) ** 0.5)))


def clean(view: PictureView, letter: float) -> PictureView:
    """Return a picture for reading letters: black on white, without ruled lines, specks, and textures.

    Args:
        view: a picture without skew.
        letter: the height of a small letter, in pixels.
    """
    inverted, _ = light(view, letter)
    bright, _ = stretched(inverted, letter)
    length = max(14 * letter, 60)  # as dots per inch: letters of 11 points have 14 times their small height
    gray = lines.without_lines(bright.gray, lines.ruled(lines.ink(bright.gray), length))
    return replace(bright, gray=_calm(gray, inverted.gray, letter))


def _calm(gray: Gray, before: Gray, letter: float) -> Gray:
    """Return a picture without specks and textures, such as noise and photographs.

    In textures, only strong letters are kept.

    Args:
        gray: after pale letters are darkened.
        before: before that, with light ground.
    """
    import cv2
    import numpy as np

    count, labels, stats, _ = cv2.connectedComponentsWithStats(
        np.where(gray < 128, np.uint8(255), np.uint8(0)), connectivity=8
    )
    if count < 2:
        return gray
    size = np.maximum(stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_HEIGHT])
    size[0] = max(gray.shape)
    specks = size <= max(2, 0.15 * letter)
    if specks.sum() > 0.3 * count:
        gone = cv2.dilate(specks[labels].astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
        gray = np.where(gone & ~(~specks[labels] & (labels > 0)), np.uint8(255), gray)
    texture = _texture(gray, letter)
    if not texture.any():
        return gray
    _, labels, stats, _ = cv2.connectedComponentsWithStats(
        np.where(before < 110, np.uint8(255), np.uint8(0)), connectivity=8
    )
    height, width = stats[:, cv2.CC_STAT_HEIGHT], stats[:, cv2.CC_STAT_WIDTH]
    kept = (height > 0.5 * letter) & (height < 4 * letter) & (width < 12 * letter)
    kept[0] = False
    strong = cv2.dilate(kept[labels].astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    return np.where(texture, np.where(strong, before, np.uint8(255)), gray)


def _texture(gray: Gray, letter: float) -> npt.NDArray[np.bool_]:
    """Return where a picture is a texture: squares of three letters in which nearly all rows and columns change often.

    A square with text has rows without ink, between its lines.
    """
    import cv2
    import numpy as np

    cell = max(8, round(3 * letter))
    rows, columns = -(-gray.shape[0] // cell), -(-gray.shape[1] // cell)
    black = np.zeros((rows * cell, columns * cell), bool)
    black[: gray.shape[0], : gray.shape[1]] = gray < 128
    across = np.zeros_like(black)
    across[:, 1:] = black[:, 1:] != black[:, :-1]
    down = np.zeros_like(black)
    down[1:] = black[1:] != black[:-1]
    by_row = across.reshape(rows, cell, columns, cell).sum(3)
    by_column = down.reshape(rows, cell, columns, cell).sum(1)
    busy = np.minimum(np.percentile(by_row, 15, axis=1), np.percentile(by_column, 15, axis=2)) >= 2
    wide = cv2.dilate(busy.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    busy = wide & (cv2.blur(busy.astype(np.float32), (3, 3)) > 0.3)
    return np.kron(busy, np.ones((cell, cell), bool))[: gray.shape[0], : gray.shape[1]]
