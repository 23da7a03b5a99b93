"""The protocol of an OCR engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from incognote.pages.nouns import Word

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Image = npt.NDArray[np.uint8]
    """8-bit gray of shape (height, width), or RGB of shape (height, width, 3)."""

Mode = Literal["page", "sparse", "line", "block"]
"""What the image is: a page with blocks of text, scattered words, one line, or one block of lines."""


@runtime_checkable
class OcrEngine(Protocol):
    """An OCR engine. Threads may use it at the same time.

    Attributes:
        name: its name in settings and figures.
    """

    name: str

    def read(self, image: Image, languages: Sequence[str], mode: Mode) -> list[Word]:
        """Return the words of an image with upright letters.

        Args:
            image: dark letters on a light ground.
            languages: ISO 639-1 codes of the languages of the page, such as `en`.
            mode: what the image is.

        Returns:
            Words with boxes in pixels of `image`, within it. Words of one line have the same `line` and are in reading
            order. An empty list for an image without text.

        Raises:
            MissingExtra, SettingError: the engine or its data for a language is not installed.
            RecordProblem: the engine failed on the image, or took too long.
        """
        ...
