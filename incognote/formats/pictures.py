"""Pictures of the pages of documents, for a person who reviews them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from incognote.formats.base import Change, Document

Box = tuple[int, int, int, int]
"""Left, top, right, and bottom, in pixels of a picture from its top left corner."""


_READ: ContextVar[bool] = ContextVar("whether pictures in documents are read", default=False)


@contextmanager
def pictures_are_read(*, read: bool = True) -> Iterator[None]:
    """Read the pictures in letters, workbooks, and messages that are opened within the block, or remove them."""
    token = _READ.set(read)
    try:
        yield
    finally:
        _READ.reset(token)


def reads_pictures() -> bool:
    """Whether the pictures in letters, workbooks, and messages are read."""
    return _READ.get()


class PagePart(NamedTuple):
    """The part of a text that is on a page.

    Args:
        field: the field of the text.
        start, end: in code points of the text.
    """

    field: str
    start: int
    end: int


class PlacedPage(NamedTuple):
    """A page of a document or of a document within it.

    Args:
        within: the names of the inner documents, each with a slash, as in the fields of `texts_of`. "" for none.
        number: its number in its own document, from 1.
        text: its part of a text, with the field as in `texts_of`.
    """

    within: str
    number: int
    text: PagePart


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """The picture of a page.

    Args:
        png: a PNG file.
        width, height: in pixels.
        boxes: where each character of the page's text is, or None for one that is not on the picture.
    """

    png: bytes = field(repr=False)
    width: int
    height: int
    boxes: Sequence[Box | None] = field(repr=False)


class UncheckedPart(str):
    """A message of a second reader about a part of an output that it cannot read. It goes to review."""

    __slots__ = ()


class PagedDocument(Document):
    """A document with pages that a person can look at.

    Attributes:
        pages: the part of a text that is on each page.
    """

    pages: Sequence[PagePart] = ()

    @abstractmethod
    def picture(self, number: int) -> DrawnPage:
        """Return the picture of a page, counted from 1.

        Raises:
            Exception: it cannot be shown. The message may quote the document.
        """

    def boxes_of(self, field: str, start: int, end: int) -> Sequence[tuple[int, Box]]:
        """Return the parts of pages, from 1, that an edit of a stretch covers, if the pages are written as pixels."""
        return ()

    def draw_more(self, output: Document, changes: Mapping[str, Sequence[Change]]) -> bool:
        """Let `rebuild` write more pages as pictures: those that do not read as expected in an output.

        Returns:
            Whether there are more.
        """
        return False


def has_boxes(document: Document) -> bool:
    """Whether the pages of a document are read and written as pixels, so that what is covered on them has boxes."""
    return isinstance(document, PagedDocument) and type(document).boxes_of is not PagedDocument.boxes_of


def has_pixels(document: Document) -> bool:
    """Whether the pages of a document, or of one within it, are read and written as pixels."""
    return has_boxes(document) or any(map(has_pixels, document.children.values()))


def pages_of(document: Document) -> list[PlacedPage]:
    """Return the pages of a document and of the documents within it."""
    return [place for _, place in _pages(document, "")]


def picture_of(document: Document, index: int) -> DrawnPage | None:
    """Return the picture of a page, or None if it cannot be shown.

    Args:
        index: its position in `pages_of`.

    Raises:
        IndexError: there is no such page.
    """
    found = next(islice(_pages(document, ""), index, None), None)
    if found is None:
        raise IndexError("no such page")
    try:
        return found[0].picture(found[1].number)
    except Exception:  # a library may raise anything, and its message may quote the document
        return None


def _pages(document: Document, within: str) -> Iterator[tuple[PagedDocument, PlacedPage]]:
    if isinstance(document, PagedDocument):
        for number, text in enumerate(document.pages, 1):
            yield document, PlacedPage(within, number, text._replace(field=f"{within}{text.field}"))
    for name, child in document.children.items():
        yield from _pages(child, f"{within}{name}/")
