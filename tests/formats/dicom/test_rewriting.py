"""Outputs with covered pixels: their values, their attributes, and what is checked of them."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pydicom.data
import pytest
from pydicom import dcmread
from pydicom.uid import ExplicitVRBigEndian, ExplicitVRLittleEndian

from incognote.errors import MalformedRecord
from incognote.formats.base import FieldEdit, TextEdit
from incognote.formats.dicom.document import DicomDocument
from incognote.formats.dicom.pixels import FIELD, PixelText
from incognote.formats.dicom.rewriting import new_pixels, verify
from incognote.formats.dicom.stream import DicomFile, read_file

from . import drawn

SAMPLES = Path(pydicom.data.__file__).parent / "test_files"
BOX = (2, 3, 30, 20)


def _opened(data: bytes) -> tuple[DicomFile, PixelText]:
    file = read_file(data, 2**28)
    return file, PixelText(file, ())


@pytest.mark.filterwarnings("ignore::UserWarning:pydicom")
@pytest.mark.parametrize(
    ("name", "photometric"),
    [("MR_small_RLE", "MONOCHROME2"), ("SC_rgb_jpeg_dcmtk", "RGB"), ("SC_rgb_rle_2frame", "RGB"),
     ("SC_ybr_full_422_uncompressed", "YBR_FULL"), ("MR_small_expb", "MONOCHROME2"), ("SC_rgb_dcmtk_+eb+cr", "RGB")],
)  # fmt: skip
def test_covered_pixels_are_black_and_all_others_are_the_same(name: str, photometric: str) -> None:
    data = (SAMPLES / f"{name}.dcm").read_bytes()
    document, out = DicomDocument(data), io.BytesIO()
    document._pixels.covers = lambda changes: [BOX]  # type: ignore[method-assign]  # whatever was read
    document.__dict__["texts"] = ()
    edits = [FieldEdit(action, action.text.content) for action in document.actions]
    document.rebuild(edits, out)
    before, made = dcmread(io.BytesIO(data)), dcmread(io.BytesIO(out.getvalue()))
    big = before.file_meta.TransferSyntaxUID == ExplicitVRBigEndian
    assert made.file_meta.TransferSyntaxUID == (ExplicitVRBigEndian if big else ExplicitVRLittleEndian)
    assert made.PhotometricInterpretation == photometric
    old, new = before.pixel_array.copy(), made.pixel_array
    left, top, right, bottom = BOX
    if old.ndim == 2:
        old[top:bottom, left:right] = old.min()
    else:
        old[..., top:bottom, left:right, :] = 0
    assert np.array_equal(old, new)
    verify(document._pixels, [BOX], DicomDocument(out.getvalue())._pixels.frames)


def test_pixels_that_nothing_covers_keep_their_compressed_bytes() -> None:
    file, pixels = _opened((SAMPLES / "MR_small_RLE.dcm").read_bytes())
    made = new_pixels(file, pixels, [])
    assert (made.values, made.added) == ({}, {0x00280301: ("CS", b"NO")})


def test_bits_that_do_not_count_are_cleared() -> None:
    hidden = np.full((9, 9), 0xF123, np.uint16)
    file, pixels = _opened(drawn.file_of(hidden, BitsStored=12, HighBit=11))
    made = new_pixels(file, pixels, [])
    assert pixels.frames is not None
    assert made.values[pixels.frames.element] == np.full((9, 9), 0x123, np.uint16).tobytes()


def test_an_output_with_other_pixels_is_refused() -> None:
    frame = drawn.screen()
    _, original = _opened(drawn.file_of(frame))
    other = frame.copy()
    other[100, 100] = 7
    _, changed = _opened(drawn.file_of(other))
    assert changed.frames is not None
    with pytest.raises(MalformedRecord, match="other pixels"):
        verify(original, [], changed.frames)
    with pytest.raises(MalformedRecord, match="other pixels"):
        verify(original, [BOX], changed.frames)
    with pytest.raises(MalformedRecord, match="other pixels"):
        verify(original, [], None)
    _, more = _opened(drawn.file_of(frame, frame))
    with pytest.raises(MalformedRecord, match="other frames"):
        verify(original, [BOX], more.frames)


def test_least_and_greatest_values_are_left_out_of_changed_pixels() -> None:
    data = drawn.file_of(drawn.screen(), SmallestImagePixelValue=0, LargestImagePixelValue=255)
    document, out = DicomDocument(data), io.BytesIO()
    page = document._pixels.page
    edits = [FieldEdit(action, action.text.content) for action in document.actions]
    spans = [(each.start, each.end) for each in page.findings]
    document.rebuild([*edits, *(TextEdit(FIELD, *span, "") for span in spans)], out)
    made = dcmread(io.BytesIO(out.getvalue()))
    assert "LargestImagePixelValue" not in made
    assert not made.pixel_array[16:26, 14:120].any()
