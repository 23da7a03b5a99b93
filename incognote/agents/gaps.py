"""Apply the language model's verdicts about gaps and doubted words of a transcript (RedactOR §A.5, Algorithm 2).

A type becomes a span of that type, and `NON_PHI` drops the finding. After `UNKNOWN`, the finding of the embedded judge
stays, and a gap without one becomes a span if the policy mutes what is unknown. Without a verdict, nothing changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from incognote.agents.stages import Detected, Opened, Planned
from incognote.nouns import Span
from incognote.schemas.policy import Policy

if TYPE_CHECKING:
    from incognote.extraction.extractor import Extraction
    from incognote.extraction.gaps import TimeOf

HEARD = frozenset({"gap", "doubt"})
"""The sources of findings that a reader of recordings made of speech that it did not understand."""
SOURCE = "llm:gaps"
_NO_TYPE = "GUID"  # of what is muted although nobody knows what it is


def time_of(opened: Opened) -> TimeOf:
    """Return a function that returns the time of a stretch of a recording's transcript."""

    def time(start: int, end: int) -> tuple[float, float] | None:
        from incognote.formats.audio.document import AudioDocument

        if not isinstance(opened.record, AudioDocument):
            return None
        own = opened.record.transcript.time(start, end)
        return None if own is None else (own.start, own.end)

    return time


def verdicts_of(index: int, planned: Planned, read: Mapping[int, Extraction]) -> dict[tuple[int, int], str]:
    """Return the verdicts about places of a text. Two chunks that share a place must agree on `NON_PHI`."""
    votes: dict[tuple[int, int], list[str]] = {}
    for at, extraction in read.items():
        if planned.chunks[at][0] == index:
            for place, verdict in extraction.judged.items():
                votes.setdefault(place, []).append(verdict)
    if not votes:
        return {}
    from incognote.prompts.verdicts import united

    return {place: united(each) for place, each in votes.items()}


def judged(
    opened: Opened, found: Detected, planned: Planned, read: Mapping[int, Extraction],
    raw: Sequence[Sequence[Span]], hidden: Sequence[Sequence[Span]], policy: Policy,
) -> tuple[list[list[Span]], list[list[Span]]]:  # fmt: skip
    """Return the spans of the views and the whole fragments of the texts, with the verdicts applied.

    Args:
        raw, hidden: of the embedded detectors and the reader, as in `Detected`.
    """
    spans, fragments = list(map(list, raw)), list(map(list, hidden))
    for index, (text, view) in enumerate(zip(opened.texts, found.views, strict=True)):
        verdicts = verdicts_of(index, planned, read)
        if not verdicts:
            continue
        from incognote.prompts.verdicts import NON_PHI, UNKNOWN

        settled = {place for place, verdict in verdicts.items() if verdict != UNKNOWN}
        before = [*view.original(spans[index]), *fragments[index]]
        held = {(s.start, s.end) for s in before if not HEARD.isdisjoint(s.sources)}
        pairs = zip(spans[index], view.original(spans[index]), strict=True)
        spans[index] = [seen for seen, own in pairs if not _replaced(own, settled)]
        fragments[index] = [own for own in fragments[index] if not _replaced(own, settled)]
        new = [
            Span(text, *place, _NO_TYPE if verdict == UNKNOWN else verdict, 1.0, (SOURCE,))
            for place, verdict in sorted(verdicts.items())
            if verdict not in (NON_PHI, UNKNOWN)
            or (verdict == UNKNOWN and policy.recordings.unknown == "mute" and place not in held)
        ]
        viewed, unseen = view.viewed(new)
        spans[index] += viewed
        fragments[index] += unseen
    return spans, fragments


def _replaced(span: Span, settled: set[tuple[int, int]]) -> bool:
    """Whether a verdict replaces a finding: it has no other source than the embedded judge."""
    return (span.start, span.end) in settled and HEARD.issuperset(span.sources)
