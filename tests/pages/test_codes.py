"""Codes are found whole, in any direction; damaged ones are found by their bars or squares; text is not a code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from incognote.pages.codes import KIND, codes
from incognote.pages.nouns import Box, Region

from .drawn import NOTE, WHITE, page

FORMATS = ("Code128", "Code39", "ITF", "EAN13", "QRCode", "DataMatrix", "PDF417", "Aztec")


def _symbol(kind: str, width: int, height: int | None = None) -> Any:
    """A symbol without a quiet zone."""
    zxingcpp = pytest.importorskip("zxingcpp", reason="the extra `images` is not installed")
    cv2 = pytest.importorskip("cv2", reason="the extra `images` is not installed")
    payload = "123456789012" if kind in ("EAN13", "ITF") else "MRN88209317"
    code = zxingcpp.create_barcode(payload, getattr(zxingcpp.BarcodeFormat, kind))
    picture = np.asarray(code.to_image(scale=1, add_quiet_zones=False))
    if picture.shape[0] < 5 and height is None:
        height = width // 4
    size = (width, height or width * picture.shape[0] // picture.shape[1])
    return cv2.resize(picture, size, interpolation=cv2.INTER_NEAREST)


def _placed(symbol: Any, left: int = 300, top: int = 380) -> tuple[Any, Box]:
    """A page of text with a symbol, and the symbol's box."""
    image = page(*NOTE, size=(1100, 900))
    height, width = symbol.shape
    image[top : top + height, left : left + width] = symbol
    return image, (left, top, left + width, top + height)


def _covers(region: Region, box: Box) -> bool:
    """Whether a region covers a box up to a few pixels, and not much more."""
    left, top, right, bottom = region.box
    slack = 0.03 * max(box[2] - box[0], box[3] - box[1]) + 3
    pairs = ((left, box[0]), (top, box[1]), (box[2], right), (box[3], bottom))
    return all(-12 - slack < theirs - ours < 12 + slack and ours <= theirs + slack for ours, theirs in pairs)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_code_on_a_page_is_found_whole(kind: str) -> None:
    size = (400, 100) if kind in ("Code128", "Code39", "ITF", "EAN13") else (220, None)
    image, box = _placed(_symbol(kind, *size))
    [region] = codes(image, 200)

    assert (region.kind, region.score, region.sources) == (KIND, 1.0, ("barcode",))
    assert _covers(region, box), (region.box, box)


@pytest.mark.parametrize("turn", [1, 2, 3])
def test_a_turned_code_is_found_whole(turn: int) -> None:
    for symbol in (_symbol("Code128", 400, 100), _symbol("QRCode", 200)):
        image, box = _placed(np.rot90(symbol, turn))
        [region] = codes(image, 200)
        assert _covers(region, box), (region.box, box)


def test_a_light_code_on_a_dark_page_and_one_in_color_are_found() -> None:
    image, box = _placed(_symbol("QRCode", 200))

    for other in (255 - image, np.dstack([image] * 3)):
        [region] = codes(other, 200)
        assert _covers(region, box)


def test_a_small_code_is_found() -> None:
    image, box = _placed(_symbol("QRCode", 42))
    [region] = codes(image, 100)

    assert _covers(region, box)


@pytest.mark.parametrize("kind", ["Code128", "QRCode"])
@pytest.mark.parametrize("turn", [0, 1])
def test_a_code_that_cannot_be_decoded_is_found_by_its_look(kind: str, turn: int) -> None:
    symbol = _symbol(kind, *((400, 100) if kind == "Code128" else (220, 220)))
    if kind == "Code128":
        symbol[:, 100:140] = symbol[:, 140:180].copy()
    else:
        symbol[:60, :60] = WHITE
        symbol[:60:10, :60:10] = 0
        symbol[150:, :60] = symbol[80:150, 80:140]
    image, box = _placed(np.rot90(symbol, turn))
    regions = codes(image, 200)

    assert [region.sources for region in regions] == [("bars",)]
    assert regions[0].score < 1
    left, top, right, bottom = regions[0].box
    across, down = min(right, box[2]) - max(left, box[0]), min(bottom, box[3]) - max(top, box[1])
    assert across * down > 0.8 * (box[2] - box[0]) * (box[3] - box[1])


def test_text_tables_and_noise_are_no_codes() -> None:
    text = page(*NOTE)
    table = page(*NOTE, size=(1000, 800))
    table[30:700:40, 30:930] = 0
    table[30:700, 30:930:100] = 0
    noise = np.random.default_rng(0).integers(0, 256, (500, 500)).astype(np.uint8)

    for image in (text, table, noise, np.full((200, 300), WHITE, np.uint8)):
        assert codes(image, 200) == []


def test_what_a_code_holds_is_not_returned() -> None:
    assert "88209317" not in repr(codes(_placed(_symbol("QRCode", 200))[0], 200))
