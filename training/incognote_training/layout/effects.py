"""What scanners, fax machines, cameras, and copiers do to a page, on arrays of 8-bit gray levels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
Boxes = NDArray[np.float32]


def worn(picture: Picture, rng: np.random.Generator) -> Picture:
    """Return a page after some effects of copying: none for one page in four, and up to five for others."""
    import cv2

    made: Any = picture
    if rng.random() < 0.25:
        return picture
    if rng.random() < 0.04:
        made = 255 - made
    if rng.random() < 0.12:
        kernel = np.ones((2, 2), np.uint8)
        made = cv2.erode(made, kernel) if rng.random() < 0.6 else cv2.dilate(made, kernel)
    if rng.random() < 0.35:
        made = cv2.GaussianBlur(made, (0, 0), rng.uniform(0.4, 1.6))
    if rng.random() < 0.4:
        low, high = rng.uniform(0, 110), rng.uniform(170, 255)
        if rng.random() < 0.1:
            low, high = sorted(rng.uniform(0, 255, 2))
        made = cv2.LUT(made, np.linspace(low, max(high, low + 60), 256).clip(0, 255).astype(np.uint8))
    if rng.random() < 0.25:
        made = _shaded(made, rng)
    if rng.random() < 0.45:
        made = _noisy(made, rng)
    if rng.random() < 0.25:
        made = _faxed(made, rng)
    if rng.random() < 0.15:
        made = _specked(made, rng)
    if rng.random() < 0.3:
        done, data = cv2.imencode(".jpg", made, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(15, 85))])
        made = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE) if done else made
    return np.asarray(made, np.uint8)


def _shaded(picture: Picture, rng: np.random.Generator) -> Any:
    """Uneven light."""
    import cv2

    coarse = rng.uniform(0.55, 1.1, (3, 3)).astype(np.float32)
    light = cv2.resize(coarse, picture.shape[::-1], interpolation=cv2.INTER_CUBIC)
    return np.clip(picture * light, 0, 255).astype(np.uint8)


def _noisy(picture: Picture, rng: np.random.Generator) -> Any:
    """Gray noise, of one level over the page."""
    tile = rng.normal(0, rng.uniform(2, 28), (256, 256)).astype(np.int16)
    rows, columns = -(-picture.shape[0] // 256), -(-picture.shape[1] // 256)
    noise = np.tile(tile, (rows, columns))[: picture.shape[0], : picture.shape[1]]
    return np.clip(picture.astype(np.int16) + noise, 0, 255).astype(np.uint8)


def _faxed(picture: Picture, rng: np.random.Generator) -> Any:
    """Black and white, at a lower resolution, sometimes with streaks."""
    import cv2

    share = rng.uniform(0.6, 1)
    small = cv2.resize(picture, None, fx=share, fy=share * rng.choice((1, 1, 0.6)), interpolation=cv2.INTER_AREA)
    if rng.random() < 0.3:
        made = cv2.adaptiveThreshold(small, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 31, rng.uniform(8, 20))
    elif rng.random() < 0.25:
        made = np.where(small > rng.uniform(40, 215, small.shape), 255, 0).astype(np.uint8)
    else:
        made = np.where(small > rng.uniform(110, 200), 255, 0).astype(np.uint8)
    for _ in range(rng.integers(0, 3)):
        at = int(rng.integers(0, made.shape[1]))
        made[:, at : at + int(rng.integers(1, 3))] = rng.choice((0, 255))
    return cv2.resize(made, picture.shape[::-1], interpolation=cv2.INTER_NEAREST)


def _specked(picture: Picture, rng: np.random.Generator) -> Any:
    """Dots of dirt, and lost dots."""
    made = picture.copy()
    count = int(picture.size * rng.uniform(0.0002, 0.006))
    rows, columns = rng.integers(0, picture.shape[0], count), rng.integers(0, picture.shape[1], count)
    made[rows, columns] = rng.choice((0, 0, 255), count)
    return made


def turned(picture: Picture, boxes: Boxes, quarters: int) -> tuple[Picture, Boxes]:
    """Return a page and its boxes after quarter turns, counterclockwise."""
    for _ in range(quarters % 4):
        width = picture.shape[1]
        picture = np.ascontiguousarray(np.rot90(picture))
        boxes = np.stack([boxes[:, 1], width - boxes[:, 2], boxes[:, 3], width - boxes[:, 0]], axis=1)
    return picture, boxes


def placed(
    picture: Picture, boxes: Boxes, size: tuple[int, int], rng: np.random.Generator, change: float = 1.0
) -> tuple[Picture, Boxes, NDArray[np.bool_]]:
    """Return a page laid into an input at random: rotated, scaled, and moved.

    Args:
        size: height and width of the input.
        change: how much is changed; with 0 the page is fitted into the input at its top left corner.

    Returns:
        the input, the boxes in it, and which of them are mostly inside.
    """
    import cv2

    height, width = picture.shape
    fit = min(size[0] / height, size[1] / width)
    wide = rng.random() < 0.4
    scale = fit * (1 + change * (rng.uniform(-0.35, 0.35) if wide else rng.uniform(-0.06, 0.0)))
    steep = rng.random() < 0.06
    angle = change * np.deg2rad(rng.normal(0, 0.7) if not steep else rng.uniform(-5, 5))
    if rng.random() < 0.4:
        angle = 0.0
    if scale < 0.75:
        shrink = scale / 0.85
        picture = np.asarray(cv2.resize(picture, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA), np.uint8)
        factor = np.array([picture.shape[1] / width, picture.shape[0] / height], np.float64)
    else:
        factor = np.ones(2)
    stretch = 1 + change * rng.uniform(-0.08, 0.08) * (rng.random() < 0.4)
    cosine, sine = np.cos(angle), np.sin(angle)
    linear = scale * np.array([[cosine, -sine], [sine, cosine]]) * np.array([1, stretch])
    room = np.array([size[1] - width * scale, size[0] - height * scale * stretch])
    shift = room * rng.random(2) if change and (wide or rng.random() < 0.3) else np.zeros(2)
    middle = np.array([width, height]) / 2
    shift = shift - change * (linear @ middle - np.array([scale, scale * stretch]) * middle)  # turned about its middle
    matrix = np.hstack([linear / factor, shift[:, None]])
    ground = int(rng.choice((127, 127, 255, 0, int(rng.integers(0, 256))))) if change else 127
    made = cv2.warpAffine(picture, matrix, size[::-1], flags=cv2.INTER_LINEAR, borderValue=ground)
    corners = boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2) @ linear.T + shift
    moved = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    clipped = np.clip(moved, 0, np.array([size[1], size[0]] * 2))
    areas = [np.prod(each[:, 2:] - each[:, :2], axis=1) for each in (clipped, moved)]
    inside = (areas[0] > 0.55 * areas[1]) & (np.min(clipped[:, 2:] - clipped[:, :2], axis=1) > 2)
    return np.asarray(made, np.uint8), clipped.astype(np.float32), inside
