"""What a request of /v1/review says about a record's texts and pages, as spans, regions, and pictures."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence

from incognote.errors import IncognoteError, UsageError
from incognote.formats.audio.document import AudioDocument
from incognote.formats.base import Document
from incognote.formats.images.document import ImageDocument
from incognote.formats.pdf.picture import MOST_PIXELS, MOST_SCALE, raster
from incognote.formats.pictures import PagedDocument
from incognote.nouns import MutedInterval, PageBox, Region, Span
from incognote.service.api.context import ApiContext
from incognote.service.api.reviewmodels import BoxMark, IntervalMark, PagePicture, RegionMark, SpanMark
from incognote.service.review import DecidedCase, ReviewCase
from incognote.service.review.cases import check_regions, document_of
from incognote.service.review.nouns import Changes


def document_of_id(context: ApiContext, id: str) -> Document | None:
    """Return the document of a record, or None if it is a plain text or cannot be opened."""
    return opened_document(context, context.queue.open(id))


def opened_document(context: ApiContext, opened: DecidedCase) -> Document | None:
    """Return the document of an opened record, as in `document_of_id`."""
    try:
        return document_of(opened.case, context.deid.engine)
    except (IncognoteError, RecursionError):
        return None


def regions_of(context: ApiContext, opened: DecidedCase, marks: Sequence[RegionMark] | None) -> tuple[Region, ...]:
    """Return the parts without words that a person added: the given ones, or else the current ones.

    Raises:
        UsageError: one does not fit.
    """
    if marks is None:
        return opened.regions
    regions = tuple(
        (PageBox if isinstance(mark, BoxMark) else MutedInterval)(**mark.model_dump(), sources=("person",))
        for mark in marks
    )
    check_regions(opened.case, regions, context.deid.engine)
    return regions


def boxes_changed(
    context: ApiContext, opened: DecidedCase, spans: Sequence[Span], regions: Sequence[Region]
) -> dict[str, int]:
    """Return how many boxes or intervals a person added and dropped, if the record has pages of pixels or sound."""
    if not isinstance(opened_document(context, opened), ImageDocument | AudioDocument):
        return {}
    changes = Changes.between(opened.case.spans, spans, len(regions))
    return {"added": changes.added, "dropped": changes.dropped}


def region_told(region: Region) -> RegionMark:
    """Return a region as a mark."""
    kind = BoxMark if isinstance(region, PageBox) else IntervalMark
    return kind(**{name: getattr(region, name) for name in kind.model_fields})


def output_page(document: PagedDocument, output: bytes, number: int) -> PagePicture:
    """Return the picture of a page of an output.

    Raises:
        OSError, ValueError, subprocess.SubprocessError, RecordProblem: it cannot be shown.
    """
    if isinstance(document, ImageDocument):
        from PIL import Image

        pixels, out = document.file.again(output).page(number).pixels, io.BytesIO()
        Image.fromarray(pixels).save(out, "PNG")
        png, height, width = out.getvalue(), *pixels.shape[:2]
    else:
        drawn = raster(output, number, MOST_PIXELS, MOST_SCALE)
        png, height, width = drawn.png, drawn.height, drawn.width
    return PagePicture(png=base64.b64encode(png).decode(), width=width, height=height, boxes=[])


def spans_of(case: ReviewCase, marks: Sequence[SpanMark]) -> list[Span]:
    """Return marks as spans of the record's texts. A span that the machine found keeps its score and sources.

    Raises:
        UsageError, ImpossibleSpan: one does not fit.
    """
    texts = {text.field: text for text in case.texts}
    before = {(s.field, s.start, s.end, s.type): s for s in (*case.spans, *case.doubts)}
    if any(mark.field not in texts for mark in marks):
        raise UsageError("spans: one has a path that this record does not have")
    return [
        before.get((m.field, m.start, m.end, m.type)) or Span(texts[m.field], m.start, m.end, m.type, 1.0, ("person",))
        for m in marks
    ]
