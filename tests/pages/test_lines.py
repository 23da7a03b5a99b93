"""Skew and ruled lines of drawn pages."""

from __future__ import annotations

import numpy as np
import pytest

from incognote.pages import lines

from .drawn import NOTE, WHITE, page

cv2 = pytest.importorskip("cv2", reason="the extra `images` is not installed")


@pytest.mark.parametrize("degrees", [-6.0, -1.3, 0.7, 2.0, 7.0])
def test_the_skew_of_a_page_of_text_is_found(degrees: float) -> None:
    upright = page(*NOTE)
    matrix = cv2.getRotationMatrix2D((500, 250), -degrees, 1)  # positive: falls to the right
    slanted = cv2.warpAffine(upright, matrix, (1000, 500), borderValue=WHITE, flags=cv2.INTER_CUBIC)

    assert lines.skew(lines.ink(slanted)) == pytest.approx(degrees, abs=0.3)


def test_an_upright_page_and_a_blank_one_have_no_skew() -> None:
    assert lines.skew(lines.ink(page(*NOTE))) == 0.0
    assert lines.skew(lines.ink(np.full((300, 300), WHITE, np.uint8))) == 0.0


def test_ruled_lines_go_and_letters_stay() -> None:
    text = page(*NOTE)
    ruled = text.copy()
    ruled[90:93, 30:930] = 0
    ruled[20:400, 30:33] = 0
    found = lines.ruled(lines.ink(ruled), 200)
    cleaned = lines.without_lines(ruled, found)

    assert (found[91, 40:900] > 0).mean() > 0.97
    assert (found[40:380, 31] > 0).mean() > 0.97
    assert not found[text < 100].any()
    assert (cleaned < 128).sum() == pytest.approx((text < 128).sum(), rel=0.02)


def test_a_thick_bar_is_no_line() -> None:
    image = np.full((600, 600), WHITE, np.uint8)
    image[100:114, 100:500] = 0

    assert not lines.ruled(lines.ink(image), 200).any()


def test_pale_ink_is_ink() -> None:
    image = np.where(page(*NOTE) < 128, 190, 255).astype(np.uint8)

    assert (lines.ink(image)[image == 190] > 0).mean() > 0.99
    assert (lines.ink(image)[image == 255] > 0).mean() < 0.01
