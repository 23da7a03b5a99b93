"""The charts over thresholds and over cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incognote.evaluation.corpus import LabeledSpan, Pair
from incognote.evaluation.experiments.results import CellHead
from incognote.evaluation.report.curves import STEPS, by_threshold, costs

NOTE = Pair(
    "n1",
    "Ruth Hale, 42 y",
    (LabeledSpan(0, 9, "PERSON"), LabeledSpan(11, 13, "AGE")),
    (LabeledSpan(0, 4, "PERSON"), LabeledSpan(2, 9, "PERSON"), LabeledSpan(14, 15, "ID")),
    (0.5, 0.9, 0.7),
)


def test_a_threshold_keeps_what_scores_as_much_or_more() -> None:
    """The gold has 10 letters and digits: at 0.5 "Ruth Hale" (8) and y, at 0.7 "th Hale" (6) and y, at 0.9 no y."""
    points = by_threshold([NOTE], resamples=10, seed=0)
    assert [(p.score, p.recall.value, p.precision.value) for p in points] == [
        (0.5, pytest.approx(0.8), pytest.approx(8 / 9)),
        (0.7, pytest.approx(0.6), pytest.approx(6 / 7)),
        (0.9, pytest.approx(0.6), 1.0),
    ]


def test_there_is_no_curve_without_scores_or_with_one_score_only() -> None:
    bare = Pair("n2", "Hale", (), (LabeledSpan(0, 4, "PERSON"),))
    assert by_threshold([NOTE, bare], resamples=10, seed=0) == ()
    one = Pair("n3", "Hale", (), (LabeledSpan(0, 4, "PERSON"),), (1.0,))
    assert by_threshold([one, one], resamples=10, seed=0) == ()


def test_many_scores_are_thinned_out() -> None:
    pairs = [
        Pair(f"{n}", "Hale", (LabeledSpan(0, 4, "PERSON"),), (LabeledSpan(0, 4, "PERSON"),), (n / 100,))
        for n in range(100)
    ]
    points = by_threshold(pairs, resamples=10, seed=0)
    assert len(points) == STEPS
    assert (points[0].score, points[-1].score) == (0, 0.99)
    assert points[-1].recall.value == pytest.approx(0.01)


def head(key: str, model: str | None, tokens: int) -> CellHead:
    taken: dict[str, Any] = {"tokens_in": tokens, "tokens_out": 0}
    return CellHead(key, key, "", {"documents": 10}, {} if model is None else {"model": model}, {}, taken, 0)


def test_a_cell_that_was_answered_by_another_s_calls_costs_what_they_would_have(tmp_path: Path) -> None:
    ledger = tmp_path / "spent.jsonl"
    calls = [("a", 1000, 2.0), ("c", 500, None)]
    ledger.write_text(
        "".join(json.dumps({"cell": c, "input": n - 100, "output": 100, "usd": usd}) + "\n" for c, n, usd in calls)
    )
    rules, first, second, unknown = costs(
        [head("r", None, 0), head("a", "x/m", 1000), head("b", "x/m", 3000), head("c", "x/other", 500)], ledger
    )
    assert (rules.usd, rules.asks) == (0, False)
    assert (first.tokens, first.usd) == (100, pytest.approx(0.2))
    assert second.usd == pytest.approx(0.6)
    assert unknown.usd is None
