"""The data of the curves: precision and recall over thresholds, and the cost per note."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from incognote.evaluation.corpus import Pair
from incognote.evaluation.counts import counted
from incognote.evaluation.experiments.results import CellHead
from incognote.evaluation.intervals import Figure
from incognote.evaluation.metrics.stream import Stream
from incognote.evaluation.metrics.tally import Column

STEPS = 12
"""The maximum number of thresholds that are measured."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """Scores by character, type-blind, if only findings with at least this score are kept."""

    score: float
    precision: Figure
    recall: Figure


@dataclass(frozen=True, slots=True)
class Cost:
    """The average cost of a note. `usd` is None if a price is unknown; `asks` says whether a model is used."""

    tokens: float
    usd: float | None
    asks: bool


def by_threshold(pairs: Sequence[Pair], *, resamples: int, seed: int) -> tuple[Threshold, ...]:
    """Precision and recall by score threshold, lowest first. Empty if scores are missing or all equal."""
    if any(len(pair.scores) != len(pair.found) for pair in pairs):
        return ()
    scores = np.array([score for pair in pairs for score in pair.scores])
    steps = np.unique(scores)
    if len(steps) > STEPS:
        steps = np.unique(np.quantile(scores, np.linspace(0, 1, STEPS), method="lower"))
    if len(steps) < 2:
        return ()
    stream = Stream(len(pairs), resamples, seed)
    for pair in pairs:
        stream.add("t", _kept(pair, steps))
    sums = stream.sums("t")
    return tuple(
        Threshold(
            float(step),
            sums.share([("right", str(i))], [("found", str(i))]),
            sums.share([("right", str(i))], [("gold",)]),
        )
        for i, step in enumerate(steps)
    )


def _kept(pair: Pair, steps: np.ndarray[tuple[int], np.dtype[np.float64]]) -> dict[Column, int]:
    """Count letters and digits of one document: gold, and per threshold those found and those found right."""
    letters = counted(pair.text)
    gold = np.zeros(len(letters), bool)
    best = np.full(len(letters), -1.0)
    for start, end, _ in pair.gold:
        gold[start:end] = True
    for (start, end, _), score in zip(pair.found, pair.scores, strict=True):
        np.maximum(best[start:end], score, out=best[start:end])
    level = np.searchsorted(steps, best, side="right")  # the number of thresholds reached
    counts: dict[Column, int] = {("gold",): int((gold & letters).sum())}
    for what, mask in (("found", letters), ("right", letters & gold)):
        at_least = np.bincount(level[mask], minlength=len(steps) + 1)[::-1].cumsum()[::-1]
        counts |= {(what, str(i)): int(at_least[i + 1]) for i in range(len(steps))}
    return counts


def costs(heads: Sequence[CellHead], ledger: Path) -> list[Cost]:
    """The cost per note of each cell.

    A cell may reuse replies that another cell paid for, so its own payments say little. Its cost is its tokens times
    the mean price per token paid for calls to its model in this experiment.
    """
    prices = _prices(heads, ledger)
    made = []
    for head in heads:
        documents = int(head.corpus["documents"])
        tokens = int(head.taken["tokens_in"]) + int(head.taken["tokens_out"])
        model = head.facts.get("model")
        price = 0.0 if model is None else prices.get(model)
        made.append(Cost(tokens / documents, None if price is None else tokens * price / documents, model is not None))
    return made


def _prices(heads: Sequence[CellHead], ledger: Path) -> Mapping[str, float | None]:
    """US dollars per token by model, over all paid calls. None if one of the calls has no price."""
    models = {head.key: head.facts.get("model") for head in heads}
    paid: dict[str, list[tuple[int, float | None]]] = {}
    for line in ledger.read_text(encoding="utf-8").splitlines() if ledger.exists() else ():
        row = json.loads(line)
        if (model := models.get(row["cell"])) is not None:
            paid.setdefault(model, []).append((row["input"] + row["output"], row["usd"]))
    prices: dict[str, float | None] = {}
    for model, calls in paid.items():
        tokens = sum(n for n, _ in calls)
        known = [usd for _, usd in calls if usd is not None]
        prices[model] = sum(known) / tokens if len(known) == len(calls) and tokens else None
    return prices
