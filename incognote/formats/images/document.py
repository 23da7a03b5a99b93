"""An image file as a document: the text of its pages, with the place of each word."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO

from incognote.errors import MalformedRecord
from incognote.formats.base import Change, Document, Edit, Finding, Place, Pointer, SeenLine, account, split_edits
from incognote.formats.images.files import ImageFile, PageImage, Pages
from incognote.formats.images.page import ReadPage, read
from incognote.formats.images.painting import Cover, painted
from incognote.formats.pictures import Box, DrawnPage, PagedDocument, PagePart
from incognote.nouns import Reason, Text
from incognote.pages.nouns import Word

if TYPE_CHECKING:
    from incognote.formats.images.files import Pixels

BODY = "body"
_BETWEEN = "\n"
_MOST_OFF = 6.0  # gray levels by which compression may change the pixels of a page, on average
_MOST_OFF_COVERED = 24.0  # the same, of those of a cover
_POOR = 0.6  # the quality of a reading below which a person reviews the page
_OVERLAP = 0.05  # the share of a word that covers may touch if the word stays visible


class ImageDocument(PagedDocument):
    """An image file. Its pages are read when its texts are needed.

    Attributes:
        pages: where the text of each page is in the text `body`.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.file: Pages = ImageFile(data)

    @cached_property
    def _read(self) -> list[ReadPage]:
        found = []
        for number in range(1, len(self.file) + 1):
            page = self.file.page(number)
            found.append(read(page.pixels, page.dpi[0] if page.dpi else None))
        return found

    @cached_property
    def pages(self) -> Sequence[PagePart]:  # type: ignore[override]  # read-only
        found, at = [], 0
        for page in self._read:
            found.append(PagePart(BODY, at, at + len(page.text)))
            at += len(page.text) + len(_BETWEEN)
        return found

    @cached_property
    def texts(self) -> tuple[Text, ...]:  # type: ignore[override]  # read-only
        body = _BETWEEN.join(page.text for page in self._read)
        return (Text(body, BODY),) if body.strip() else ()

    @property
    def findings(self) -> Sequence[Finding]:  # type: ignore[override]  # read-only
        return [
            replace(each, field=BODY, start=each.start + part.start, end=each.end + part.start)
            for part, page in zip(self.pages, self._read, strict=True) for each in page.findings
        ]  # fmt: skip

    @property
    def remarks(self) -> Sequence[Reason]:  # type: ignore[override]  # read-only
        return [
            Reason("poor-reading", f"page {number}") for number, page in enumerate(self._read, 1) if page.quality < _POOR
        ]

    def boxes_of(self, field: str, start: int, end: int) -> Sequence[tuple[int, Box]]:
        covers = self._covers({field: [(start, end, "")]})
        return [(number, cover.box) for number, each in enumerate(covers, 1) for cover in each]

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        changes, values = split_edits(edits)
        account(self, changes, values)
        covers = self._covers(changes)
        out.write(self.file.written(self._painted(covers)))

    def _covers(self, changes: Mapping[str, Sequence[Change]]) -> list[list[Cover]]:
        own = [list(_of_page(part, changes.get(BODY, ()))) for part in self.pages]
        return [page.covers(each) if each else [] for page, each in zip(self._read, own, strict=True)]

    def _painted(self, covers: Sequence[Sequence[Cover]]) -> Iterator[tuple[PageImage, bool]]:
        for number, each in enumerate(covers, 1):
            page = self.file.page(number)
            words = _left(self._read[number - 1], each)
            pixels = painted(page.pixels, each, page.mode) if each else page.pixels
            yield replace(page, pixels=pixels, words=words), bool(each)

    def reopened(self, output: bytes, changes: Mapping[str, Sequence[Change]]) -> Document | None:
        """Return an output with the texts that it must have, if its pixels are the original's outside of the covers.

        Raises:
            MalformedRecord: they are not.
        """
        made = self.file.again(output)
        if len(made) != len(self.file):
            raise MalformedRecord("the output has other pages")
        covers = self._covers(changes)
        for number, (page, changed) in enumerate(self._painted(covers), 1):
            self.verify(made, number, page, changed, covers[number - 1])
        again = _Output(output)
        again.texts = tuple(Text(_spliced(text.content, changes.get(text.field, ())), text.field) for text in self.texts)
        return again

    def verify(self, made: Pages, number: int, page: PageImage, changed: bool, covers: Sequence[Cover]) -> None:
        """Check a page of an output.

        Args:
            made: the pages of the output. page: the page with its covers.

        Raises:
            MalformedRecord: it is not what it must be.
        """
        _check(page, self.file.stored(page, changed), made.page(number), covers, number)

    def left(self, changes: Mapping[str, Sequence[Change]]) -> list[tuple[Word, ...]]:
        """Return the words of each page that stay visible."""
        return [_left(page, covers) for page, covers in zip(self._read, self._covers(changes), strict=True)]

    def second(self, output: bytes, changes: Mapping[str, Sequence[Change]]) -> Iterable[str]:
        from incognote.formats.images.second import unread

        made = self.file.again(output)
        for number, (part, page, covers) in enumerate(zip(self.pages, self._read, self._covers(changes), strict=True), 1):
            for words, parts in unread(made.page(number).pixels, page, covers):
                yield SeenLine.of(words, [
                    (a, b, None if own is None else (BODY, own[0] + part.start, own[1] + part.start)) for a, b, own in parts
                ])  # fmt: skip

    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        return (Pointer(field),)

    def picture(self, number: int) -> DrawnPage:
        from PIL import Image

        page = self.file.page(number)
        out = io.BytesIO()
        Image.fromarray(page.pixels).save(out, "PNG")
        return DrawnPage(out.getvalue(), page.pixels.shape[1], page.pixels.shape[0], self._read[number - 1].boxes())


class _Output(Document):
    """An output whose pixels were checked."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        raise NotImplementedError

    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        return (Pointer(field),)


def _spliced(text: str, changes: Sequence[Change]) -> str:
    from incognote.formats.base import splice

    return splice(text, changes)


def _of_page(part: PagePart, changes: Iterable[Change]) -> Iterator[Change]:
    """Yield the part of each change that is on a page. The first page of a change gets its new words."""
    for start, end, new in changes:
        if start < part.end and end > part.start:
            yield max(start, part.start) - part.start, min(end, part.end) - part.start, new if start >= part.start else ""


def _left(page: ReadPage, covers: Sequence[Cover]) -> tuple[Word, ...]:
    """Return the words of a page that stay visible."""
    boxes = [cover.box for cover in covers]
    words = (each.word for each in page.words)
    return tuple(
        word for word in words
        if sum(_shared(word.box, box) for box in boxes) <= _OVERLAP * _shared(word.box, word.box)
    )  # fmt: skip


def _shared(one: Box, two: Box) -> int:
    """Return the pixels that two boxes share."""
    wide, high = min(one[2], two[2]) - max(one[0], two[0]), min(one[3], two[3]) - max(one[1], two[1])
    return wide * high if wide > 0 and high > 0 else 0


def _check(page: PageImage, stored: Pixels, made: PageImage, covers: Sequence[Cover], number: int) -> None:
    """Check that a page of an output has the pixels that it must have.

    Args:
        page: with its covers. stored: its pixels when they were compressed. made: the page of the output.

    Raises:
        MalformedRecord: it has others.
    """
    import numpy

    if made.pixels.shape != stored.shape or made.pixels.shape != page.pixels.shape:
        raise MalformedRecord("the output has another size", field=f"page {number}")
    if not numpy.array_equal(made.pixels, stored):
        raise MalformedRecord("the output has other pixels", field=f"page {number}")
    if _off(page.pixels, stored) > _MOST_OFF:
        raise MalformedRecord("the output has other pixels", field=f"page {number}")
    for cover in covers:
        left, top, right, bottom = cover.box
        if _off(page.pixels[top:bottom, left:right], stored[top:bottom, left:right]) > _MOST_OFF_COVERED:
            raise MalformedRecord("the output has other pixels", field=f"page {number}")


def _off(one: Pixels, two: Pixels) -> float:
    """Return the average difference of pixels, in gray levels."""
    import cv2

    return float(cv2.absdiff(one, two).mean()) if one.size else 0.0
