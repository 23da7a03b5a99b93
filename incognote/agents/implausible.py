"""Detect implausible results: texts that are nearly all masked, and models that name nothing or everything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from incognote.agents.breaker import Breaker
from incognote.agents.combining import findings
from incognote.nouns import Reason, Replacement, Span, Text

if TYPE_CHECKING:
    from incognote.agents.stages import Detected, Planned
    from incognote.extraction.extractor import Extraction
    from incognote.schemas.policy import Policy

LEAST_WORDS = 40
"""The minimum number of words. A shorter text may consist of just a name and a number."""
SHORT_WORDS = 5
"""Marking a shorter text as a whole says nothing about a model."""
EVERYTHING = 0.9
"""The share of words that counts as everything in a text that has fewer than `LEAST_WORDS` words."""
_WORD = re.compile(r"\S*\w\S*")


def share(text: Text, spans: Iterable[Span]) -> tuple[int, int]:
    """Return how many words of a text some span touches, and how many words it has. Words are separated by spaces."""
    ordered = iter(sorted((s.start, s.end) for s in spans))
    start, end = next(ordered, (len(text), len(text)))
    touched = words = 0
    for word in _WORD.finditer(text.content):
        words += 1
        while end <= word.start():
            start, end = next(ordered, (len(text), len(text)))
            if start == len(text):
                break
        touched += start < word.end() and word.start() < end
    return touched, words


def over_masked(texts: Sequence[Text], replacements: Iterable[Replacement], most: float) -> Iterator[Reason]:
    """Yield a reason for each text of 40 words or more of which a share of `most` or more is replaced."""
    by_field: dict[str, list[Span]] = {}
    for r in replacements:
        by_field.setdefault(r.span.field, []).append(r.span)
    for text in texts:
        spans = by_field.get(text.field, [])
        pieces = sum(len(s.text.split()) for s in spans)
        if pieces < most * LEAST_WORDS:
            continue
        if pieces < most * sum(1 for _ in _WORD.finditer(text.content)):  # no list: a text may be huge
            continue
        touched, words = share(text, spans)
        if words >= LEAST_WORDS and touched >= most * words:
            yield Reason("over-masked", text.field, f"{100 * touched // words}% of its words were replaced")


def doubted(
    texts: Sequence[Text], found: Detected, planned: Planned, read: Mapping[int, Extraction],
    policy: Policy, breaker: Breaker,
) -> tuple[list[Reason], int]:  # fmt: skip
    """Return a reason for each text on which the model is suspiciously silent, or in which it marks too much.

    The evidence adds up over the texts of a run (`breaker.ModelAlarm`), so that short texts count too. Texts with an
    unanswered chunk are left out, since they have their own reason.

    Args:
        found: the findings of the embedded detectors.

    Returns:
        The reasons, and the number of texts in which the model named nothing although a finding was certain.
    """
    reasons: list[Reason] = []
    silences = 0
    for index, text in enumerate(texts):
        chunks = [(at, chunk) for at, (i, chunk) in enumerate(planned.chunks) if i == index]
        if not chunks or any(at not in read or read[at].unanswered for at, _ in chunks):
            continue
        if not any(sum(read[at].how.values()) for at, _ in chunks):
            missed = sum(
                any(s.start < chunk.end and chunk.start < s.end for _, chunk in chunks)
                for s in findings(found.views[index].original(found.raw[index]), policy)[0]
            )
            silences += missed > 0
            breaker.overmarks(0)
            if breaker.silent(missed or None):
                reasons.append(Reason("model-silent", text.field, f"{missed} certain findings in this text"))
            continue
        breaker.silent(0)
        touched, words = share(text, [s for at, _ in chunks for s in read[at].spans])
        extra: int | None = None
        if words >= SHORT_WORDS:
            whole = touched >= (policy.over_masked if words >= LEAST_WORDS else EVERYTHING) * words
            extra = touched - share(text, found.views[index].original(found.raw[index]))[0] if whole else 0
        if breaker.overmarks(extra if extra is None or 2 * extra >= touched else 0):
            reasons.append(Reason("model-overmarks", text.field, f"{touched} of {words} words"))
    return reasons, silences
