"""What scanners and fax machines do to a page. The same geometry is applied to the page without its identifiers."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

LEVELS = ("clean", "scan", "fax200", "fax100")
_INK = 40  # gray levels between a page with and without an identifier


@dataclass(frozen=True, slots=True)
class TestPage:
    """A page as the software gets it.

    Args:
        image: 8-bit, gray or BGR. dpi: pixels of an inch.
        ink: where the ink of identifiers is, as booleans (height, width).
        other: where other ink is.
        matrix: leads from the pixels of the drawn page to those of `image` (2, 3).
    """

    image: Any
    dpi: int
    ink: Any
    other: Any
    matrix: Any

    @property
    def png(self) -> bytes:
        """The page as a PNG file."""
        return bytes(cv2.imencode(".png", self.image)[1].tobytes())


def degraded(page: Any, hidden: Any, level: str, name: str) -> TestPage:
    """Return a page at one of `LEVELS`.

    Args:
        page, hidden: the drawn page, and the one without its identifiers, BGR at 200 dpi.
        name: seeds the noise.
    """
    rng = np.random.default_rng(zlib.crc32(f"{name} {level}".encode()))
    high, wide = page.shape[:2]
    matrix: Any = np.array([[1.0, 0, 0], [0, 1.0, 0]])
    if level != "clean":
        angle = rng.uniform(-1.3, 1.3)
        matrix = cv2.getRotationMatrix2D((wide / 2, high / 2), angle, 1.0)
        matrix[:, 2] += rng.uniform(-6, 6, 2)
    scale = 0.5 if level == "fax100" else 1.0
    matrix = matrix * scale
    size = (round(wide * scale), round(high * scale))
    bright = int(np.median(page)) > 100

    def moved(image: Any) -> Any:
        if level == "clean":
            return image
        border = (255, 255, 255) if bright else tuple(int(each) for each in np.median(image.reshape(-1, 3), axis=0))
        how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
        if scale < 1:
            image = cv2.GaussianBlur(image, (0, 0), 0.8)
        return cv2.warpAffine(image, matrix, size, flags=how, borderValue=border)

    image, without = moved(page), moved(hidden)
    difference = np.abs(image.astype(int) - without.astype(int)).max(axis=2) > _INK
    paper = cv2.medianBlur(cv2.resize(without, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA), 31)
    paper = cv2.resize(paper, size)
    other = (np.abs(without.astype(int) - paper.astype(int)).max(axis=2) > _INK) & ~difference
    gray = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY).astype(np.float32)
    if level == "scan":
        gray = cv2.GaussianBlur(gray, (0, 0), rng.uniform(0.5, 0.9))
        shade = np.linspace(rng.uniform(0.88, 1.0), rng.uniform(0.88, 1.0), size[0], dtype=np.float32)[None, :]
        gray = gray * shade * rng.uniform(0.94, 1.0) + rng.normal(0, rng.uniform(3, 8), gray.shape)
        _, packed = cv2.imencode(".jpg", np.clip(gray, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 60])
        image = cv2.imdecode(packed, cv2.IMREAD_GRAYSCALE)
    elif level.startswith("fax"):
        gray = cv2.GaussianBlur(gray, (0, 0), 0.6) + rng.normal(0, 14, gray.shape)
        if not bright:
            gray = 255 - gray
        image = np.where(gray > rng.uniform(150, 185), 255, 0).astype(np.uint8)
        specks = rng.random(image.shape)
        image[specks < 0.0006] = 0
        image[specks > 0.9994] = 255
    return TestPage(image, round(200 * scale), difference, other, matrix)


def boxes_of(boxes: list[list[float]], matrix: Any) -> list[tuple[int, int, int, int]]:
    """Return boxes of the drawn page in pixels of the degraded one."""
    made = []
    for left, top, right, bottom in boxes:
        corners = np.array([[left, top, 1], [right, top, 1], [left, bottom, 1], [right, bottom, 1]]) @ matrix.T
        low, high = np.floor(corners.min(axis=0)), np.ceil(corners.max(axis=0))
        made.append((int(low[0]), int(low[1]), int(high[0]), int(high[1])))
    return made
