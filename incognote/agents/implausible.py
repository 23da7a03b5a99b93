"""Detect implausible results: texts that are nearly all masked, and models that name nothing or everything."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from incognote.nouns import Reason, Replacement, Span, Text

if TYPE_CHECKING:
    from incognote.agents.stages import Planned
    from incognote.extraction.extractor import Extraction
    from incognote.schemas.policy import Policy

LEAST_WORDS = 40
"""The minimum number of words. A shorter text may consist of just a name and a number."""
PLENTY = 4
"""A model's silence about one text is suspicious if others found this many identifiers in it."""
ROW = 20
"""A model is no longer trusted after this many texts in a row without a mention, or marked as a whole."""
LONG_WORDS, SHORT_WORDS = 300, 5
"""Silence about a long text counts even if no detector found anything.

Marking a very short text as a whole does not count.
"""
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


class Streaks:
    """Counts how many texts in a row a model left without mentions, or marked as a whole. Thread-safe; one per run."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._silent = self._whole = 0

    def saw(self, *, silent: bool, whole: bool) -> tuple[int, int]:
        """Record one text that was read.

        Return the current numbers of silent texts and of fully marked texts in a row.
        """
        with self._lock:
            self._silent = self._silent + 1 if silent else 0
            self._whole = self._whole + 1 if whole else 0
            return self._silent, self._whole


def doubted(
    texts: Sequence[Text], planned: Planned, read: Mapping[int, Extraction],
    spans: Mapping[str, Sequence[Span]], policy: Policy, streaks: Streaks,
) -> tuple[list[Reason], int]:  # fmt: skip
    """Return a reason for each text on which the model is suspiciously silent, or marks too much.

    A model is silent if others found plenty, or if it has been silent for `ROW` texts in a row. Texts with an
    unanswered chunk are left out, since they have their own reason.

    Args:
        spans: by field, everything that was found.

    Returns:
        The reasons, and the number of texts that the model was silent about.
    """
    reasons: list[Reason] = []
    silences = 0
    for index, text in enumerate(texts):
        chunks = [(at, chunk) for at, (i, chunk) in enumerate(planned.chunks) if i == index]
        if not chunks or any(at not in read or read[at].unanswered for at, _ in chunks):
            continue
        named = [s for at, _ in chunks for s in read[at].spans]
        mentions = sum(sum(read[at].how.values()) for at, _ in chunks)
        others = sum(
            policy.replaces(s.type) and any(s.start < chunk.end and chunk.start < s.end for _, chunk in chunks)
            for s in spans.get(text.field, ())
        )
        touched, words = share(text, named)
        silent = not mentions and (others > 0 or words >= LONG_WORDS)
        if not mentions and not silent:
            continue  # there is nothing to name, so this says nothing about the model
        silences += silent
        whole = words >= SHORT_WORDS and touched >= policy.over_masked * words
        quiet, full = streaks.saw(silent=silent, whole=whole)
        if quiet >= ROW:
            reasons.append(Reason("model-silent", text.field, f"{ROW} or more texts in a row"))
        elif silent and others >= PLENTY:
            reasons.append(Reason("model-silent", text.field, f"other detectors found {others} identifiers"))
        if full >= ROW:
            reasons.append(Reason("model-marks-all", text.field, f"{ROW} or more texts in a row"))
    return reasons, silences
