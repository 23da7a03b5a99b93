"""How findings are matched with gold, counted, and thresholds chosen."""

from __future__ import annotations

import pytest

from incognote.evaluation.regions import matched, rows, scored
from incognote.pages.nouns import Region
from incognote_training.layout.evaluate import limits

BOX, SHIFTED, APART = (0, 0, 100, 40), (20, 0, 120, 40), (200, 0, 300, 40)


def test_a_region_is_found_once_by_the_surest_finding() -> None:
    found = [Region("Table", SHIFTED, 0.6), Region("Table", BOX, 0.9)]
    assert matched(found, [Region("Table", BOX)]) == [None, 0]


def test_another_class_or_too_little_overlap_is_no_match() -> None:
    gold = [Region("Table", BOX), Region("Logo", APART)]
    found = [Region("Multi_Col_Text", BOX), Region("Logo", (260, 0, 360, 40))]
    assert matched(found, gold) == [None, None]


def test_counts_by_class_and_their_sums() -> None:
    gold = [Region("Table", BOX), Region("Face", APART), Region("Logo", APART)]
    found = [Region("Table", BOX), Region("Face", BOX), Region("Face", APART)]
    scores = scored([(found, gold), ([], [Region("Table", BOX)])])
    assert (scores["Table"].right, scores["Table"].wrong, scores["Table"].missed) == (1, 0, 1)
    assert (scores["Face"].precision, scores["Face"].recall) == (0.5, 1.0)
    assert scores["Logo"].f1 == 0
    assert scores["all"].f1 == pytest.approx(4 / 7)
    assert scores["paper"].recall == pytest.approx(1 / 3)
    assert {row["kind"]: row["regions"] for row in rows(scores)}["all"] == 4


def test_the_limit_of_a_class_is_where_its_f1_is_highest() -> None:
    found = [Region("Table", BOX, 0.6), Region("Table", APART, 0.3), Region("Logo", BOX, 0.2)]
    chosen = limits([(found, [Region("Table", BOX), Region("Logo", BOX)])])
    assert 0.3 < chosen["Table"] < 0.6
    assert chosen["Logo"] < 0.2
