"""Measure how often the lab's test accepts changes of known value, on documents drawn from a corpus.

    python -m incognote_benchmarks.prompt_trials GOLD [--documents 100] [--trials 200]

A simulated prompt misses a tenth of the identifiers, clustered by document (a document's rate is drawn from
Beta(0.3, 2.7)). The changed prompt loses a share of those found ("churn") and finds as many others. It also finds a
share of those missed. There is one round, and one point may be lost.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from incognote.evaluation.corpus import Gold, LabeledSpan
from incognote.evaluation.lab.pool import annotated
from incognote.evaluation.lab.trial import Trial, trial

MISSED = 0.1
CASES = ((0.005, 0.0), (0.01, 0.0), (0.03, 0.0), (0.0, 0.1), (0.01, 0.3))
"""Churn, and the share of the missed identifiers that is found in addition."""


def changed(gold: Sequence[Gold], documents: int, churn: float, gained: float, random: np.random.Generator) -> Trial:
    """Run one trial on this many documents, drawn with replacement."""
    drawn = [gold[at] for at in random.integers(len(gold), size=documents)]
    before: list[list[LabeledSpan]] = []
    after: list[list[LabeledSpan]] = []
    for document in drawn:
        rate = random.beta(0.3, 0.3 * (1 - MISSED) / MISSED)
        was = random.random(len(document.labels)) >= rate
        chance = np.where(was, 1 - churn, churn * (1 - MISSED) / MISSED + gained)
        now = random.random(len(document.labels)) < chance
        before.append([label for label, found in zip(document.labels, was, strict=True) if found])
        after.append([label for label, found in zip(document.labels, now, strict=True) if found])
    return trial(drawn, before, after, "recall", tries=1, allow=1.0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate, and print one line per case."""
    parser = argparse.ArgumentParser(prog="python -m incognote_benchmarks.prompt_trials", description=__doc__)
    parser.add_argument("gold")
    parser.add_argument("--documents", type=int, default=100)
    parser.add_argument("--trials", type=int, default=200)
    given = parser.parse_args(arguments)
    gold = annotated(Path(given.gold))
    random = np.random.default_rng(1)
    print("churn  gained  accepted  refused for")  # noqa: T201 -- this is a program that prints
    for churn, gained in CASES:
        made = [changed(gold, given.documents, churn, gained, random) for _ in range(given.trials)]
        why = Counter(code for one in made for code in one.refused)
        share = sum(one.accepted for one in made) / len(made)
        print(f"{churn:5.3f}  {gained:6.2f}  {share:8.3f}  {dict(why)}", flush=True)  # noqa: T201 -- as above


if __name__ == "__main__":
    main()
