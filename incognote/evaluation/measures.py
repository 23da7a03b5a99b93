"""The default metrics of a corpus, counted one document at a time. No text is kept."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from incognote.evaluation.corpus import LabeledSpan, Pair
from incognote.evaluation.counts import Scheme, count, group
from incognote.evaluation.metrics.redactor import RedactorScores, count_redactor, redactor_scores
from incognote.evaluation.metrics.spans import (
    Confusion,
    SpanScores,
    confusion_of,
    count_confusion,
    count_spans,
    match,
    span_scores,
)
from incognote.evaluation.metrics.stream import Calibration, Stream, calibration, outcomes
from incognote.evaluation.metrics.tally import Sums
from incognote.evaluation.metrics.tokens import TokenScores, count_tokens, token_scores

MATTER = "[{}]"
"""What replaces a finding of a type in a redacted text."""


@dataclass(frozen=True, slots=True)
class Measures:
    """The metrics besides the character scores, over the evaluation groups that the gold uses.

    Attributes:
        spans: exact, strict, partial, type, and overlap.
        tokens: typed and type-blind.
        redactor: the strict protocol of the RedactOR paper, and its all-or-nothing recalls.
        confusion: which group was taken for which.
        calibration: of the scores, type-blind; None if the system gives no scores.
    """

    spans: SpanScores
    tokens: TokenScores
    redactor: RedactorScores
    confusion: Confusion
    calibration: Calibration | None


class Measuring:
    """Counts documents one by one.

    Args:
        documents: the number of documents that will be added.
        groups: the evaluation groups that the gold uses. If empty, only characters are counted.
        chosen: which types are scored.
        resamples, seed: for the bootstrap; all metrics draw the same documents.
    """

    def __init__(
        self, documents: int, groups: frozenset[str], chosen: Callable[[str], bool], resamples: int, seed: int
    ) -> None:
        self.scheme = Scheme(groups)
        self.resamples, self.seed = resamples, seed
        self.clean: Counter[str] = Counter()
        self._chosen = chosen
        self._stream = Stream(documents, resamples, seed)
        self._confused: Counter[tuple[str, str]] = Counter()
        self._scores, self._right = array("d"), array("b")
        self._scored = True

    def __len__(self) -> int:
        return len(self._stream)

    def add(self, pair: Pair) -> None:
        """Count one document.

        Raises:
            ImpossibleSpan: a label does not fit its text, or a gold label holds only white space.
        """
        characters = count(pair, self._chosen)
        if not pair.gold:
            self.clean.update(group(label.type) for label in pair.found if self._chosen(label.type))
        if not self.scheme.scored:
            self._stream.add("characters", characters)
            return
        pair = restricted(pair, self._chosen)
        gold, found = self.scheme.gold(pair), self.scheme.found(pair)
        partner = match(gold, found, typed=True)
        self._confused.update(count_confusion(gold, found, partner))
        self._calibrate(pair, gold)
        self._stream.add(
            "characters",
            characters,
            ("spans", count_spans(gold, found, partner)),
            ("tokens", count_tokens(pair.text, gold, found)),
            ("redactor", count_redactor(pair.text, gold, found)),
        )

    def _calibrate(self, pair: Pair, gold: Sequence[LabeledSpan]) -> None:
        self._scored = self._scored and len(pair.scores) == len(pair.found)
        if not self._scored:
            return
        spans = [
            _Scored(start, end, group(type_), score)
            for (start, end, type_), score in zip(pair.found, pair.scores, strict=True)
            if group(type_) in self.scheme.scored
        ]
        for score, right in outcomes(gold, spans):
            self._scores.append(score)
            self._right.append(right)

    def characters(self) -> Sums:
        """The sums of the columns that `counts.count` counts."""
        return self._stream.sums("characters")

    def measures(self) -> Measures | None:
        """The other metrics, or None if there is no gold to score."""
        if not self.scheme.scored:
            return None
        documents = len(self)
        return Measures(
            spans=span_scores(self._stream.sums("spans"), self.scheme, documents),
            tokens=token_scores(self._stream.sums("tokens"), self.scheme, documents),
            redactor=redactor_scores(self._stream.sums("redactor"), self.scheme, documents),
            confusion=confusion_of(self._confused, self.scheme),
            calibration=calibration(self._scores, [*map(bool, self._right)]) if self._scored and self._scores else None,
        )


class _Scored(NamedTuple):
    start: int
    end: int
    type: str
    score: float


def restricted(pair: Pair, chosen: Callable[[str], bool]) -> Pair:
    """A document with only the labels of the chosen types."""
    kept = [i for i, label in enumerate(pair.found) if chosen(label.type)]
    return replace(
        pair,
        gold=tuple(label for label in pair.gold if chosen(label.type)),
        found=tuple(pair.found[i] for i in kept),
        scores=tuple(pair.scores[i] for i in kept) if len(pair.scores) == len(pair.found) else (),
    )


def redacted(text: str, found: Sequence[LabeledSpan]) -> str:
    """A text with each finding replaced by "[TYPE]".

Overlapping findings become one, under the type of the first and longest.
"""
    parts: list[str] = []
    at = 0
    for start, end, type_ in sorted(found, key=lambda label: (label.start, -label.end, label.type)):
        if start >= at:
            parts += [text[at:start], MATTER.format(type_)]
        at = max(at, end)
    return "".join(parts) + text[at:]
