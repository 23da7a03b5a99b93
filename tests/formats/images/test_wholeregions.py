"""Regions of the layout that go whole: the image paper's Algorithm 1."""

from __future__ import annotations

from typing import Any

import pytest

from incognote.formats.images import reading
from incognote.formats.images.reading import PageReading
from incognote.formats.images.wholeregions import CONSIDERABLE, KIND, considerable, phi_tokens, refined
from incognote.pages.nouns import Box, Region, Word
from incognote.sdk import Deidentifier
from tests.formats.images.made import page, pixels_of, saved

HEAD: Box = (10, 10, 300, 60)
BODY: Box = (10, 60, 300, 110)


def line(y: int, *texts: str) -> list[Word]:
    """Words in cells of one line."""
    return [Word(text, (20 + 90 * n, y, 20 + 90 * n + 8 * len(text), y + 14), 0.9, y) for n, text in enumerate(texts)]


def test_a_region_with_two_phi_tokens_goes_and_one_with_fewer_stays() -> None:
    words = [*line(20, "MRN:", "4471902"), *line(70, "Asthma,", "stable", "03/07/2024")]
    go = considerable(words, [Region("Header", HEAD, 0.9), Region("Table", BODY, 0.8)])
    assert CONSIDERABLE == 2
    assert [(each.kind, each.box) for each in go] == [(KIND, HEAD)]


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (("Patient:", "Quackenbush"), ["Patient:"]),
        (("03/07/1961",), ["03/07/1961"]),
        (("7-Mar-2024",), ["7-Mar-2024"]),
        (("front@clinic.example",), ["front@clinic.example"]),
        (("020-7946-0958",), ["020-7946-0958"]),
        (("UHID", "TR00483291"), ["UHID", "TR00483291"]),
        (("Glucose", "118", "mg/dL"), []),
        (("Asthma,", "stable"), []),
    ],
)
def test_phi_tokens_are_keywords_and_values_with_a_form(texts: tuple[str, ...], found: list[str]) -> None:
    assert phi_tokens(line(20, *texts)) == found


def test_the_region_with_the_lower_score_ends_where_the_other_begins() -> None:
    first, second = Region("Table", (0, 0, 100, 50), 0.9), Region("Header", (0, 40, 100, 90), 0.5)
    assert [each.box for each in refined([second, first])] == [(0, 0, 100, 50), (0, 50, 100, 90)]


def test_a_region_within_another_one_keeps_its_boundaries() -> None:
    outer, inner = Region("Header", (0, 0, 100, 50), 0.9), Region("Logo", (5, 5, 20, 40), 0.5)
    assert [each.box for each in refined([outer, inner])] == [outer.box, inner.box]


WORDS = (*line(20, "MRN:", "4471902"), *line(70, "Asthma,", "stable"))


@pytest.mark.parametrize(("policy", "white"), [("strict", True), ("paper-image", False)])
def test_only_paper_image_removes_the_whole_region(
    monkeypatch: pytest.MonkeyPatch, policy: str, white: bool
) -> None:
    def read(pixels: Any, dpi: float | None) -> PageReading:
        return PageReading(WORDS, WORDS, (), (Region("Header", HEAD, 0.9), Region("Table", BODY, 0.8)), 0.9)

    monkeypatch.setattr(reading, "reading_of", read)
    result = Deidentifier(policy, detectors=["rules"]).deidentify(saved(page("L"), "PNG"))
    output: Any = result.data
    made, before = pixels_of(output), pixels_of(saved(page("L"), "PNG"))
    assert bool((made[45:60, 280:300] == before[45:60, 280:300]).all()) is white  # paper within the region
    assert (made[62:110] == before[62:110]).all()
    types = {box.type for box in result.boxes}
    assert ("REGION" in types) is not white
