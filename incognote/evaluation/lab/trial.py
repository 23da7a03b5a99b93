"""Whether a changed prompt is better: a paired test on documents that nobody looked at when it was changed.

It must gain in what it was changed for (recall where misses were the more, else precision), and must be shown to lose
no more than is allowed in the other. The gain is tested one-sided, by the paired bootstrap over documents
(`metrics.paired`; Efron and Tibshirani 1993, ch. 13), and by Fisher's randomization test (1935, ch. 3: under no effect
either prompt could have come first in each document), of which the larger p counts: where a gain sits in three
documents, the bootstrap alone says 0.05, and a coin says 0.125. It is adjusted for all proposals that may be tried
(Bonferroni). The loss is judged as the gate does it, whose `cannot tell` is no pass, and texts without identifiers are
counted on their own, since precision hides what happens to them.
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
"""So many documents that differ, and every way of turning them round is looked at."""
_TURNS = 9999

Aim = Literal["recall", "precision"]
_COLUMNS: dict[Aim, tuple[int, int]] = {"recall": (1, 0), "precision": (3, 2)}
"""Where `tallies.COLUMNS` holds numerator and denominator."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of it; points are hundredths.

    Attributes:
        aim: what it had to gain in.
        gain, low, high: points of it, by character, with a 95 % interval.
        p, adjusted: one-sided; times the number of proposals that may be tried.
        other: what it must not lose; `loss` of it, the most that it may be (`loss_high`), and the gate's answer.
        clean: texts without identifiers; of these `touched_before` and `touched_after` had something found in them.
        refused: codes: `no-gain`, `loses-recall`, `loses-precision`, `cannot-tell-recall`, `cannot-tell-precision`,
            `touches-clean-texts`. None: it is accepted.
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
    """Try a changed prompt.

    Args:
        gold: documents that played no part in the change.
        before, after: what was found in each, with the prompt as it was and as it is proposed.
        tries: how many proposals may be tried in all.
        allow: points that may be lost in the other metric, and of texts without identifiers newly touched.

    Raises:
        UsageError: nothing is marked in these documents, or nothing was found in them.
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
    """The one-sided p of the randomization test: how often chance alone would gain as much.

    A document's part in the gain is what it adds to numerator less rate times denominator, at the rate before; for
    recall, whose denominator is the gold and stays, that is exact.
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
