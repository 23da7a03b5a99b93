"""COCO's detection format: read, written, and refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import MalformedRecord
from incognote.evaluation.coco import RegionPage, read, write
from incognote.pages.layout import KINDS
from incognote.pages.nouns import Region


@st.composite
def pages(draw: st.DrawFn) -> RegionPage:
    width, height = draw(st.integers(2, 3000)), draw(st.integers(2, 3000))
    regions = []
    for _ in range(draw(st.integers(0, 4))):
        left, top = draw(st.integers(0, width - 1)), draw(st.integers(0, height - 1))
        box = (left, top, draw(st.integers(left + 1, width)), draw(st.integers(top + 1, height)))
        regions.append(Region(draw(st.sampled_from(KINDS)), box, draw(st.floats(0, 1))))
    return RegionPage(draw(st.text(max_size=9)), width, height, tuple(regions))


@given(st.lists(pages(), max_size=4))
def test_what_is_written_is_read_back(made: list[RegionPage]) -> None:
    assert read(write(made, KINDS)) == made


def content(**changes: Any) -> bytes:
    whole: dict[str, Any] = {
        "images": [{"id": 7, "file_name": "a.png", "width": 100, "height": 50}],
        "categories": [{"id": 3, "name": "Table"}],
        "annotations": [{"id": 1, "image_id": 7, "category_id": 3, "bbox": [1.2, 2.0, 10.0, 20.4], "area": 204.0}],
    }
    return json.dumps({**whole, **changes}).encode()


def test_ids_and_fractions_of_other_programs_are_read() -> None:
    (page,) = read(content(info={"year": 2026}, licenses=[]))
    assert page.regions == (Region("Table", (1, 2, 11, 22)),)


def test_crowds_are_left_out() -> None:
    crowd = {"image_id": 7, "category_id": 3, "bbox": [1, 1, 5, 5], "iscrowd": 1}
    assert read(content(annotations=[crowd])) == [RegionPage("a.png", 100, 50)]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"\xff{}",
        content(images=[]),
        content(categories=[]),
        content(images=[{"id": 7, "file_name": "a.png", "width": 0, "height": 50}]),
        content(images=[{"id": 7, "file_name": "a.png", "width": 9, "height": 9}] * 2),
        content(annotations=[{"image_id": 7, "category_id": 3, "bbox": [1, 1, 0, 5]}]),
        content(annotations=[{"image_id": 7, "category_id": 3, "bbox": [-1, 1, 4, 5]}]),
        content(annotations=[{"image_id": 7, "category_id": 3, "bbox": [95, 1, 9, 5]}]),
        content(annotations=[{"image_id": 7, "category_id": 3, "bbox": [1, 1, 5]}]),
        content().replace(b"1.2", b"NaN"),
    ],
)
def test_other_content_is_refused(data: bytes) -> None:
    with pytest.raises(MalformedRecord, match="COCO"):
        read(data)


def test_an_error_names_no_value() -> None:
    secret = {"id": 7, "file_name": "Emily Carter.png", "width": "Emily", "height": 50}
    with pytest.raises(MalformedRecord) as caught:
        read(content(images=[secret]))
    assert "Emily" not in str(caught.value)


@pytest.mark.parametrize(
    "region", [Region("Sink", (0, 0, 5, 5)), Region("Logo", (0, 0, 11, 5)), Region("Logo", (3, 0, 3, 5))]
)
def test_regions_that_do_not_fit_are_not_written(region: Region) -> None:
    with pytest.raises(ValueError, match="region"):
        write([RegionPage("a", 10, 10, (region,))], KINDS)
