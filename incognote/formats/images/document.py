"""An image file as a document: the text of its pages, with the place of each word."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, BinaryIO

from incognote.errors import AccountingError, MalformedRecord
from incognote.formats.base import (
    Change,
    Document,
    Edit,
    Finding,
    Place,
    Pointer,
    SeenLine,
    account,
    splice,
    split_edits,
)
from incognote.formats.images.files import ImageFile, PageImage, Pages
from incognote.formats.images.page import UNREADABLE, ReadPage, shared
from incognote.formats.images.pagereader import read
from incognote.formats.images.painting import Cover, painted
from incognote.formats.images.reading import languages_of_pages
from incognote.formats.images.whole import lines_between, widened
from incognote.formats.pictures import Box, DrawnPage, PagedDocument, PagePart
from incognote.formats.regions import marked
from incognote.nouns import PageBox, Reason, Region, Span, Text
from incognote.pages.nouns import Word
from incognote.schemas.catalogue import catalogue

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from incognote.pages.nouns import Pixels

BODY = "body"
_BETWEEN = "\n"
_MOST_OFF = 6.0  # gray levels by which compression may change the pixels of a page, on average
_MOST_OFF_COVERED = 24.0  # the same, of those of a cover
_OVERLAP = 0.05  # the share of a word that covers may touch if the word stays visible


class ImageDocument(PagedDocument):
    """An image file. Its pages are read when its texts are needed.

    Attributes:
        pages: where the text of each page is in the text `body`.
        regions: more parts of pages that are covered. Each is a character of `body`, after all pages.
    """

    regions: Sequence[PageBox] = ()

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
        body = marked(_BETWEEN.join(page.text for page in self._read), self.regions)[0]
        return (Text(body, BODY),) if body else ()

    def with_regions(self, regions: Sequence[Region]) -> ImageDocument:
        """Return the document with more regions without words.

        Args:
            regions: boxes, in pixels of the pages, as `file` gives them.

        Raises:
            MalformedRecord: one is no box, a page does not exist, a box is not on its page, or a type needs words.
        """
        sizes: dict[int, tuple[int, ...]] = {}
        types = catalogue()
        boxes: list[PageBox] = []
        for each in regions:
            if not isinstance(each, PageBox):
                raise MalformedRecord("regions: one is a time, and this record has pages")
            boxes.append(each)
            if not 1 <= each.page <= len(self.file):
                raise MalformedRecord("regions: one is on a page that does not exist")
            if each.page not in sizes:
                sizes[each.page] = self.file.page(each.page).pixels.shape
            high, wide = sizes[each.page][:2]
            if not (0 <= each.x0 < each.x1 <= wide and 0 <= each.y0 < each.y1 <= high):
                raise MalformedRecord("regions: one is not within its page, or is empty")
            if each.type not in types or not types[each.type].pixels:
                names = ", ".join(name for name, kind in types.items() if kind.pixels)
                raise MalformedRecord(f"regions: one has a type that needs words. Use {names}")
        made = copy(self)
        for name in ("texts", "marks"):
            made.__dict__.pop(name, None)
        made.regions = (*self.regions, *boxes)
        return made

    def readings(self) -> str:
        """Return what was read on the pages, as JSON. It quotes them."""
        return _adapter().dump_json(self._read).decode()

    def with_readings(self, readings: str) -> ImageDocument:
        """Return the document with what was read on its pages before, from `readings`."""
        made = copy(self)
        for name in ("texts", "marks", "pages"):
            made.__dict__.pop(name, None)
        made.__dict__["_read"] = _adapter().validate_json(readings)
        return made

    @cached_property
    def marks(self) -> Sequence[tuple[int, int, str]]:
        """The start, end, and type of the character of each of `regions`."""
        return marked(_BETWEEN.join(page.text for page in self._read), self.regions)[1] if self.regions else []

    @property
    def findings(self) -> Sequence[Finding]:  # type: ignore[override]  # read-only
        return [
            replace(each, field=BODY, start=each.start + part.start, end=each.end + part.start)
            for part, page in zip(self.pages, self._read, strict=True) for each in page.findings
        ] + [Finding(BODY, start, end, kind, 1.0, "person") for start, end, kind in self.marks]  # fmt: skip

    @property
    def remarks(self) -> Sequence[Reason]:  # type: ignore[override]  # read-only
        return [
            Reason("poor-reading", f"page {number}")
            for number, page in enumerate(self._read, 1) if page.quality < UNREADABLE or page.is_in_doubt
        ]

    def boxes_of(self, field: str, start: int, end: int) -> Sequence[tuple[int, Box]]:
        found: list[tuple[int, Box]] = []
        first, last = (bisect_right(self.pages, at, key=lambda part: part.start) for at in (start, end - 1))
        for number in range(max(1, first), last + 1):
            own = _of_page(self.pages[number - 1], [(start, end, "")])
            found += [(number, cover.box) for cover in self._read[number - 1].covers(own)]
        for each, mark in zip(self.regions, self.marks, strict=True):
            if start < mark[1] and mark[0] < end:
                found.append((each.page, (each.x0, each.y0, each.x1, each.y1)))
        return found

    def widened(self, spans: Sequence[Span]) -> Sequence[Span]:
        with languages_of_pages({code for page in self._read for code in page.languages}):
            if not spans:
                return spans
            wider = widened(spans[0].source.content, spans, self._unread())
            lines = [Span(spans[0].source, *each, 0.8, ("page",)) for each in self._lines(wider)]
            return sorted([*wider, *lines], key=lambda span: span.start)

    def _unread(self) -> Iterator[tuple[int, int]]:
        """Yield the start and end of the words that are in regions without words."""
        for part, page in zip(self.pages, self._read, strict=True):
            boxes = [region.box for _, region in page.marks]
            for each in page.words:
                if any(2 * shared(each.word.box, box) > shared(each.word.box, each.word.box) for box in boxes):
                    yield each.start + part.start, each.end + part.start

    def _lines(self, spans: Sequence[Span]) -> Iterator[tuple[int, int, str]]:
        """Yield the lines and cells between removed ones that have no span, and their types."""
        for part, page in zip(self.pages, self._read, strict=True):
            own = [
                (each.start - part.start, each.end - part.start, catalogue()[each.type].group)
                for each in spans if each.start < part.end and each.end > part.start
            ]  # fmt: skip
            for start, end, type_ in lines_between(page.words, own):
                if not any(a < end and start < b for a, b, _ in own):
                    yield start + part.start, end + part.start, type_

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        changes, values = split_edits(edits)
        account(self, changes, values)
        covers = self._covers(changes)
        out.write(self.file.written(self._painted(covers)))

    def _covers(self, changes: Mapping[str, Sequence[Change]]) -> list[list[Cover]]:
        """Return the covers of each page."""
        own = [list(_of_page(part, changes.get(BODY, ()))) for part in self.pages]
        covers = [page.covers(each) if each else [] for page, each in zip(self._read, own, strict=True)]
        for region, (start, end, _) in zip(self.regions, self.marks, strict=True):
            words = [new for first, last, new in changes.get(BODY, ()) if first < end and last > start]
            box = region.x0, region.y0, region.x1, region.y1
            covers[region.page - 1].append(Cover(box, words[0] if words else ""))
        return covers

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
        again.texts = tuple(
            Text(splice(text.content, changes.get(text.field, ())), text.field) for text in self.texts
        )
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
        return [words for _, _, words in self.redacted(changes)]

    def redacted(
        self, changes: Mapping[str, Sequence[Change]]
    ) -> Iterator[tuple[ReadPage, list[Change], tuple[Word, ...]]]:
        """Yield what was read on each page, the changes of its text, and the words that stay visible."""
        for part, page, covers in zip(self.pages, self._read, self._covers(changes), strict=True):
            yield page, list(_of_page(part, changes.get(BODY, ()))), _left(page, covers)

    def second(self, output: bytes, changes: Mapping[str, Sequence[Change]]) -> Iterable[str]:
        from incognote.formats.images.second import unread

        made = self.file.again(output)
        pages = zip(self.pages, self._read, self._covers(changes), strict=True)
        for number, (part, page, covers) in enumerate(pages, 1):
            for words, parts in unread(made.page(number).pixels, page, covers):
                yield SeenLine.of(words, [
                    (a, b, None if own is None else (BODY, own[0] + part.start, own[1] + part.start))
                    for a, b, own in parts
                ])  # fmt: skip

    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        return (Pointer(field),)

    def picture(self, number: int) -> DrawnPage:
        from PIL import Image

        page = self.file.page(number)
        out = io.BytesIO()
        Image.fromarray(page.pixels).save(out, "PNG")
        return DrawnPage(out.getvalue(), page.pixels.shape[1], page.pixels.shape[0], self._read[number - 1].boxes())


@lru_cache
def _adapter() -> TypeAdapter[list[ReadPage]]:
    from pydantic import TypeAdapter

    return TypeAdapter(list[ReadPage])


class _Output(Document):
    """An output whose pixels were checked."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        raise AccountingError("an output is not edited")

    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        return (Pointer(field),)


def _of_page(part: PagePart, changes: Iterable[Change]) -> Iterator[Change]:
    """Yield the part of each change that is on a page. The first page of a change gets its new words."""
    for start, end, new in changes:
        if start < part.end and end > part.start:
            first, last = max(start, part.start) - part.start, min(end, part.end) - part.start
            yield first, last, new if start >= part.start else ""


def _left(page: ReadPage, covers: Sequence[Cover]) -> tuple[Word, ...]:
    """Return the words of a page that stay visible."""
    boxes = [cover.box for cover in covers]
    words = (each.word for each in page.words)
    return tuple(
        word for word in words
        if sum(shared(word.box, box) for box in boxes) <= _OVERLAP * shared(word.box, word.box)
    )  # fmt: skip


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
