"""Boxes of the pages of a file, as a person marked them or a system found them."""

from __future__ import annotations

from dataclasses import dataclass, field

from incognote.pages.nouns import Box

PRINT = "print"
"""The kind of ink of a box that states none."""


@dataclass(frozen=True, slots=True)
class LabeledBox:
    """A box on a page.

    Args:
        page: from 1.
        box: in pixels of the page.
        type: of the identifier, or the class of the region; "" for a word that is no identifier.
        ink: the kind of ink of a gold box, such as `handwriting`.
        score: of a found box, from 0 to 1.
    """

    page: int
    box: Box
    type: str = ""
    ink: str = PRINT
    score: float = 1.0


@dataclass(frozen=True, slots=True)
class PageFile:
    """The boxes of one file.

    Args:
        id: its name, which finds its pictures, too.
        boxes: the gold identifiers or regions, or the boxes that were found.
        words: the words of the pages, if the gold has them.
        size: width and height of its pages in pixels, if they are stated.
        verdict: of a found file, such as `release`; "" if none is stated.
    """

    id: str = field(repr=False)
    boxes: tuple[LabeledBox, ...]
    words: tuple[LabeledBox, ...] = ()
    size: tuple[int, int] | None = None
    verdict: str = ""
