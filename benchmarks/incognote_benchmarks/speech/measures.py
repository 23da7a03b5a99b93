"""Measures of a run over recordings: those of `incognote evaluate`, word errors, and what is muted beyond step 1."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rapidfuzz.distance import Levenshtein

from incognote.evaluation.intervals import Figure, share
from incognote.evaluation.metrics.tally import RESAMPLES, DocumentTally
from incognote.evaluation.recordings.measures import GoldRecording, MutedRecording, figures, judged, types_muted
from incognote.speech.intervals import intersection, seconds, subtraction
from incognote.speech.nouns import Interval

LEGIBLE = 0.25
"""The largest word error rate of a voice that the bars cover."""
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Ran:
    """What an arm did with one recording.

    Args:
        gold: what is known of it.
        muted: what was muted, with the verdict.
        errors, words: the word errors of the recognizer, and the words that were said.
        took: seconds of processing. lasts: seconds of the recording.
        reasons: codes of why it was not released.
    """

    gold: GoldRecording
    muted: MutedRecording
    errors: int
    words: int
    took: float
    lasts: float
    reasons: tuple[str, ...] = field(default=())


def word_errors(said: Sequence[str], heard: Sequence[str]) -> int:
    """Return the number of words that were inserted, deleted, or substituted, whatever their case and apostrophes."""
    return int(Levenshtein.distance(_plain(said), _plain(heard)))


def _plain(words: Sequence[str]) -> list[str]:
    return [part for word in words for part in _WORD.findall(word.lower().replace("'", ""))]


def extra(gold: GoldRecording, muted: Sequence[Interval], before: Sequence[Interval]) -> tuple[float, float]:
    """Return the seconds that are muted and were not muted before, and those of them without a clinical fact."""
    more = subtraction(muted, before)
    return seconds(more), seconds(more) - seconds(intersection(more, gold.facts))


def summary(
    rows: Sequence[Ran], base: Mapping[str, Ran] | None = None, *, resamples: int = RESAMPLES
) -> dict[str, Any]:
    """Return the figures of an arm over some recordings, each as `Figure.as_dict`.

    Args:
        base: the rows of step 1 alone, by id, to count what is muted in addition.

    Raises:
        UsageError: there is no recording.
    """
    made: dict[str, Any] = {}
    all_figures: dict[str, Figure] = figures([judged(row.gold, row.muted) for row in rows], resamples)
    tally = DocumentTally()
    for row in rows:
        more = extra(row.gold, row.muted.muted, base[row.gold.id].muted.muted) if base else (0.0, 0.0)
        tally.add({
            ("words",): row.words, ("errors",): row.errors,
            ("extra",): round(more[0] * 1000), ("extra", "clear"): round(more[1] * 1000),
        })  # fmt: skip
    sums = tally.sums(resamples, 0)
    all_figures["word_error_rate"] = sums.share([("errors",)], [("words",)])
    if base:
        clear = sums.share([("extra", "clear")], [("extra",)])
        all_figures["extra_seconds_without_fact"] = replace(clear, of=round(clear.of / 1000))
        made["extra_seconds"] = round(sums.total(("extra",)) / 1000, 1)
    types = types_muted([(row.gold, row.muted) for row in rows])
    lasts = sum(row.lasts for row in rows)
    return {
        "recordings": len(rows),
        "figures": {name: figure.as_dict() for name, figure in all_figures.items()},
        "types": {name: figure.as_dict() for name, figure in types.items()},
        **made,
        "held": share(sum(row.muted.verdict not in ("", "release") for row in rows), len(rows)).as_dict(),
        "reasons": _counted(rows),
        "seconds": round(lasts, 1),
        "real_time_factor": round(sum(row.took for row in rows) / max(lasts, 1e-9), 3),
    }


def _counted(rows: Sequence[Ran]) -> dict[str, int]:
    codes = [code for row in rows for code in row.reasons]
    return {code: codes.count(code) for code in sorted(set(codes))}
