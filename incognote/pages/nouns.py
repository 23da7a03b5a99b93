"""What is found on the picture of a page. All boxes are in pixels of that picture, from its top left corner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

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
