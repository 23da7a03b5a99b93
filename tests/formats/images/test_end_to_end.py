"""Image files and scanned PDF files through the whole machine, read with Tesseract."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pikepdf
import pytest
from PIL import Image, ImageDraw, ImageFont

from incognote.errors import SettingError
from incognote.formats.images.second import text_of
from incognote.formats.pictures import UncheckedPart
from incognote.formats.registry import named, second_reading
from incognote.pages.ocr.passes import default_engine
from incognote.sdk import Deidentifier

NAME, NUMBER = "Ottoline Quackenbush", "4471902"
LINES = (f"Patient: {NAME}", f"MRN: {NUMBER}", "Asthma, stable on salbutamol.")


@pytest.fixture(autouse=True)
def _engine() -> None:
    try:
        default_engine().read(np.full((40, 40), 255, np.uint8), ["en"], "line")
    except SettingError as missing:
        pytest.skip(str(missing))


def _page() -> Image.Image:
    image = Image.new("L", (560, 190), 255)
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(LINES):
        draw.text((30, 20 + 50 * number), line, font=ImageFont.load_default(28), fill=0)
    return image


def _released(data: bytes) -> bytes:
    result = Deidentifier("strict", detectors=["rules"]).deidentify(data)
    assert (result.verdict.outcome, result.verdict.reasons) == ("release", ())
    output: Any = result.data
    assert isinstance(output, bytes)
    return output


def test_an_image_is_released_without_its_identifiers_and_with_the_rest() -> None:
    out = io.BytesIO()
    _page().save(out, "PNG", dpi=(200, 200))
    with Image.open(io.BytesIO(_released(out.getvalue()))) as image:
        assert (image.format, image.size, image.mode) == ("PNG", (560, 190), "L")
        read = text_of(np.asarray(image))
    assert "salbutamol" in read
    assert not any(word in read for word in (*NAME.split(), NUMBER))


def test_a_scanned_pdf_is_released_and_can_be_searched_for_the_rest() -> None:
    out = io.BytesIO()
    _page().convert("1", dither=Image.Dither.NONE).save(out, "PDF", resolution=200, title=NAME)
    output = _released(out.getvalue())
    with pikepdf.open(io.BytesIO(output)) as pdf:
        content = pdf.pages[0].Contents.read_bytes()
    seen = second_reading(output, named("pdf").media_types[0])
    assert not any(isinstance(each, UncheckedPart) for each in seen)
    assert sum("salbutamol" in each for each in seen) == 3  # OCR, and twice the text
    for read in (content.decode("latin-1"), *seen):
        assert not any(word in read for word in (*NAME.split(), NUMBER))
    assert b"salbutamol" in content
