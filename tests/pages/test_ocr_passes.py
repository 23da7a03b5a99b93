"""Pages that one pass alone does not read: ruled, turned, dark, pale, small, slanted, and noisy ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from incognote.errors import RecordProblem
from incognote.pages.nouns import Turn, Word
from incognote.pages.ocr.base import OcrEngine
from incognote.pages.ocr.passes import ReadWords, read_page

from .drawn import NOTE, WHITE, font, page, tesseract

TEXT = [word for *_, text in NOTE for word in text.split()]


@pytest.fixture(scope="module")
def engine() -> OcrEngine:
    return tesseract()


def _read(image: Any, engine: OcrEngine, *languages: str) -> ReadWords:
    return read_page(image, 200, languages or ("en",), engine)


def _texts(reading: ReadWords) -> list[str]:
    return [word.text for word in reading.words]


def test_a_clean_page_is_read_whole_in_order_with_high_quality(engine: OcrEngine) -> None:
    image = page(*NOTE)
    before = image.copy()
    reading = _read(image, engine)

    assert _texts(reading) == TEXT
    assert [word.line for word in reading.words] == sorted(word.line for word in reading.words)
    assert (reading.turn, reading.skew) == (0, 0.0)
    assert reading.quality > 0.9
    assert np.array_equal(image, before)


def test_a_blank_page_has_no_words(engine: OcrEngine) -> None:
    assert _read(np.full((400, 300), WHITE, np.uint8), engine).words == ()


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_turned_page_is_read_with_boxes_on_the_page_as_it_is(engine: OcrEngine, turn: Turn) -> None:
    upright = page(*NOTE)
    image = np.ascontiguousarray(np.rot90(upright, -turn // 90))  # clockwise
    reading = _read(image, engine)

    assert reading.turn == turn
    assert _texts(reading) == TEXT
    assert {word.turn for word in reading.words} == {turn}
    for word in reading.words:
        left, top, right, bottom = word.box
        assert (image[top:bottom, left:right] < 128).any()
    total = sum(int((image[w.box[1] : w.box[3], w.box[0] : w.box[2]] < 128).sum()) for w in reading.words)
    assert total > 0.97 * (image < 128).sum()


def test_vertical_text_beside_upright_text_is_read(engine: OcrEngine) -> None:
    image = page(*NOTE, size=(1000, 800))
    strip = page((10, 4, "Archive copy of Holger Brandvold 2023"), size=(640, 46))
    image[80:720, 930:976] = np.rot90(strip, -1)  # clockwise
    reading = _read(image, engine)

    turned = [word for word in reading.words if word.turn == 90]
    assert [word.text for word in turned] == ["Archive", "copy", "of", "Holger", "Brandvold", "2023"]
    assert [word.text for word in reading.words if word.turn == 0] == TEXT


def test_light_letters_on_dark_areas_are_read(engine: OcrEngine) -> None:
    image = page(*NOTE)
    image[:90] = 255 - image[:90]

    assert _texts(_read(image, engine)) == TEXT
    assert _texts(_read(255 - page(*NOTE), engine)) == TEXT


def test_pale_letters_beside_black_ones_are_read(engine: OcrEngine) -> None:
    image = page(*NOTE)
    image[150:] = 255 - (255 - image[150:]) // 4

    assert _texts(_read(image, engine)) == TEXT


def test_small_letters_are_read(engine: OcrEngine) -> None:
    import cv2

    image = cv2.resize(page(*NOTE), None, fx=0.4, fy=0.4, interpolation=cv2.INTER_AREA)
    reading = read_page(image, 96, ["en"], engine)

    assert _texts(reading) == TEXT
    assert all(word.box[2] <= image.shape[1] and word.box[3] <= image.shape[0] for word in reading.words)


def test_text_in_a_ruled_and_slanted_table_is_read(engine: OcrEngine) -> None:
    import cv2

    cells = (("Patient", "Winslow"), ("Born", "1957"), ("Ward", "West"), ("Number", "88209317"), ("Sodium", "139"))
    lines = [(60 + 450 * x, 62 + 80 * y, text) for y, pair in enumerate(cells) for x, text in enumerate(pair)]
    image = page(*lines, size=(1000, 520))
    for row in range(len(cells) + 1):
        image[40 + 80 * row : 43 + 80 * row, 30:930] = 0
    for left in (30, 480, 928):
        image[40:443, left : left + 3] = 0
    slant = cv2.getRotationMatrix2D((500, 260), -2, 1)
    slanted = cv2.warpAffine(image, slant, (1000, 520), borderValue=(WHITE,), flags=cv2.INTER_CUBIC)

    assert _texts(_read(image, engine)) == [text for pair in cells for text in pair]
    reading = _read(slanted, engine)
    assert _texts(reading) == [text for pair in cells for text in pair]
    assert reading.skew == pytest.approx(2, abs=0.3)


def test_arabic_is_in_logical_order(engine: OcrEngine) -> None:
    from PIL import Image, ImageDraw, features

    if not features.check("raqm"):
        pytest.skip("this Pillow cannot shape Arabic")
    picture = Image.new("L", (900, 220), 255)
    draw = ImageDraw.Draw(picture)
    for top, text in ((20, "اسم المريض محمد السالم"), (110, "رقم الملف 445920")):
        draw.text((860, top), text, fill=0, font=font(40), direction="rtl", anchor="ra")

    texts = _texts(_read(np.asarray(picture), engine, "ar"))
    assert texts == ["اسم", "المريض", "محمد", "السالم", "رقم", "الملف", "445920"]


def test_text_over_noise_is_seen_and_the_noise_costs_little(engine: OcrEngine) -> None:
    import time

    image = page(*NOTE, size=(1200, 1200))
    noise = np.random.default_rng(0).normal(120, 45, (800, 1100)).clip(0, 255).astype(np.uint8)
    image[380:1180, 50:1150] = noise
    start = time.process_time()
    reading = _read(image, engine)

    assert set(TEXT) <= set(_texts(reading))
    assert time.process_time() - start < 20


def test_all_ink_of_the_words_is_seen(engine: OcrEngine) -> None:
    image = page(*NOTE)
    seen = np.zeros(image.shape, bool)
    for word in _read(image, engine).seen:
        left, top, right, bottom = word.box
        seen[max(0, top - 2) : bottom + 2, max(0, left - 2) : right + 2] = True

    assert not ((image < 100) & ~seen).any()


class _OnlyOnce:
    """An engine that reads the first picture and fails on all others."""

    name = "once"

    def __init__(self) -> None:
        self.calls = 0

    def read(self, image: Any, languages: Any, mode: Any) -> list[Word]:
        self.calls += 1
        if self.calls > 1:
            raise RecordProblem("stopped")
        return [Word("Winslow", (10, 10, 90, 30), 0.9)]


def test_passes_that_fail_lower_the_quality_and_a_first_pass_that_fails_is_an_error() -> None:
    image = page((10, 10, "Winslow"), size=(300, 100))
    reading = read_page(image, 200, ["en"], _OnlyOnce())

    assert _texts(reading) == ["Winslow"]
    assert reading.quality == pytest.approx(0.45)
    failing = _OnlyOnce()
    failing.calls = 1
    with pytest.raises(RecordProblem):
        read_page(image, 200, ["en"], failing)


def test_no_representation_has_text(engine: OcrEngine) -> None:
    assert "Winslow" not in repr(_read(page(*NOTE), engine))
