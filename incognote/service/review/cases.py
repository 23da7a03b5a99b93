"""Make a ReviewCase from a held record, and apply a person's decision to the record."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from incognote.agents.item import Item
from incognote.errors import IncognoteError, RecordProblem, UsageError
from incognote.formats.audio.document import AudioDocument
from incognote.formats.base import Document, texts_of
from incognote.formats.images.document import BODY, ImageDocument
from incognote.formats.pictures import has_pixels, pages_of
from incognote.formats.regions import marked
from incognote.nouns import Region, Result, Span, Text
from incognote.service.review.nouns import ReviewCase

if TYPE_CHECKING:
    from incognote.agents.engine import Engine
    from incognote.sdk import Deidentifier

DROPPED = "dropped"
"""The source of a finding that was dropped because the language model named nothing there."""
_UNMENDABLE = frozenset({"no-subject"})
"""Reasons for review that no change of spans can fix. The record must be run again with what it lacks."""


def case_of(item: Item, result: Result, engine: Engine, extra: Mapping[str, Any] | None = None) -> ReviewCase:
    """Return what a person must see of a record in review: texts, proposed replacements, and doubts.

    The doubts are those of the embedded detectors, and the findings that a language model's silence dropped. For a
    language model's own doubts, the reasons give only the type.

    Raises:
        RecordProblem, SchemaProblem: the record cannot be opened, or no longer.
    """
    document = opened_item(item, engine)
    texts = _texts(item, document)
    spans = tuple(s for text in texts for s in _within(text, (r.span for r in result.replacements)))
    standing = (*spans, *result.kept)
    dropped = tuple(
        replace(s, sources=(*s.sources, DROPPED)) for text in texts for s in _within(text, result.dropped)
    )
    doubts = tuple(
        doubt
        for each in engine.detection.find([text for text in texts if text.content], engine.policy, item.known)
        for doubt in each.doubts
        if not any(doubt.overlaps(other) for other in (*standing, *dropped))
    )
    schema = result.manifest.get("schema")
    return ReviewCase(
        replace(item, opened=None, spans=None),
        texts,
        spans,
        (*doubts, *dropped),
        result.verdict.reasons,
        f"{engine.policy.name} {engine.policy.version}",
        schema["data_type"] if schema else None,
        dict(extra or {}),
        document.readings() if isinstance(document, ImageDocument | AudioDocument) else "",
    )


def unmendable(case: ReviewCase) -> tuple[str, ...]:
    """Return the reason codes of a record that no change of spans can fix."""
    return tuple(sorted({reason.code for reason in case.reasons} & _UNMENDABLE))


async def corrected(
    deid: Deidentifier, case: ReviewCase, spans: Sequence[Span], item: Item | None = None,
    *, regions: Sequence[Region] = (),
) -> Result:  # fmt: skip
    """De-identify the record with a person's spans instead of the machine's. The person replaces the audit here.

    Args:
        item: the record as its reader opened it, if the item of the case is not sufficient (rows of a table).
        regions: the parts of its pages or sound without words that a person added.

    Raises:
        UsageError: no change of spans can fix the reason for which the record is held, or its pages now read
            differently, so that the spans do not fit.
    """
    lacks = unmendable(case)
    if lacks:
        raise UsageError(f"this record cannot be approved ({', '.join(lacks)}): reject it, fix the cause, run it again")
    given: dict[str, tuple[tuple[int, int, str], ...]] = {
        text.field: tuple((s.start, s.end, s.type) for s in spans if s.field == text.field)
        for text in case.texts if text.content
    }  # fmt: skip
    if regions:
        given[BODY] = (*given.get(BODY, ()), *marked(_body(case), regions)[1])
    record = replace(item or case.item, spans=given, regions=(*case.item.regions, *regions))
    if isinstance(record.content, bytes) or (record.is_record and record.opened is None):
        pages = await asyncio.to_thread(_read_pages, case, deid.engine)
        if pages is not None:
            record = replace(record, opened=pages, regions=tuple(regions))
    return await deid.adeidentify(record)


def texts_with(case: ReviewCase, regions: Sequence[Region]) -> tuple[Text, ...]:
    """Return the texts of a record with the characters of regions."""
    if not regions:
        return case.texts
    body = Text(marked(_body(case), regions)[0], BODY)
    return (*(body if text.field == BODY else text for text in case.texts),)


def check_regions(case: ReviewCase, regions: Sequence[Region], engine: Engine) -> None:
    """Check that regions are on the pages or in the time of a record.

    Raises:
        UsageError: they are not, a type is not one of what has no words, or the record has neither pages nor sound.
    """
    if not regions:
        return
    try:
        document = document_of(case, engine)
        if isinstance(document, ImageDocument | AudioDocument):
            document.with_regions(regions)
            return
    except RecordProblem as problem:
        raise UsageError(str(problem)) from None
    raise UsageError("regions: this record is neither an image, a scan, nor a recording")


def _body(case: ReviewCase) -> str:
    return next((text.content for text in case.texts if text.field == BODY), "")


def _read_pages(case: ReviewCase, engine: Engine) -> Document | None:
    """Return the document of a record with its pages or sound read, or None if none of it consists of pixels or sound.

    Raises:
        UsageError: its text is not that of the case.
    """
    try:
        document = document_of(case, engine)
    except (IncognoteError, RecursionError):
        return None
    if document is None or not (isinstance(document, AudioDocument) or has_pixels(document)):
        return None
    now, then = ([text for text in texts if text.content] for texts in (texts_of(document), case.texts))
    if now != then:
        raise UsageError("the record is now read differently than for the review: reject it, and run it again")
    return document


def document_of(case: ReviewCase, engine: Engine) -> Document | None:
    """Return the document of a case, or None for a plain text.

    The last one stays open in memory, so that its pages are shown without opening it again.

    Raises:
        RecordProblem, SchemaProblem: as in `case_of`.
    """
    return _document(case.item, case.readings, engine)


@lru_cache(maxsize=1)
def _document(item: Item, readings: str, engine: Engine) -> Document | None:
    if not readings:
        return opened_item(item, engine)
    with engine.opening():
        _, document = item.open(lambda: engine.registry, engine.settings.data_type)
    return document.with_readings(readings) if isinstance(document, ImageDocument | AudioDocument) else document


def opened_item(item: Item, engine: Engine) -> Document | None:
    """Return the document of an item, with its pages read, or None for a plain text.

    Raises:
        RecordProblem, SchemaProblem: as in `case_of`.
    """
    with engine.opening():
        _, document = item.open(lambda: engine.registry, engine.settings.data_type)
        if document is not None:
            texts_of(document)
    return document


def _texts(item: Item, document: Document | None) -> tuple[Text, ...]:
    """Return the texts of an item. Pages without words have an empty text, so that a person can look at them."""
    if document is None:
        return (Text(str(item.content)),)
    texts = texts_of(document)
    fields = {text.field for text in texts}
    pages = dict.fromkeys(page.text.field for page in pages_of(document) if page.text.field not in fields)
    return (*texts, *(Text("", field) for field in pages))


def _within(text: Text, spans: Iterable[Span]) -> list[Span]:
    """Return the spans of one text in order, with that text as their source."""
    own = (replace(span, source=text) for span in spans if span.field == text.field)
    return sorted(own, key=lambda span: span.start)
