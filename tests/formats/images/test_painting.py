"""Covers and the words on them: within the box, readable, and in the colors of the page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont, features

from incognote.formats.images import painting
from incognote.formats.images.painting import Cover, colors_of, painted

HEIGHTS = (10, 12, 16, 24, 40, 60)
PAPER, INK = (250, 240, 200), (20, 30, 140)


def _page(mode: str, high: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return a page with a word of a height at 20, 20, on paper with a color if it has colors."""
    image = Image.new("RGB", (400, 100), PAPER if mode in ("RGB", "P") else "white")
    draw = ImageDraw.Draw(image)
    draw.fontmode = "L" if mode in ("L", "RGB") else "1"
    ink = INK if mode in ("RGB", "P") else "black"
    draw.text((20, 20), "Ottoline Q", font=ImageFont.load_default(0.78 * high), fill=ink)
    return np.array(image if mode in ("RGB", "P") else image.convert("L"))


@pytest.mark.parametrize("high", HEIGHTS)
@pytest.mark.parametrize("mode", ["L", "RGB", "1", "P"])
def test_a_label_is_white_on_black_within_its_box_and_takes_most_of_its_height(mode: str, high: int) -> None:
    page, box = _page(mode, high), (20, 20, 380, 20 + high)
    made = painted(page, [Cover(box, "[MEDICAL_RECORD]")], mode)
    changed = np.argwhere((made != page).reshape(*page.shape[:2], -1).any(axis=2))
    assert (changed.min(axis=0) >= (20, 20)).all()
    assert (changed.max(axis=0) < (20 + high, 380)).all()
    inside = made[20 : 20 + high, 20:380]
    letters = np.argwhere((inside if inside.ndim == 2 else inside[..., 0]) > 127)
    tall, wide = np.ptp(letters, axis=0) + 1
    assert 0.45 * high <= tall <= 0.9 * high
    assert wide > 3 * tall
    if mode in ("1", "P"):
        assert set(np.unique(inside)) == {0, 255}


@pytest.mark.parametrize("mode", ["L", "1"])
def test_no_letter_of_a_label_is_cut(mode: str) -> None:
    for wide in range(60, 340, 7):
        page = np.full((60, 400), 255, np.uint8)
        made = painted(page, [Cover((20, 20, 20 + wide, 42), "[MEDICAL_RECORD]")], mode)
        inside = made[20:42, 20 : 20 + wide]
        assert not any((inside[side] > 127).any() for side in (0, -1, (slice(None), 0), (slice(None), -1)))


@pytest.mark.parametrize("high", HEIGHTS)
@pytest.mark.parametrize("mode", ["L", "RGB", "1", "P"])
def test_a_surrogate_is_in_the_colors_of_the_page(mode: str, high: int) -> None:
    page, box = _page(mode, high), (20, 20, 380, 20 + high)
    made = painted(page, [Cover(box, "Ida Moss")], mode)
    inside = made[20 : 20 + high, 20:380].reshape(high * 360, -1).astype(int)
    paper = np.array(PAPER if mode in ("RGB", "P") else [255])
    assert (np.median(inside, axis=0) == paper).all()
    darkest = inside[inside.sum(axis=1).argmin()]
    ink = np.array(INK if mode in ("RGB", "P") else [0])
    assert np.abs(darkest - ink).max() < 120 or (darkest < 60).all()
    assert 0.01 < (np.abs(inside - paper).max(axis=1) > 60).mean() < 0.3


def test_a_surrogate_on_a_dark_page_is_light() -> None:
    page = 255 - _page("L", 24)
    made = painted(page, [Cover((20, 20, 380, 44), "Ida Moss")])
    inside = made[20:44, 20:380]
    assert np.median(inside) == 0
    assert inside.max() > 180


def test_a_cover_without_words_and_one_whose_words_do_not_fit_are_black() -> None:
    page = _page("L", 24)
    for words in ("", "[MEDICAL_RECORD_NUMBER]"):
        made = painted(page, [Cover((20, 20, 60, 40), words)])
        assert not made[20:40, 20:60].any()


def test_words_that_do_not_fit_leave_only_paper() -> None:
    made = painted(_page("L", 24), [Cover((20, 20, 50, 44), "Bartholomew Featherstonehaugh")])
    assert (made[20:44, 20:50] == 255).all()


def test_labels_do_not_depend_on_what_is_below_them() -> None:
    box = (20, 20, 200, 44)
    one, other = _page("L", 24), np.full((100, 400), 255, np.uint8)
    one[:, 200:] = 255
    assert np.array_equal(painted(one, [Cover(box, "[ID]")]), painted(other, [Cover(box, "[ID]")]))


def test_covers_that_share_pixels_are_all_covered() -> None:
    page = np.full((100, 400), 250, np.uint8)
    page[::2] = 77
    covers = [Cover((10, 10, 200, 40), "[PERSON]"), Cover((150, 20, 300, 60)), Cover((0, 30, 20, 90), "Ida")]
    made = painted(page, covers)
    for left, top, right, bottom in (cover.box for cover in covers):
        assert not (made[top:bottom:2, left:right] == 77).all(axis=1).any()


@pytest.mark.parametrize("box", [(-30, -30, 10, 10), (390, 90, 900, 900), (50, 50, 50, 50), (500, 500, 600, 600)])
def test_a_box_is_cut_at_the_edges_of_the_page(box: tuple[int, int, int, int]) -> None:
    page = _page("L", 24)
    made = painted(page, [Cover(box, "[ID]")])
    assert made.shape == page.shape
    assert (made != page).any()


def test_letters_of_other_scripts_are_written_if_a_font_has_them() -> None:
    page = np.full((100, 400), 255, np.uint8)
    for words in ("José Núñez", "حسن علي", "Ωμέγα"):
        made = painted(page, [Cover((20, 20, 380, 60), words)])
        has_font = painting._font_of("".join(sorted(set(words)))) is not None
        assert (made < 128).any() == (has_font and (words[0] != "ح" or features.check("raqm")))


def test_letters_that_no_font_has_are_not_written() -> None:
    made = painted(np.full((100, 400), 255, np.uint8), [Cover((20, 20, 380, 60), "\ue123\ue124")])
    assert (made == 255).all()


def test_a_page_with_a_full_palette_gets_no_more_colors() -> None:
    rng = np.random.default_rng(1)
    colors = rng.integers(1, 255, (256, 3), dtype=np.uint8)
    page = colors[rng.integers(0, 256, (100, 400))]
    page[0, :256] = colors
    box = (20, 20, 200, 44)
    made = painted(page, [Cover(box, "[PERSON]")], "P")
    assert len(colors_of(made)) <= 256
    assert set(colors_of(made)) <= set(colors_of(page))
    assert len(colors_of(made[20:44, 20:200])) == 2
    made[20:44, 20:200] = page[20:44, 20:200]
    assert np.array_equal(made, page)


def test_the_words_of_a_cover_are_not_in_its_repr() -> None:
    assert "Quackenbush" not in repr(Cover((0, 0, 1, 1), "Quackenbush"))
