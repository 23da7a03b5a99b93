"""Decide whether a changed prompt is better, with a paired test on documents that were not used for the change.

The prompt must gain in the metric that it was changed for: recall if there were more misses, otherwise precision. It
must also be shown not to lose more than is allowed in the other metric. The gain is tested one-sided by the paired
bootstrap over documents (`metrics.paired`; Efron and Tibshirani 1993, ch. 13), and by Fisher's randomization test
(1935, ch. 3: without an effect, either prompt could have come first in each document). The larger p counts. If a gain
comes from three documents, the bootstrap alone gives 0.05, but coin flips give 0.125. p is adjusted for all proposals
that may be tried (Bonferroni). The loss is judged like in the gate, and its `cannot tell` is not a pass. Texts without
identifiers are counted separately, because precision hides what happens in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Literal

import numpy as np

from incognote.evaluation.corpus import Gold, LabeledSpan
from incognote.evaluation.experiments.compare import judge
from incognote.evaluation.experiments.tallies import METRICS, table
from incognote.evaluation.intervals import Counts
from incognote.evaluation.metrics.paired import bonferroni, paired_difference

LEVEL = 0.05
_EXACT = 12
"""Up to this many differing documents, all sign combinations are enumerated."""
_TURNS = 9999

Aim = Literal["recall", "precision"]
_COLUMNS: dict[Aim, tuple[int, int]] = {"recall": (1, 0), "precision": (3, 2)}
"""Indexes of numerator and denominator in `tallies.COLUMNS`."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a trial. Points are hundredths.

    Attributes:
        aim: the metric that had to improve.
        gain, low, high: its gain in points, by character, with a 95% interval.
        p, adjusted: one-sided; multiplied by the number of proposals that may be tried.
        other: the metric that must not get worse; `loss` is its loss, `loss_high` the upper bound of it, `answer` the
            gate's answer.
        clean: the number of texts without identifiers; `touched_before` and `touched_after` of them had findings.
        refused: codes: `no-gain`, `loses-recall`, `loses-precision`, `cannot-tell-recall`, `cannot-tell-precision`,
            `touches-clean-texts`. If empty, the change is accepted.
    """

    documents: int
    aim: Aim
    gain: float
    low: float | None
    high: float | None
    p: float
    adjusted: float
    other: Aim
    loss: float
    loss_high: float
    answer: str
    clean: int
    touched_before: int
    touched_after: int
    refused: tuple[str, ...]

    @property
    def accepted(self) -> bool:
        return not self.refused

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def trial(
    gold: Sequence[Gold],
    before: Sequence[Sequence[LabeledSpan]],
    after: Sequence[Sequence[LabeledSpan]],
    aim: Aim,
    *,
    tries: int,
    allow: float,
    seed: int = 0,
) -> Trial:
    """Test a changed prompt.

    Args:
        gold: documents that were not used for the change.
        before, after: the findings in each, with the old and the proposed prompt.
        tries: how many proposals may be tried in all.
        allow: points that may be lost in the other metric, and the allowed percentage of clean texts newly touched.

    Raises:
        UsageError: these documents have no labels, or nothing was found in them.
    """
    one, two = table(gold, before), table(gold, after)
    other: Aim = "precision" if aim == "recall" else "recall"
    gained = paired_difference(two, one, METRICS[aim], seed=seed)
    drawn = gained.p / 2 if gained.value > 0 else 1 - gained.p / 2
    p = max(drawn, _turned(one, two, aim, seed)) if gained.value > 0 else 1.0
    adjusted = bonferroni(p, tries)
    verdict = judge(one, two, allow, metric=other, seed=seed)
    clean = [at for at, document in enumerate(gold) if not document.labels]
    touched = [sum(bool(found[at]) for at in clean) for found in (before, after)]
    refused = []
    if not adjusted <= LEVEL:
        refused.append("no-gain")
    if verdict.answer != "pass":
        refused.append(f"{'loses' if verdict.answer == 'fail' else 'cannot-tell'}-{other}")
    if 100 * (touched[1] - touched[0]) > allow * len(clean):
        refused.append("touches-clean-texts")
    points = [None if bound is None else 100 * bound for bound in (gained.low, gained.high)]
    return Trial(
        len(gold), aim, 100 * gained.value, points[0], points[1], p, adjusted, other, verdict.loss, verdict.high,
        verdict.answer, len(clean), touched[0], touched[1], tuple(refused),
    )  # fmt: skip


def _turned(before: Counts, after: Counts, aim: Aim, seed: int) -> float:
    """The one-sided p of the randomization test: how often chance alone would give this gain.

    A document's part in the gain is its change of the numerator minus rate times its change of the denominator, at the
    rate before. For recall this is exact, because its denominator is the gold, which does not change.
    """
    top, bottom = _COLUMNS[aim]
    whole = before[:, bottom].sum() or after[:, bottom].sum()
    rate = before[:, top].sum() / whole if whole else 0.0
    parts = (after[:, top] - rate * after[:, bottom]) - (before[:, top] - rate * before[:, bottom])
    parts = parts[parts != 0]
    seen = parts.sum()
    close = 1e-9 * np.abs(parts).sum()
    if len(parts) <= _EXACT:
        sums = np.array(list(product((-1, 1), repeat=len(parts)))) @ parts if len(parts) else np.zeros(1)
        return float((sums >= seen - close).mean())
    signs = np.random.default_rng(seed).choice((-1.0, 1.0), size=(_TURNS, len(parts)))
    return float(((signs @ parts >= seen - close).sum() + 1) / (_TURNS + 1))
