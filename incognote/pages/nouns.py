"""What is found on the picture of a page. All boxes are in pixels of that picture, from its top left corner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from unicodedata import bidirectional

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Pixels = npt.NDArray[np.uint8]
    """8-bit gray of shape (height, width), or RGB of shape (height, width, 3)."""

Box = tuple[int, int, int, int]
"""Left, top, right, and bottom; right and bottom are exclusive."""
Turn = Literal[0, 90, 180, 270]
"""Degrees, clockwise, by which a word's letters are turned from upright."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word that an OCR engine read.

    Args:
        text: its letters.
        box: where its ink is.
        confidence: of the engine, from 0 to 1.
        line: words with the same line of the same pass are neighbors in one line of text, in order.
        turn: how its letters are turned.
        source: the pass that read it, such as `plain`.
    """

    text: str = field(repr=False)
    box: Box
    confidence: float
    line: int = 0
    turn: Turn = 0
    source: str = "plain"

    @property
    def along(self) -> int:
        """The length of the word in the direction of its line, in pixels."""
        left, top, right, bottom = self.box
        return right - left if self.turn in (0, 180) else bottom - top

    @property
    def across(self) -> int:
        """The height of the word's line, in pixels, however it is turned."""
        left, top, right, bottom = self.box
        return bottom - top if self.turn in (0, 180) else right - left

    @property
    def is_rtl(self) -> bool:
        """Whether it has a letter of a script that is written from right to left."""
        return any(letter.isalpha() and bidirectional(letter) in ("R", "AL") for letter in self.text)


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a page of one kind.

    Args:
        kind: a class of the layout detector, such as `Signature`, or `Face`, `QR_Bar_Code`, `Unread`.
        box: where it is.
        score: from 0 to 1.
        sources: what found it, such as `network`, `barcode`, `label`.
    """

    kind: str
    box: Box
    score: float = 1.0
    sources: tuple[str, ...] = ()
