"""Candidates of regions, and the numbers that describe them."""

from __future__ import annotations

import cv2
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from incognote.pages.boxes import overlaps
from incognote.pages.candidates import SOURCES, LayoutPage, candidates
from incognote.pages.measures import measures
from incognote.pages.nouns import Box, Region, Word
from tests.pages.laid import FIELDS, TABLE, laid

NONE = np.zeros((0, 4), np.float32)


def best(page: LayoutPage, box: Box, source: str) -> float:
    boxes, sources = candidates(page, NONE)
    return float(overlaps(boxes[sources == SOURCES.index(source)], np.array([box], np.float32)).max())


def test_a_table_is_a_candidate_of_its_lines_and_of_its_words() -> None:
    page = LayoutPage(*laid())
    assert best(page, TABLE, "rules") > 0.95
    assert best(page, TABLE, "words") > 0.8


def test_fields_are_a_candidate_of_their_words() -> None:
    assert best(LayoutPage(*laid()), FIELDS, "words") > 0.8


def test_lines_are_found_on_dark_pages_and_not_in_noise() -> None:
    gray, words = laid()
    chance = np.random.default_rng(1)
    noisy = np.clip(gray.astype(int) + chance.normal(0, 14, gray.shape), 0, 255).astype(np.uint8)
    shares = [
        [float((mask > 0).mean()) for mask in LayoutPage(each, words).rules] for each in (gray, 255 - gray, noisy)
    ]
    assert np.allclose(shares[0], shares[1], rtol=0.1)
    assert np.allclose(shares[0], shares[2], rtol=0.35)


def test_writing_that_was_not_read_is_a_candidate_of_ink() -> None:
    gray, words = laid()
    curve = np.array([(100 + 10 * n, 900 + 59 * (n % 2)) for n in range(17)], np.int32)
    cv2.polylines(gray, [curve], False, 0, 2)
    assert best(LayoutPage(gray, words), (100, 900, 260, 960), "ink") > 0.9


def test_boxes_of_the_network_and_codes_are_candidates() -> None:
    gray, words = laid()
    code = Region("QR_Bar_Code", (600, 60, 700, 160))
    boxes, sources = candidates(LayoutPage(gray, words, [code]), np.array([[10, 20, 300, 90]], np.float32))
    assert (boxes[sources == SOURCES.index("code")] == code.box).all()
    assert (boxes[sources == SOURCES.index("network")] == [10, 20, 300, 90]).all()


def test_rows_and_columns_are_counted() -> None:
    gray, words = laid()
    boxes = np.array([TABLE, FIELDS], np.float32)
    numbers = measures(LayoutPage(gray, words), boxes, np.zeros(2, np.intp), NONE, np.zeros((0, 13), np.float32))
    table, fields = numbers[:, 20:70]
    assert np.expm1(table[:2]).round().tolist() == [60, 12]
    assert np.expm1(fields[:2]).round().tolist() == [8, 4]
    assert (table[3], fields[3]) == (5, 2)  # cells of a row
    assert (table[12], fields[12]) == (0, 1)  # share of rows with a colon


boxes_ = st.tuples(st.integers(0, 90), st.integers(0, 60), st.integers(1, 60), st.integers(1, 40))


@settings(max_examples=25, deadline=None)
@given(st.lists(boxes_, max_size=6), st.integers(0, 255))
def test_every_page_has_finite_numbers_and_boxes_within_it(places: list[Box], ground: int) -> None:
    gray = np.full((100, 150), ground, np.uint8)
    words = []
    for number, (x, y, wide, high) in enumerate(places):
        gray[y : y + high : 3, x : x + wide] = 255 - ground
        words.append(Word("x1:", (x, y, min(150, x + wide), min(100, y + high)), 0.5, number))
    page = LayoutPage(gray, words)
    boxes, sources = candidates(page, NONE)
    numbers = measures(page, boxes, sources, NONE, np.zeros((0, 13), np.float32))
    assert numbers.shape == (len(boxes), 108)
    assert np.isfinite(numbers).all()
    assert (boxes >= 0).all()
    assert (boxes[:, 2:] <= [150, 100]).all()
