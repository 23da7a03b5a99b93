"""Requirements for every OCR engine: boxes on the ink, lines in order, no text from nothing, threads, and silence."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import get_args

import numpy as np
import pytest

from incognote.errors import MissingExtra, SettingError, UnknownName
from incognote.pages.ocr.base import Mode, OcrEngine
from incognote.pages.ocr.registry import DEFAULT, ENGINES, engine_of

from .drawn import NOTE, WHITE, page, tesseract


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> OcrEngine:
    if request.param == DEFAULT:
        return tesseract()
    found = engine_of(request.param)
    found.read(np.full((60, 60), WHITE, np.uint8), ["en"], "page")  # MissingExtra skips the test
    return found


def test_an_engine_fulfills_the_protocol_and_has_the_name_under_which_it_is_found(engine: OcrEngine) -> None:
    assert isinstance(engine, OcrEngine)
    assert engine_of(engine.name).name == engine.name


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(UnknownName, match="tesseract"):
        engine_of("tesserakt")


def test_words_are_read_in_order_with_lines_and_confidence(engine: OcrEngine) -> None:
    words = engine.read(page(*NOTE), ["en"], "page")

    assert " ".join(word.text for word in words) == " ".join(text for *_, text in NOTE)
    assert len({word.line for word in words}) == len(NOTE)
    assert all(0.5 < word.confidence <= 1 for word in words)


def test_a_box_covers_the_ink_of_its_word(engine: OcrEngine) -> None:
    image = page((100, 80, "Winslow"), size=(500, 220), letters=40)
    [word] = engine.read(image, ["en"], "page")
    rows, columns = np.nonzero(image < 128)
    left, top, right, bottom = word.box

    assert left <= columns.min() + 2
    assert right >= columns.max() - 1
    assert top <= rows.min() + 2
    assert bottom >= rows.max() - 1
    assert (right - left) * (bottom - top) < 3 * (np.ptp(columns) + 1) * (np.ptp(rows) + 1)


@pytest.mark.parametrize("mode", get_args(Mode))
def test_every_mode_takes_gray_and_color_and_keeps_boxes_on_the_image(engine: OcrEngine, mode: Mode) -> None:
    gray = page((20, 20, "Portland 1957"), size=(330, 80), letters=40)
    color = np.dstack([gray] * 3)

    for image in (gray, color):
        words = engine.read(image, ["en"], mode)
        assert "".join(word.text for word in words).replace(" ", "") == "Portland1957"
        assert all(0 <= word.box[0] < word.box[2] <= 330 and 0 <= word.box[1] < word.box[3] <= 80 for word in words)


@pytest.mark.parametrize("size", [(1, 1), (3, 200), (200, 3), (300, 300), (0, 5)])
def test_an_image_without_text_has_no_words(engine: OcrEngine, size: tuple[int, int]) -> None:
    assert engine.read(np.full(size, WHITE, np.uint8), ["en"], "page") == []


def test_threads_share_an_engine(engine: OcrEngine) -> None:
    names = ["Winslow", "Portland", "Brandvold", "Lindqvist"]
    images = [page((40, 40, name), size=(400, 140), letters=40) for name in names]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda image: engine.read(image, ["en"], "page"), images))

    assert [[word.text for word in words] for words in found] == [[name] for name in names]


def test_a_language_without_data_is_refused_with_a_remedy(engine: OcrEngine) -> None:
    with pytest.raises((SettingError, MissingExtra), match="'tlh'"):
        engine.read(page((10, 10, "Qapla"), size=(200, 80)), ["tlh"], "page")


def test_no_text_is_printed_or_left_in_a_representation(
    engine: OcrEngine, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    words = engine.read(page((40, 40, "Winslow"), size=(400, 140), letters=40), ["en"], "page")

    assert [word.text for word in words] == ["Winslow"]
    assert "Winslow" not in repr(words) + "".join(capfd.readouterr()) + caplog.text
