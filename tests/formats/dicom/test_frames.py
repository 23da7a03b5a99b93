"""The frames of an instance: every way of storing them gives the values of pydicom, and lies are refused."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pydicom.data
import pytest
from pydicom import dcmread
from pydicom.pixels.processing import convert_color_space
from pydicom.uid import ExplicitVRBigEndian, ImplicitVRLittleEndian

from incognote.errors import MalformedRecord, RecordProblem, UnsupportedFormat
from incognote.formats.dicom.frames import PixelFrames, pixels_of
from incognote.formats.dicom.stream import read_file

from . import drawn

SAMPLES = Path(pydicom.data.__file__).parent / "test_files"
GRAY = np.arange(12 * 16, dtype=np.uint16).reshape(12, 16)


def _frames(data: bytes) -> PixelFrames:
    found = pixels_of(read_file(data, 2**28))
    assert found is not None
    return found


@pytest.mark.parametrize(
    "name",
    ["MR_small_expb", "MR_small_implicit", "MR_small_RLE", "MR_small_jpeg_ls_lossless", "MR_small_jp2klossless",
     "SC_rgb_rle_2frame", "SC_rgb_jpeg_dcmtk", "examples_ybr_color", "rtdose_expb", "liver_expb_1frame",
     "J2K_pixelrep_mismatch", "SC_rgb_rle_16bit_2frame", "JPEGLSNearLossless_16", "examples_palette", "693_J2KI"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::UserWarning:pydicom")
def test_frames_are_those_of_pydicom(name: str) -> None:
    data = (SAMPLES / f"{name}.dcm").read_bytes()
    wanted, frames = dcmread(io.BytesIO(data)).pixel_array, _frames(data)
    found = np.array(list(frames))
    assert np.array_equal(found.reshape(wanted.shape), wanted)


def test_colors_that_two_pixels_share_are_given_to_both() -> None:
    data = (SAMPLES / "SC_ybr_full_422_uncompressed.dcm").read_bytes()
    [frame] = _frames(data)
    assert np.array_equal(convert_color_space(frame, "YBR_FULL", "RGB"), dcmread(io.BytesIO(data)).pixel_array)


def test_lossless_jpeg_is_decoded() -> None:
    from incognote_benchmarks.dicom_burned import burned

    instance = next(each for each in burned(2, 5) if each.syntax.startswith("JPEG Lossless"))
    [frame] = _frames(instance.data)
    assert np.array_equal(frame, dcmread(io.BytesIO(instance.data)).pixel_array)


@pytest.mark.parametrize("syntax", [ImplicitVRLittleEndian, ExplicitVRBigEndian])
def test_bytes_of_words_are_in_order(syntax: str) -> None:
    frames = [np.arange(9 * 9, dtype=np.uint8).reshape(9, 9) + at for at in range(3)]
    made = drawn.image(*frames)
    whole = np.frombuffer(made.PixelData + b"\0", np.uint8)
    swapped = whole.reshape(-1, 2)[:, ::-1].tobytes() if syntax == ExplicitVRBigEndian else whole.tobytes()
    made.PixelData = swapped
    made["PixelData"].VR = "OW"
    assert np.array_equal(list(_frames(drawn.packed(made, syntax))), frames)


@pytest.mark.parametrize(
    "lie",
    [{"Rows": 13}, {"Rows": 11}, {"NumberOfFrames": 2}, {"NumberOfFrames": "0"}, {"NumberOfFrames": "99999999999"},
     {"Columns": 0}, {"Rows": 65535, "Columns": 65535}, {"BitsAllocated": 8, "BitsStored": 8}],
)  # fmt: skip
def test_pixels_that_are_not_as_many_as_the_header_says_are_refused(lie: dict[str, Any]) -> None:
    with pytest.raises(MalformedRecord):
        _frames(drawn.file_of(GRAY, **lie))


@pytest.mark.parametrize(
    "odd",
    [{"PhotometricInterpretation": "HSV"}, {"BitsAllocated": 12}, {"SamplesPerPixel": 4}, {"BitsStored": 17}],
)
def test_unusual_pixels_are_refused(odd: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedFormat):
        _frames(drawn.file_of(GRAY, **odd))


@pytest.mark.parametrize("lie", [(b"\x10\x00\x28\x00US\x02\x00", 2), (b"\x08\x00\x28\x00IS\x02\x00", 0)])
def test_compressed_frames_of_another_size_or_number_are_refused(lie: tuple[bytes, int]) -> None:
    name = "MR_small_RLE" if lie[1] else "SC_rgb_rle_2frame"
    data = (SAMPLES / f"{name}.dcm").read_bytes()
    tag = b"\x28\x00\x10\x00US\x02\x00" if lie[1] else b"\x28\x00\x08\x00IS\x02\x00"
    at = data.index(tag) + len(tag)
    new = (61).to_bytes(2, "little") if lie[1] else b"3 "
    with pytest.raises(RecordProblem):
        list(_frames(data[:at] + new + data[at + 2 :]))


def test_an_instance_without_pixels_has_no_frames() -> None:
    made = drawn.image(GRAY)
    del made.PixelData
    assert pixels_of(read_file(drawn.packed(made), 2**20)) is None
