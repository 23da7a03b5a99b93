"""The shipped layout detector."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import cv2
import numpy as np
import pytest
import zxingcpp

from incognote.errors import IncognoteError
from incognote.pages.boxes import overlaps
from incognote.pages.layout import CARD, KINDS, MODEL, LayoutDetector
from incognote.pages.nouns import Region


@pytest.fixture(scope="module")
def detector() -> LayoutDetector:
    return LayoutDetector()


def blank(height: int = 1123, width: int = 794) -> np.ndarray:
    return np.full((height, width), 255, np.uint8)


def say(page: np.ndarray, text: str, x: int, y: int, size: float = 0.45) -> None:
    cv2.putText(page, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, size, 0, 1, cv2.LINE_AA)


def with_table(page: np.ndarray, top: int = 400) -> tuple[int, int, int, int]:
    """Draw a ruled table of five columns and twelve rows."""
    left, right, row = 60, 734, 26
    for number in range(13):
        cv2.line(page, (left, top + number * row), (right, top + number * row), 0, 1)
    for x in np.linspace(left, right, 6).astype(int):
        cv2.line(page, (int(x), top), (int(x), top + 12 * row), 0, 1)
    for number in range(12):
        for column in range(5):
            text = ("Glucose", "4.1", "H", "mmol/L", "3.9 - 6.1")[column]
            say(page, text, left + 6 + column * 135, top + 18 + number * row)
    return left, top, right, top + 12 * row


def with_code(page: np.ndarray) -> tuple[int, int, int, int]:
    """Draw a QR code."""
    code = np.array(zxingcpp.create_barcode("SAMPLE 12345678", zxingcpp.BarcodeFormat.QRCode).to_image(scale=4))
    height, width = code.shape[:2]
    page[100 : 100 + height, 560 : 560 + width] = code
    return 560, 100, 560 + width, 100 + height


def found(regions: list[Region], kind: str, box: tuple[int, int, int, int]) -> bool:
    boxes = [region.box for region in regions if region.kind == kind]
    return bool(boxes) and float(overlaps(np.array(boxes, np.float32), np.array([box], np.float32)).max()) >= 0.5


@pytest.mark.parametrize("scale", [0.8, 1.0, 2.1])
def test_a_table_and_a_code_are_found_in_pixels_of_the_page(detector: LayoutDetector, scale: float) -> None:
    page = blank()
    boxes = {"Table": with_table(page), "QR_Bar_Code": with_code(page)}
    large = cv2.resize(page, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    regions = detector.find(np.asarray(large, np.uint8))
    for kind, box in boxes.items():
        left, top, right, bottom = (round(side * scale) for side in box)
        assert found(regions, kind, (left, top, right, bottom))


def test_regions_are_inside_the_page_and_sorted(detector: LayoutDetector) -> None:
    page = blank(300, 900)
    with_code(page)
    regions = LayoutDetector(lowest=0.02).find(page)
    assert regions
    assert [region.score for region in regions] == sorted((region.score for region in regions), reverse=True)
    for region in regions:
        left, top, right, bottom = region.box
        assert 0 <= left < right <= 900
        assert 0 <= top < bottom <= 300
        assert region.kind in KINDS
        assert region.sources == ("network",)


def test_a_blank_page_has_no_regions(detector: LayoutDetector) -> None:
    assert detector.find(blank()) == []


def test_the_same_page_has_the_same_regions(detector: LayoutDetector) -> None:
    page = blank()
    with_table(page)
    assert detector.find(page) == LayoutDetector().find(page)


@pytest.mark.parametrize("shape", [(1, 1), (3, 2000), (2000, 3), (640, 640)])
def test_pages_of_any_shape_are_read(detector: LayoutDetector, shape: tuple[int, int]) -> None:
    detector.find(np.full(shape, 255, np.uint8))


@pytest.mark.parametrize(
    "page", [np.zeros((9, 9, 3), np.uint8), np.zeros((9, 9), np.float32), np.zeros((0, 9), np.uint8)]
)
def test_what_is_no_gray_page_is_refused(detector: LayoutDetector, page: np.ndarray) -> None:
    with pytest.raises(ValueError, match="8-bit gray"):
        detector.find(page)


def test_a_network_that_does_not_match_its_card_is_refused(tmp_path: Path) -> None:
    shipped = files("incognote.pages")
    (tmp_path / CARD).write_bytes(shipped.joinpath(CARD).read_bytes())
    (tmp_path / MODEL).write_bytes(shipped.joinpath(MODEL).read_bytes() + b"\0")
    with pytest.raises(IncognoteError, match="does not match its card"):
        LayoutDetector(tmp_path).find(blank(50, 50))


def test_the_shipped_network_is_small() -> None:
    assert len(files("incognote.pages").joinpath(MODEL).read_bytes()) < 4_000_000
