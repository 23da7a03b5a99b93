"""Glyphs on the pages of a PDF, and the instructions that show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from incognote.formats.pdf.fonts import Code, PdfFont

Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
StreamKey = tuple[int, int]
"""The object and generation number of a stream. (0, number) is the content of a page itself."""


def times(first: Matrix, second: Matrix) -> Matrix:
    """Return the matrix that applies `first` and then `second`."""
    a, b, c, d, e, f = first
    p, q, r, s, t, u = second
    return (a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u)


@dataclass(frozen=True, slots=True)
class TextState:
    """The parameters of shown text: font and size, spaces, horizontal scale, rise, rendering mode, and leading.

    Attributes:
        line: the width of drawn lines.
    """

    font: PdfFont | None = None
    name: str = ""
    size: float = 0.0
    char_space: float = 0.0
    word_space: float = 0.0
    scale: float = 1.0
    rise: float = 0.0
    mode: int = 0
    leading: float = 0.0
    line: float = 1.0


@dataclass(slots=True, eq=False)
class Show:
    """One instruction that shows text.

    Attributes:
        stream, index: its stream, and its position in it. block: the position of the BT before it.
        codes: the codes. offsets: the start of each, in unscaled text space, and the end of the last one.
        matrix: the text matrix at its start. above: the matrix from its stream's user space to the page.
    """

    stream: StreamKey
    index: int
    block: int
    codes: list[Code]
    offsets: list[float]
    state: TextState
    matrix: Matrix
    above: Matrix


class Glyph(NamedTuple):
    """A glyph on a page, in points of its default user space.

    Args:
        text: its characters, or "" if they are unknown.
        x, y: the start of its baseline. dx, dy: its advance without the spaces that follow. size: the font size.
        show, at: its instruction, and its position among the codes of that.
    """

    text: str
    x: float
    y: float
    dx: float
    dy: float
    size: float
    show: Show
    at: int
