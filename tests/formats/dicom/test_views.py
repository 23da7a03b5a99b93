"""Pictures of frames: windows, colors, palettes, and the value that shows black."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from incognote.errors import MalformedRecord
from incognote.formats.dicom.frames import pixels_of
from incognote.formats.dicom.stream import read_file
from incognote.formats.dicom.views import FrameViews, counted

from . import drawn


def _views(*frames: Any, **more: Any) -> tuple[FrameViews, Any]:
    file = read_file(drawn.file_of(*frames, **more), 2**26)
    found = pixels_of(file)
    assert found is not None
    return FrameViews(file, found.kind), next(iter(found))


def test_gray_is_scaled_from_its_least_to_its_greatest_value_and_by_its_window() -> None:
    values = np.linspace(0, 30_000, 64 * 64).astype(np.int16).reshape(64, 64)
    views, frame = _views(values, PixelRepresentation=1, WindowCenter="1000", WindowWidth="500")
    whole, window = views.pictures(views.values(frame))
    assert (whole.min(), whole.max()) == (0, 255)
    assert float((window == 255).mean()) > 0.9
    assert (views.black(-5, 30_000), views.values(frame)[0, 0]) == (-5, 0)


def test_inverted_gray_is_black_at_its_greatest_value() -> None:
    views, _ = _views(np.zeros((9, 9), np.uint8), PhotometricInterpretation="MONOCHROME1")
    assert views.black(3, 250) == 250


def test_colored_letters_are_as_bright_as_white_ones_in_one_picture() -> None:
    red = np.zeros((20, 20, 3), np.uint8)
    red[5:15, 5:15, 0] = 255
    views, frame = _views(red)
    assert [int(picture.max()) for picture in views.pictures(views.values(frame))] == [76, 255]
    assert views.black(0, 255) == (0, 0, 0)


def test_luma_and_chroma_become_colors() -> None:
    values = np.full((10, 10, 3), (81, 90, 240), np.uint8)
    views, frame = _views(values, PhotometricInterpretation="YBR_FULL")
    assert views.values(frame)[0, 0, 0] > 200
    assert views.black(0, 255) == (0, 128, 128)


def test_a_palette_gives_colors_and_the_index_of_its_darkest_one() -> None:
    table = bytes(range(255, -1, -1))
    lut = {f"{color}PaletteColorLookupTableData": table for color in ("Red", "Green", "Blue")}
    about = {f"{color}PaletteColorLookupTableDescriptor": [256, 0, 8] for color in ("Red", "Green", "Blue")}
    values = np.arange(100, dtype=np.uint8).reshape(10, 10)
    views, frame = _views(values, PhotometricInterpretation="PALETTE COLOR", **lut, **about)
    assert views.values(frame)[0, 1].tolist() == [254, 254, 254]
    assert views.black(0, 0) == 255
    with pytest.raises(MalformedRecord):
        _views(values, PhotometricInterpretation="PALETTE COLOR", **about)


def test_bits_that_do_not_count_are_left_out() -> None:
    values = np.full((9, 9), 0xF123, np.uint16)
    views, frame = _views(values, BitsStored=12, HighBit=11)
    assert counted(frame, views.kind)[0, 0] == 0x123
    signed, frame = _views(np.full((9, 9), -7, np.int16), BitsStored=12, HighBit=11, PixelRepresentation=1)
    assert counted(frame, signed.kind)[0, 0] == -7
