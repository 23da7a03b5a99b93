"""Small pages drawn with Pillow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from incognote.errors import SettingError
from incognote.pages.ocr.tesseract import Tesseract

WHITE, BLACK = 255, 0


def tesseract() -> Tesseract:
    """Tesseract, or skip the test."""
    engine = Tesseract()
    try:
        engine.read(np.full((40, 40), WHITE, np.uint8), ["en", "es", "ar"], "line")
    except SettingError as missing:
        pytest.skip(str(missing))
    return engine


def font(letters: int) -> Any:
    """A font with Latin and Arabic letters."""
    matplotlib = pytest.importorskip("matplotlib", reason="the extra `evaluation` has the font, and is not installed")
    from PIL import ImageFont

    return ImageFont.truetype(f"{matplotlib.get_data_path()}/fonts/ttf/DejaVuSans.ttf", letters)


def page(
    *lines: tuple[int, int, str], size: tuple[int, int] = (1000, 500), letters: int = 32
) -> Any:
    """A gray page with texts at their left and top, in letters of so many pixels."""
    image = pytest.importorskip("PIL.Image", reason="the extra `images` is not installed")
    from PIL import ImageDraw

    picture = image.new("L", size, WHITE)
    draw = ImageDraw.Draw(picture)
    for left, top, text in lines:
        draw.text((left, top), text, fill=BLACK, font=font(letters))
    return np.asarray(picture).copy()


NOTE = (
    (60, 40, "Discharge summary of the patient"),
    (60, 100, "Margaret Winslow was born in Portland"),
    (60, 160, "Admitted with shortness of breath"),
    (60, 220, "Heart failure with leg swelling"),
    (60, 280, "Record number 88209317"),
)
"""Lines of a note."""
