"""Estimate what a release would leak: run annotated notes, and count verdicts and leaks among the released notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incognote.errors import UsageError
from incognote.evaluation.corpus import Gold, read_gold
from incognote.evaluation.experiments.seal import log_opening
from incognote.evaluation.intervals import Figure, share
from incognote.nouns import Result
from incognote.sdk import Deidentifier, Item


@dataclass(frozen=True)
class ReleaseScores:
    """Shares of documents with Wilson's 95% intervals.

    Attributes:
        released, review, quarantine: shares of all documents.
        leaking: among released documents with identifiers, the share in which a letter or digit of one is left.
        reasons: documents per reason code.
        unusable: gold lines that could not be read; they are not counted.
    """

    released: Figure
    review: Figure
    quarantine: Figure
    leaking: Figure
    reasons: dict[str, int]
    unusable: int

    def as_dict(self) -> dict[str, Any]:
        """Return the scores as a JSON-serializable dict."""
        figures = ("released", "review", "quarantine", "leaking")
        named = {name: getattr(self, name).as_dict() for name in figures}
        return {**named, "reasons": self.reasons, "unusable": self.unusable}

    def lines(self) -> Iterator[str]:
        """The lines to print in a terminal."""
        yield f"released                                {self.released} of {self.released.of} documents"
        yield f"for review                              {self.review}"
        yield f"quarantined                             {self.quarantine}"
        yield f"released ones that leak any character   {self.leaking} of {self.leaking.of} with identifiers"
        for code, count in self.reasons.items():
            yield f"  {code}: {count}"


def release(gold: str | Path, deid: Deidentifier) -> ReleaseScores:
    """De-identify every annotated text of a corpus and count leaks in the texts that would be released.

    Args:
        gold: as for `evaluate`.
        deid: the deidentifier, with its policy.

    Raises:
        UsageError: no text could be read.
    """
    log_opening(gold, "evaluate --release")
    read = list(read_gold(gold))
    known = [one for one in read if isinstance(one, Gold)]
    if not known:
        raise UsageError("No gold, no score: the gold has no usable document.")
    results = list(deid.batch(Item(one.text) for one in known))
    outcomes = Counter(result.verdict.outcome for result in results)
    reasons = Counter(code for result in results for code in {reason.code for reason in result.verdict.reasons})
    shown = [leaks(one, r) for one, r in zip(known, results, strict=True) if r.verdict.released and one.labels]
    return ReleaseScores(
        released=share(outcomes["release"], len(known)),
        review=share(outcomes["review"], len(known)),
        quarantine=share(outcomes["quarantine"], len(known)),
        leaking=share(sum(shown), len(shown)),
        reasons=dict(sorted(reasons.items())),
        unusable=len(read) - len(known),
    )


def leaks(gold: Gold, result: Result) -> bool:
    """Return True if a letter or digit of an annotated span was not replaced."""
    gone = {i for r in result.replacements for i in range(r.span.start, r.span.end)}
    return any(gold.text[i].isalnum() and i not in gone for s in gold.labels for i in range(s.start, s.end))
