"""The ink of pages, from their pictures in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from incognote.errors import MissingExtra, RecordProblem, UsageError

if TYPE_CHECKING:
    from incognote.formats.images.files import PageImage, Pages
    from incognote.pages.nouns import Pixels

Ink = NDArray[np.bool_]
"""Where a page has ink, of shape (height, width)."""
_LEVELS = 40  # by which ink differs from the paper around it, of 255
_EVERY, _WIDE = 4, 21  # the paper is the median of 21 × 21 pixels, every fourth of a row and of a column
_DPI = 200.0


class Pictures:
    """The pictures of the pages of files, which are found in a folder by their ids. One file is kept at a time.

    Raises:
        UsageError: the folder does not exist.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder).resolve()
        if not self._folder.is_dir():
            raise UsageError("--images is not a folder. Name the folder with the pictures of the pages.")
        self._name: str | None = None
        self._pages: Pages | None = None

    def count(self, name: str) -> int:
        """Return the number of pages of a file; 0 if it is not there, or its pages are not pictures.

        Raises:
            MissingExtra: what reads it is not installed.
        """
        pages = self._opened(name)
        return len(pages) if pages is not None else 0

    def page(self, name: str, number: int) -> PageImage | None:
        """Return a page, counted from 1, or None.

        Raises:
            MissingExtra: what reads it is not installed.
        """
        pages = self._opened(name)
        if pages is None or not 1 <= number <= len(pages):
            return None
        try:
            return pages.page(number)
        except RecordProblem:
            return None

    def _opened(self, name: str) -> Pages | None:
        from incognote.formats.images.document import ImageDocument
        from incognote.formats.registry import open_one

        if name != self._name:
            self._name, self._pages = name, None
            path = (self._folder / name).resolve()
            if path.is_relative_to(self._folder) and path.is_file():
                try:
                    import cv2  # noqa: F401  # what `ink_of` needs
                except ImportError:
                    raise MissingExtra("images", "counting the ink of pages") from None
                try:
                    _, document = open_one(path.read_bytes(), None)
                except (RecordProblem, OSError):
                    return None
                self._pages = document.file if isinstance(document, ImageDocument) else None
        return self._pages


def ink_of(pixels: Pixels, dpi: float | None = None) -> Ink:
    """Return where a page differs from the paper around it, without ruled lines.

    The paper is the median of the surroundings. In a band of light letters on a dark ground, the ground is ink, too.

    Args:
        pixels: gray or RGB.
        dpi: pixels of an inch, if known.
    """
    import cv2

    from incognote.pages.lines import ruled

    high, wide = pixels.shape[:2]
    small = cv2.medianBlur(np.ascontiguousarray(pixels[::_EVERY, ::_EVERY]), _WIDE)
    away = cv2.absdiff(pixels, np.asarray(cv2.resize(small, (wide, high)), np.uint8))
    mask = np.asarray(away if away.ndim == 2 else away.max(axis=2)) > _LEVELS
    lines = ruled(np.where(mask, np.uint8(255), np.uint8(0)), dpi or _DPI)
    return np.asarray(mask & (lines == 0), np.bool_)
