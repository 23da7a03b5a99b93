"""The picture of a page in a report."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from incognote.evaluation.boxes.nouns import LabeledBox
from incognote.evaluation.boxes.pictures import COLORS, picture
from incognote.evaluation.boxes.removal import judged
from incognote.evaluation.boxes.scored import PageScores
from incognote.pages.nouns import Box

from .conftest import CATHETER, DATE, FOLEY, NAME, drawn

image = pytest.importorskip("PIL.Image")


def scored(gone: Box, left: Box) -> PageScores:
    gold = [LabeledBox(1, gone, "PATIENT"), LabeledBox(1, left, "DATE")]
    words = [LabeledBox(1, FOLEY), LabeledBox(1, CATHETER)]
    found = [LabeledBox(1, gone), LabeledBox(1, FOLEY)]
    return PageScores("a.png", 1, "", judged(gold, words, found, None))


def opened(jpeg: bytes) -> Any:
    made = image.open(io.BytesIO(jpeg))
    assert made.format == "JPEG"
    assert not made.getexif()
    return np.asarray(made).astype(int)


def has_color(pixels: Any, name: str, box: Box, reach: int = 6) -> bool:
    """Whether the color of an outline is around a box, as near as JPEG keeps it."""
    left, top, right, bottom = box
    part = pixels[max(0, top - reach) : bottom + reach, max(0, left - reach) : right + reach]
    wanted = [int(COLORS[name][at : at + 2], 16) for at in (1, 3, 5)]
    return bool((np.abs(part - wanted).max(axis=2) < 60).any())


def test_what_is_gone_left_and_lost_has_its_own_color() -> None:
    pixels = opened(picture(scored(NAME, DATE), drawn(NAME, DATE, FOLEY, CATHETER)))
    assert pixels.shape == (160, 300, 3)
    assert has_color(pixels, "gone", NAME)
    assert has_color(pixels, "left", DATE)
    assert has_color(pixels, "lost", FOLEY)
    assert not has_color(pixels, "left", NAME)
    assert not has_color(pixels, "lost", CATHETER, 2)


def test_a_large_page_is_made_small() -> None:
    page = np.full((3000, 2000), 255, np.uint8)
    pixels = opened(picture(scored((200, 200, 1200, 400), (200, 600, 1000, 800)), page))
    assert pixels.shape == (1000, 667, 3)
    assert has_color(pixels, "gone", (67, 67, 400, 133))


def test_without_pixels_the_boxes_are_drawn_on_white() -> None:
    pixels = opened(picture(scored(NAME, DATE), None))
    assert has_color(pixels, "left", DATE)
    assert (pixels.reshape(-1, 3).min(axis=1) > 240).mean() > 0.8


def test_a_page_without_boxes_has_a_picture() -> None:
    page = PageScores("a.png", 1, "", judged([], [], [], None))
    assert opened(picture(page, None)).min() > 240
