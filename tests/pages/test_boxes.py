"""Overlaps of boxes, suppression of duplicates, and pages fitted into an input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.pages.boxes import letterboxed, overlaps, suppressed

side = st.integers(0, 60)
boxes = st.lists(
    st.tuples(side, side, side, side).map(lambda four: (four[0], four[1], four[0] + four[2], four[1] + four[3])),
    min_size=1,
    max_size=8,
).map(lambda each: np.array(each, np.float32))


@given(boxes, boxes)
def test_overlap_is_a_share_and_symmetric(one: np.ndarray, other: np.ndarray) -> None:
    shared = overlaps(one, other)
    assert shared.shape == (len(one), len(other))
    assert ((shared >= 0) & (shared <= 1)).all()
    np.testing.assert_allclose(shared, overlaps(other, one).T)


def test_overlap_is_intersection_over_union() -> None:
    one = np.array([[0, 0, 10, 10]], np.float32)
    other = np.array([[0, 0, 10, 10], [5, 0, 15, 10], [10, 0, 20, 10], [3, 3, 3, 3]], np.float32)
    np.testing.assert_allclose(overlaps(one, other), [[1, 1 / 3, 0, 0]], rtol=1e-6)


@given(boxes, st.integers(1, 3), st.floats(0.1, 0.9))
def test_suppression_keeps_the_best_and_no_two_that_overlap(found: np.ndarray, kinds: int, most: float) -> None:
    chance = np.random.default_rng(len(found))
    scores = chance.random(len(found), dtype=np.float32)
    classes = chance.integers(0, kinds, len(found))
    kept = suppressed(found, scores, classes, most)
    assert kept[0] == scores.argmax()
    assert (np.diff(scores[kept]) <= 0).all()
    shared = overlaps(found, found)
    same = classes[:, None] == classes[None]
    for row, index in enumerate(kept):
        assert not (shared[index, kept[row + 1 :]] > most)[classes[kept[row + 1 :]] == classes[index]].any()
    for index in set(range(len(found))) - set(kept.tolist()):
        better = [other for other in kept if same[index, other] and scores[other] >= scores[index]]
        assert (shared[index, better] > most).any()


def test_boxes_of_different_classes_do_not_suppress_each_other() -> None:
    found = np.array([[0, 0, 10, 10], [0, 0, 10, 10]], np.float32)
    kept = suppressed(found, np.array([0.5, 0.9], np.float32), np.array([0, 1]), 0.5)
    assert kept.tolist() == [1, 0]


@given(st.integers(1, 400), st.integers(1, 400))
def test_a_letterboxed_page_keeps_its_shape_and_its_boxes(width: int, height: int) -> None:
    page = np.full((height, width), 255, np.uint8)
    made, fit = letterboxed(page, 160, ground=0)
    assert made.shape[0] % 32 == made.shape[1] % 32 == 0
    assert max(made.shape) == 160
    seen = np.argwhere(made > 127).max(axis=0) + 1
    assert abs(seen[1] - max(1, width * fit.scale)) <= 1
    assert abs(seen[0] - max(1, height * fit.scale)) <= 1
    box = np.array([[0, 0, width, height], [width / 4, height / 4, width / 2, height / 2]], np.float32)
    np.testing.assert_allclose(fit.restored(box * np.float32(fit.scale)), box, atol=1e-2)


def test_boxes_outside_the_page_are_clipped() -> None:
    _, fit = letterboxed(np.zeros((50, 100), np.uint8), 200)
    assert fit.restored(np.array([[-9, -9, 999, 999]], np.float32)).tolist() == [[0, 0, 100, 50]]


@pytest.mark.parametrize(
    "page", [np.zeros((4, 4, 3), np.uint8), np.zeros((4, 4), np.float32), np.zeros((0, 4), np.uint8)]
)
def test_what_is_no_gray_page_is_refused(page: np.ndarray) -> None:
    with pytest.raises(ValueError, match="8-bit gray"):
        letterboxed(page, 160)
