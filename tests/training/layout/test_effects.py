"""Effects of copying keep a page's shape, and boxes follow what they surround."""

from __future__ import annotations

import numpy as np
import pytest

from incognote.pages.boxes import overlaps
from incognote_training.layout import effects


def marked(height: int = 300, width: int = 220) -> tuple[np.ndarray, np.ndarray]:
    """A white page with a black box, and the box."""
    page = np.full((height, width), 255, np.uint8)
    page[60:130, 40:180] = 0
    return page, np.array([[40, 60, 180, 130]], np.float32)


def ink(page: np.ndarray) -> np.ndarray:
    rows, columns = np.nonzero(page < 100)
    return np.array([[columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]], np.float32)


@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
def test_a_turned_box_surrounds_the_same_ink(quarters: int) -> None:
    page, boxes = effects.turned(*marked(), quarters)
    np.testing.assert_array_equal(boxes, ink(page))


@pytest.mark.parametrize("seed", range(25))
def test_a_placed_box_surrounds_the_same_ink(seed: int) -> None:
    page, boxes = marked()
    made, moved, inside = effects.placed(page, boxes, (320, 240), np.random.default_rng(seed))
    blank, _, _ = effects.placed(np.full_like(page, 255), boxes, (320, 240), np.random.default_rng(seed))
    assert made.shape == (320, 240)
    assert inside[0]
    assert overlaps(moved, ink(made.astype(int) - blank + 255))[0, 0] > 0.85


def test_without_change_a_page_is_fitted_at_the_top_left() -> None:
    page, boxes = marked()
    made, moved, inside = effects.placed(page, boxes, (600, 480), np.random.default_rng(1), change=0)
    assert inside.all()
    np.testing.assert_allclose(moved, boxes * 2, atol=1e-3)
    np.testing.assert_allclose(ink(made), boxes * 2, atol=2)
    assert (made[:, 450:] == 127).all()


def test_a_box_outside_the_input_is_marked() -> None:
    page, _ = marked()
    outside = np.array([[-50, -50, -10, -10]], np.float32)
    _, _, inside = effects.placed(page, outside, (320, 240), np.random.default_rng(3), change=0)
    assert not inside.any()


def test_worn_pages_keep_their_shape_and_repeat_with_the_seed() -> None:
    page, _ = marked(151, 203)
    changed = 0
    for seed in range(60):
        made = effects.worn(page, np.random.default_rng(seed))
        assert made.shape == page.shape
        assert made.dtype == np.uint8
        np.testing.assert_array_equal(made, effects.worn(page, np.random.default_rng(seed)))
        changed += bool((made != page).any())
    assert 30 < changed < 55
