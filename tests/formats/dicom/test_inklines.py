"""Lines of ink: drawn letters of any polarity are found, and textures are not."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from incognote.formats.dicom.inklines import ink_lines, quick_lines, written_lines
from incognote.pages.nouns import Box

from . import drawn


def _covers(box: Box, other: Box) -> bool:
    return box[0] <= other[0] + 3 and box[1] <= other[1] + 2 and box[2] >= other[2] - 6 and box[3] >= other[3] - 3


@pytest.mark.parametrize(
    ("ground", "ink", "noise"), [(0, 255, 0.0), (230, 10, 0.0), (100, 140, 0.0), (60, 200, 8.0)]
)
def test_letters_are_found_bright_dark_pale_and_in_noise(ground: int, ink: int, noise: float) -> None:
    boxes = [line.box for line in written_lines(drawn.screen(ground=ground, ink=ink, noise=noise))]
    assert any(_covers(box, drawn.NAME_BOX) for box in boxes)
    assert any(_covers(box, drawn.SETTING_BOX) for box in boxes)


def test_noise_and_smooth_structures_have_no_letters() -> None:
    noise = np.random.default_rng(3)
    soft = cv2.resize(noise.random((9, 12), dtype=np.float32), drawn.SIZE[::-1], interpolation=cv2.INTER_CUBIC) * 200
    picture = np.clip(soft + noise.normal(0, 6, drawn.SIZE), 0, 255).astype(np.uint8)
    assert written_lines(picture) == []
    assert quick_lines(picture) == []
    assert ink_lines(np.zeros((3, 3), np.uint8)) == []


def test_vertical_letters_are_found() -> None:
    upright = drawn.drawn((drawn.NAME, 14, 28))
    [line] = written_lines(np.ascontiguousarray(np.rot90(upright)))
    assert line.turned
    assert line.box[3] - line.box[1] > 5 * (line.box[2] - line.box[0])


def test_a_line_of_one_frame_is_found_quickly() -> None:
    [line] = quick_lines(drawn.drawn((drawn.NAME, 14, 28), ground=90, noise=4.0))
    assert _covers(line.box, drawn.NAME_BOX)
