"""The process that decodes frames: damage ends neither it nor this one."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from PIL import Image

from incognote.errors import MalformedRecord, UnsupportedFormat
from incognote.formats.dicom import decoding
from incognote.formats.dicom.decoding import decoded

JPEG, EXTENDED, HTJ2K = "1.2.840.10008.1.2.4.50", "1.2.840.10008.1.2.4.51", "1.2.840.10008.1.2.4.201"
PICTURE = np.arange(40 * 60, dtype=np.uint8).reshape(40, 60)
ABOUT: dict[str, Any] = {
    "rows": 40, "columns": 60, "samples_per_pixel": 1, "number_of_frames": 1, "bits_allocated": 8, "bits_stored": 8,
    "pixel_representation": 0, "photometric_interpretation": "MONOCHROME2", "pixel_keyword": "PixelData",
}  # fmt: skip


def _jpeg() -> bytes:
    out = io.BytesIO()
    Image.fromarray(PICTURE).save(out, "JPEG", quality=95)
    return out.getvalue()


def test_a_frame_is_decoded_and_a_damaged_one_is_refused() -> None:
    found = decoded(JPEG, ABOUT, _jpeg())
    assert np.abs(found.astype(int) - PICTURE).mean() < 6
    with pytest.raises(MalformedRecord):
        decoded(JPEG, ABOUT, _jpeg()[:40])
    assert np.array_equal(decoded(JPEG, ABOUT, _jpeg()), found)


def test_a_frame_without_a_decoder_is_refused_with_the_remedy() -> None:
    with pytest.raises(UnsupportedFormat, match="Decompress"):
        decoded("1.2.840.10008.1.2.4.100", ABOUT, _jpeg())
    with pytest.raises(UnsupportedFormat, match="Decompress"):
        decoded(EXTENDED, {**ABOUT, "bits_allocated": 16, "bits_stored": 12}, b"\xff\xd8")


def test_htj2k_is_decoded_by_openjpeg() -> None:
    out = io.BytesIO()
    Image.fromarray(PICTURE).save(out, "JPEG2000", no_jp2=True)  # OpenJPEG takes both codings
    assert np.array_equal(decoded(HTJ2K, ABOUT, out.getvalue()), PICTURE)


def test_an_interrupted_frame_leaves_no_answer_for_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(line: bytes) -> None:
        raise KeyboardInterrupt

    found = decoded(JPEG, ABOUT, _jpeg())
    with monkeypatch.context() as patched:
        patched.setattr(json, "loads", interrupted)
        with pytest.raises(KeyboardInterrupt):
            decoded(JPEG, ABOUT, _jpeg())
    assert np.array_equal(decoded(JPEG, ABOUT, _jpeg()), found)


def test_a_process_that_dies_is_replaced() -> None:
    decoded(JPEG, ABOUT, _jpeg())
    process = next(iter(decoding._running.values()))
    process.kill()
    process.wait()
    assert decoded(JPEG, ABOUT, _jpeg()).shape == (40, 60)
