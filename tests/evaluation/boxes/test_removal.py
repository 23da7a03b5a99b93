"""What counts as gone, left, kept, and lost."""

from __future__ import annotations

import numpy as np

from incognote.evaluation.boxes.nouns import LabeledBox
from incognote.evaluation.boxes.removal import judged, outside
from incognote.pages.nouns import Box

TEN = (10, 10, 20, 20)


def labeled(*boxes: Box, type_: str = "") -> list[LabeledBox]:
    return [LabeledBox(1, box, type_) for box in boxes]


def gone(cover: Box, *more: Box) -> bool:
    return judged(labeled(TEN, type_="ID"), [], labeled(cover, *more), None).gone == 1


def test_an_identifier_is_gone_if_nine_tenths_of_it_are_covered() -> None:
    assert gone((10, 10, 19, 20))
    assert not gone((10, 10, 18, 20))
    assert gone((0, 0, 30, 30))
    assert gone((10, 10, 15, 20), (14, 10, 20, 20))
    assert not gone((10, 10, 16, 20), (10, 10, 16, 20))  # the same part twice
    assert not gone((20, 10, 30, 20))


def test_a_word_is_lost_if_more_than_three_tenths_of_it_are_covered() -> None:
    kept = [judged([], labeled(TEN), labeled(cover), None).kept for cover in ((10, 10, 13, 20), (10, 10, 14, 20))]
    assert kept == [1, 0]


def test_ink_counts_instead_of_area_where_there_is_some() -> None:
    ink = np.zeros((40, 40), bool)
    ink[10:20, 10:13] = True
    some, none = labeled(TEN, type_="ID"), labeled((30, 30, 38, 38), type_="ID")
    page = judged([*some, *none], [], labeled((9, 9, 13, 21)), ink)
    assert [is_gone for _, is_gone in page.identifiers] == [True, False]
    assert page.by_area == 1
    assert judged(some, [], labeled((13, 10, 20, 20)), ink).gone == 0


def test_a_box_that_reaches_beyond_its_page_counts_by_its_part_on_it() -> None:
    ink = np.ones((20, 20), bool)
    page = judged(labeled((10, 10, 40, 40), (25, 25, 35, 35), type_="ID"), [], labeled((10, 10, 20, 20)), ink)
    assert [is_gone for _, is_gone in page.identifiers] == [True, False]
    assert outside(labeled((10, 10, 40, 40)), 20, 20)
    assert not outside(labeled((10, 10, 21, 20)), 20, 20)


def test_a_word_within_an_identifier_is_one_of_its_tokens() -> None:
    gold = labeled((10, 10, 40, 20), type_="PATIENT")
    words = [*labeled((10, 10, 24, 20), (36, 10, 50, 20)), LabeledBox(1, (26, 10, 40, 20), "PATIENT")]
    page = judged(gold, words, labeled((10, 10, 25, 20)), None)
    assert page.tokens == (True, False)
    assert [word.box for word, _ in page.others] == [(36, 10, 50, 20)]


def test_the_part_of_a_word_that_an_identifier_hides_does_not_count() -> None:
    page = judged(labeled(TEN, type_="ID"), labeled((16, 10, 30, 20)), labeled((10, 10, 22, 20)), None)
    assert page.kept == 1


def test_an_identifier_without_words_is_one_token() -> None:
    page = judged(labeled(TEN, (30, 10, 40, 20), type_="BARCODE"), [], labeled(TEN), None)
    assert page.tokens == (True, False)


def test_a_page_without_boxes_has_nothing_to_judge() -> None:
    page = judged([], [], [], None)
    assert (page.identifiers, page.others, page.tokens, page.covers) == ((), (), (), ())
