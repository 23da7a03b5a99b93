"""Make a ReviewCase from a held record, and apply a person's decision to the record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from incognote.agents.item import Item
from incognote.errors import UsageError
from incognote.formats.base import Document, texts_of
from incognote.nouns import Result, Span, Text
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
    texts = _texts(item, engine)
    spans = tuple(s for text in texts for s in _within(text, (r.span for r in result.replacements)))
    standing = (*spans, *result.kept)
    dropped = tuple(
        replace(s, sources=(*s.sources, DROPPED)) for text in texts for s in _within(text, result.dropped)
    )
    doubts = tuple(
        doubt
        for each in engine.detection.find(texts, engine.policy, item.known)
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
    )


def unmendable(case: ReviewCase) -> tuple[str, ...]:
    """Return the reason codes of a record that no change of spans can fix."""
    return tuple(sorted({reason.code for reason in case.reasons} & _UNMENDABLE))


async def corrected(deid: Deidentifier, case: ReviewCase, spans: Sequence[Span], item: Item | None = None) -> Result:
    """De-identify the record with a person's spans instead of the machine's. The person replaces the audit here.

    Args:
        item: the record as its reader opened it, if the item of the case is not sufficient (rows of a table).

    Raises:
        UsageError: no change of spans can fix the reason for which the record is held.
    """
    lacks = unmendable(case)
    if lacks:
        raise UsageError(f"this record cannot be approved ({', '.join(lacks)}): reject it, fix the cause, run it again")
    given: dict[str, tuple[tuple[int, int, str], ...]] = {
        text.field: tuple((s.start, s.end, s.type) for s in spans if s.field == text.field) for text in case.texts
    }
    return await deid.adeidentify(replace(item or case.item, spans=given))


@lru_cache(maxsize=1)
def document_of(item: Item, engine: Engine) -> Document | None:
    """Return the document of a case's item, or None for a plain text.

    The last one stays open in memory, so that its pages are shown without opening it again.

    Raises:
        RecordProblem, SchemaProblem: as in `case_of`.
    """
    return item.open(lambda: engine.registry, engine.settings.data_type)[1]


def _texts(item: Item, engine: Engine) -> tuple[Text, ...]:
    _, document = item.open(lambda: engine.registry, engine.settings.data_type)
    return (Text(str(item.content)),) if document is None else texts_of(document)


def _within(text: Text, spans: Iterable[Span]) -> list[Span]:
    """Return the spans of one text in order, with that text as their source."""
    own = (replace(span, source=text) for span in spans if span.field == text.field)
    return sorted(own, key=lambda span: span.start)
