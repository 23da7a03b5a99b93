"""Matches by class, and average precision, by hand."""

from __future__ import annotations

import pytest

from incognote.evaluation.boxes.classes import ALL, ANY, ClassScores, ClassTally
from incognote.evaluation.boxes.nouns import LabeledBox, PageFile

A, B, C = (0, 0, 10, 10), (20, 0, 30, 10), (40, 0, 50, 10)


def file(*boxes: tuple[tuple[int, int, int, int], str, float]) -> PageFile:
    return PageFile("x", tuple(LabeledBox(1, box, name, score=score) for box, name, score in boxes))


def scores(*pairs: tuple[PageFile, PageFile], least: float = 0.5) -> dict[str, ClassScores]:
    tally = ClassTally(least)
    for gold, found in pairs:
        tally.add(gold, found)
    return tally.scores(50, 0)


def values(one: ClassScores) -> tuple[float | None, float | None, float | None]:
    return one.score.precision.value, one.score.recall.value, one.score.f1.value


def test_precision_recall_and_f1_count_matches_of_the_same_class() -> None:
    gold = file((A, "Logo", 1), (B, "Logo", 1), (C, "Table", 1))
    found = file((A, "Logo", 0.9), (B, "Table", 0.8))
    rows = scores((gold, found))
    assert values(rows["Logo"]) == (1, 0.5, pytest.approx(2 / 3))
    assert values(rows["Table"]) == (0, 0, 0)
    assert values(rows[ALL]) == (0.5, pytest.approx(1 / 3), pytest.approx(0.4))
    assert values(rows[ANY]) == (1, pytest.approx(2 / 3), pytest.approx(0.8))
    assert list(rows) == ["Logo", "Table", ALL, ANY]


def test_the_threshold_is_reached_at_its_value() -> None:
    gold, half = file((A, "Logo", 1)), file(((0, 0, 10, 5), "Logo", 1))
    assert scores((gold, half))["Logo"].score.recall.value == 1
    assert scores((gold, half), least=0.51)["Logo"].score.recall.value == 0


def test_two_boxes_do_not_take_one_gold_box_and_the_higher_score_takes_it() -> None:
    rows = scores((file((A, "Logo", 1)), file(((0, 0, 10, 9), "Logo", 0.2), (A, "Logo", 0.9))))
    assert values(rows["Logo"]) == (0.5, 1, pytest.approx(2 / 3))
    assert rows["Logo"].average is not None
    assert rows["Logo"].average.value == 1


def test_boxes_of_different_pages_do_not_match() -> None:
    other = PageFile("x", (LabeledBox(2, A, "Logo"),))
    assert values(scores((file((A, "Logo", 1)), other))["Logo"]) == (0, 0, 0)


def test_average_precision_is_the_area_under_the_monotone_curve() -> None:
    gold = file((A, "Logo", 1), (B, "Logo", 1), (C, "Logo", 1))
    # by score: hit (1/1), miss, hit (2/3), miss, miss; of three gold boxes
    found = file((A, "Logo", 0.9), ((60, 0, 70, 10), "Logo", 0.8), (B, "Logo", 0.7), ((80, 0, 90, 10), "Logo", 0.6),
                 ((95, 0, 99, 10), "Logo", 0.5))  # fmt: skip
    rows = scores((gold, found), (file((A, "Table", 1)), file((A, "Table", 0.9))))
    assert rows["Logo"].average is not None
    assert rows["Logo"].average.value == pytest.approx((1 + 2 / 3) / 3)
    assert rows["Logo"].average.of == 3
    assert rows[ALL].average is not None
    assert rows[ALL].average.value == pytest.approx(((1 + 2 / 3) / 3 + 1) / 2)
    assert rows[ANY].average is None


def test_without_different_scores_there_is_no_average_precision() -> None:
    rows = scores((file((A, "Logo", 1)), file((A, "Logo", 1), (B, "Logo", 1))))
    assert rows["Logo"].average is None


def test_intervals_come_from_several_files_only() -> None:
    good, bad = (file((A, "Logo", 1)), file((A, "Logo", 0.9))), (file((A, "Logo", 1)), file((B, "Logo", 0.4)))
    rows = scores(good, good, bad, bad)
    recall, average = rows["Logo"].score.recall, rows["Logo"].average
    assert average is not None
    for one in (recall, average):
        assert one.low is not None
        assert one.high is not None
        assert one.value is not None
        assert one.low < one.value < one.high
    assert scores(good)["Logo"].score.recall.low is None


def test_pages_without_any_box_have_no_scores() -> None:
    rows = scores((file(), file()))
    assert list(rows) == [ALL, ANY]
    assert values(rows[ALL]) == (None, None, None)
