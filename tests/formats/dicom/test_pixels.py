"""Burned-in text is read once for all frames, and goes from all of them."""

from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np
import pytest
from pydicom import dcmread
from pydicom.uid import ImplicitVRLittleEndian

from incognote import Deidentifier, Result
from incognote.formats.dicom.pixels import FIELD, PixelText
from incognote.formats.dicom.stream import read_file
from incognote_benchmarks.dicom_burned import BurnedInstance, burned
from incognote_benchmarks.dicom_pixels import PixelScore

from . import drawn


@pytest.fixture(scope="module")
def deid() -> Iterator[Deidentifier]:
    with Deidentifier("strict") as made:
        yield made


def _served(deid: Deidentifier, data: bytes) -> Result:
    return deid.deidentify(data, media_type="application/dicom")


def _text(data: bytes) -> PixelText:
    return PixelText(read_file(data, 2**26), ())


def test_a_name_goes_and_a_setting_stays_and_all_other_pixels_are_the_same(deid: Deidentifier) -> None:
    before = drawn.screen()
    result = _served(deid, drawn.file_of(before, syntax=ImplicitVRLittleEndian, BurnedInAnnotation="NO"))
    assert result.verdict.released, result.verdict
    made = dcmread(io.BytesIO(result.data or b""))
    after = made.pixel_array
    left, top, right, bottom = drawn.NAME_BOX
    assert not after[top:bottom, left:right].any()
    changed = before != after
    assert not after[changed].any()
    assert not changed[60:, :100].any()
    assert (made.BurnedInAnnotation, made.Rows, made.PhotometricInterpretation) == ("NO", 200, "MONOCHROME2")
    codes = [code.CodeValue for code in made.DeidentificationMethodCodeSequence]
    assert codes[:2] == ["113100", "113101"]
    assert {box.type for box in result.boxes} >= {"PATIENT"}


def test_the_text_of_pixels_is_a_text_of_the_document_with_findings(deid: Deidentifier) -> None:
    page = _text(drawn.file_of(drawn.screen())).page
    assert page.text.startswith(drawn.SETTING) or f"\n{drawn.SETTING}\n" in page.text
    [found] = [each for each in _served(deid, drawn.file_of(drawn.screen())).boxes if each.type == "PATIENT"]
    assert found.page == 1
    assert FIELD == "PixelData"


def test_text_of_one_frame_among_moving_ones_goes_from_all() -> None:
    noise = np.random.default_rng(1)
    frames = [np.clip(60 + noise.normal(0, 5, drawn.SIZE), 0, 255).astype(np.uint8) for _ in range(6)]
    name = drawn.drawn((drawn.NAME, 14, 110))
    frames[3] = np.maximum(frames[3], name)
    made = _text(drawn.file_of(*frames))
    boxes = [region.box for _, region in made.page.marks]
    assert any(box[0] < 20 and box[1] < 102 and box[2] > 120 and box[3] > 106 for box in boxes)
    covered = list(made.covered(boxes))
    assert len(covered) == 6
    assert all(len(np.unique(frame[100:110, 20:110])) == 1 for frame in covered)


def test_words_that_change_do_not_stay_in_any_frame() -> None:
    first, second = (drawn.drawn((f"Gain {each} dB", 14, 180)) for each in (15, 48))
    words = [{each.word.text for each in _text(drawn.file_of(first, other)).page.words} for other in (first, second)]
    assert {"Gain", "15"} <= words[0]
    assert "15" not in words[1]


def test_uniform_and_tiny_pixels_are_not_read() -> None:
    blank = _text(drawn.file_of(np.full(drawn.SIZE, 9, np.uint8)))
    assert (blank.page.text, blank.page.marks) == ("", [])
    assert _text(drawn.file_of(np.arange(49, dtype=np.uint8).reshape(7, 7))).frames is None


def _scored(deid: Deidentifier, instances: list[BurnedInstance]) -> PixelScore:
    score = PixelScore()
    for instance in instances:
        result = _served(deid, instance.data)
        score.add(instance, result.data if result.verdict.released else None)
    return score


def test_a_tenth_of_the_benchmark(deid: Deidentifier) -> None:
    """Of its instances with one small frame."""
    score = _scored(deid, [each for each in burned(16, 101) if each.modality in ("CT", "MR", "NM")])
    assert score.all["removed"] >= 30
    assert score.right["removed"] >= 0.9 * score.all["removed"]
    assert score.right["kept"] >= 0.5 * score.all["kept"]
    assert (score.faulty, score.held) == ([], 0)
