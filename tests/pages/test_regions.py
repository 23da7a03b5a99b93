"""The regions of a page that was read, found with the shipped networks."""

from __future__ import annotations

import time
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from incognote.errors import IncognoteError
from incognote.pages.boxes import overlaps
from incognote.pages.layout import KINDS
from incognote.pages.nouns import Box, Region, Turn, Word
from incognote.pages.regions import CARD, MODEL, RegionFinder, chosen, shipped
from tests.pages.laid import SIZE, TABLE, laid


def found(regions: list[Region], kind: str, box: Box) -> bool:
    boxes = np.array([region.box for region in regions if region.kind == kind], np.float32).reshape(-1, 4)
    return bool(len(boxes)) and float(overlaps(boxes, np.array([box], np.float32)).max()) >= 0.5


def test_a_ruled_table_is_found() -> None:
    page, words = laid()
    regions = shipped().find(page, words)
    assert found(regions, "Table", TABLE)
    assert {region.sources for region in regions} == {("layout",)}
    assert [region.score for region in regions] == sorted((region.score for region in regions), reverse=True)


def turned(box: Box, quarters: int) -> Box:
    """Return a box of the page after quarter turns of the page, clockwise."""
    left, top, right, bottom = box
    high, wide = SIZE
    for _ in range(quarters):
        left, top, right, bottom = high - bottom, left, high - top, right
        high, wide = wide, high
    return left, top, right, bottom


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_turned_page_has_the_same_regions_in_its_own_pixels(turn: Turn) -> None:
    page, words = laid()
    regions = shipped().find(page, words)
    quarters = turn // 90
    moved = [replace(word, box=turned(word.box, quarters), turn=turn) for word in words]
    again = shipped().find(np.ascontiguousarray(np.rot90(page, -quarters)), moved)
    assert [region.kind for region in again] == [region.kind for region in regions]
    for one, two in zip(regions, again, strict=True):
        assert np.abs(np.subtract(turned(one.box, quarters), two.box)).max() <= 2


@pytest.mark.parametrize("shape", [(1, 1), (3, 2000), (2000, 3), (640, 640)])
def test_pages_of_any_shape_and_without_words_are_taken(shape: tuple[int, int]) -> None:
    assert shipped().find(np.full(shape, 255, np.uint8)) == []


def test_words_beyond_the_page_are_taken() -> None:
    page, words = laid()
    shipped().find(page, [*words, Word("x", (790, 1090, 900, 1200), 0.5), Word("y", (-9, -9, 5, 5), 0.5)])


def test_what_is_no_gray_page_is_refused() -> None:
    with pytest.raises(ValueError, match="8-bit gray"):
        shipped().find(np.zeros((9, 9, 3), np.uint8))


def test_a_network_that_does_not_match_its_card_is_refused(tmp_path: Path) -> None:
    folder = files("incognote.pages")
    (tmp_path / CARD).write_bytes(folder.joinpath(CARD).read_bytes())
    (tmp_path / MODEL).write_bytes(folder.joinpath(MODEL).read_bytes() + b"\0")
    with pytest.raises(IncognoteError, match="does not match its card"):
        RegionFinder(tmp_path).find(*laid())


def test_of_two_overlapping_regions_the_one_with_the_higher_score_is_chosen() -> None:
    boxes = np.array([[0, 0, 100, 50], [0, 0, 100, 60], [5, 5, 30, 30]], np.float32)
    scores = np.zeros((3, len(KINDS)), np.float32)
    scores[0, KINDS.index("Table")], scores[1, KINDS.index("Header")] = 0.7, 0.9
    scores[2, KINDS.index("Logo")] = 0.5  # in the header
    regions = chosen(boxes, scores, np.full(len(KINDS), 0.4, np.float32))
    assert [(region.kind, region.box) for region in regions] == [("Header", (0, 0, 100, 60)), ("Logo", (5, 5, 30, 30))]


def test_a_page_takes_less_than_a_second_of_one_core() -> None:
    page, words = laid()
    shipped().find(page, words)
    begun = time.process_time()
    shipped().find(page, words)
    assert time.process_time() - begun < 1.0
