"""Scores of the two pages of `conftest.py`, by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from incognote.errors import UsageError
from incognote.evaluation.boxes.scored import PAPER
from incognote.evaluation.boxes.scores import evaluate_boxes
from incognote.evaluation.coco import RegionPage, write
from incognote.evaluation.intervals import Figure, share
from incognote.pages.nouns import Region

from .conftest import GOLD, Lines, box


def counted(figure: Figure) -> tuple[float | None, int]:
    return figure.value, figure.of


def test_without_pictures_areas_count(gold: Path, found: Path) -> None:
    report = evaluate_boxes(gold, found)
    figures = {name: counted(one) for name, one in report.figures.items()}
    assert figures == {
        "identifiers_gone": (pytest.approx(1 / 3), 3),
        "words_kept": (0.75, 4),
        "pages_clean": (0, 1),
        "free_pages_touched": (0, 1),
        "pages_released": (0.5, 2),
        "released_pages_clean": (None, 0),
    }
    assert {name: counted(one) for name, one in report.types.items()} == {
        "BARCODE": (0, 1), "DATE": (0, 1), "PATIENT": (1, 1),
    }  # fmt: skip
    assert {name: counted(one) for name, one in report.inks.items()} == {
        "barcode": (0, 1), "handwriting": (0, 1), "print": (1, 1),
    }  # fmt: skip
    assert (report.images, report.regions, report.by_area, report.problems) == (False, False, 3, ())


def test_tokens_are_words_of_identifiers_and_boxes_without_words(gold: Path, found: Path) -> None:
    tokens = evaluate_boxes(gold, found).tokens
    assert tokens is not None
    assert (counted(tokens.precision), counted(tokens.recall)) == ((pytest.approx(2 / 3), 3), (0.5, 4))
    assert tokens.f1.value == pytest.approx(4 / 7)


def test_with_pictures_ink_counts(gold: Path, found: Path, images: Path) -> None:
    pytest.importorskip("cv2")
    report = evaluate_boxes(gold, found, images=images)
    assert counted(report.figures["identifiers_gone"]) == (pytest.approx(2 / 3), 3)  # half of the date is blank
    assert counted(report.types["DATE"]) == (1, 1)
    assert (report.images, report.by_area, report.problems) == (True, 0, ())


def test_a_page_without_a_picture_is_said(gold: Path, found: Path, images: Path) -> None:
    pytest.importorskip("cv2")
    (images / "a.png").unlink()
    report = evaluate_boxes(gold, found, images=images)
    assert [(each.id, each.what, each.scored) for each in report.problems] == [
        ("a.png", "no picture in --images; areas were counted", True)
    ]
    assert counted(report.figures["identifiers_gone"]) == (pytest.approx(1 / 3), 3)


def test_boxes_of_another_picture_are_said(lines: Lines, found: Path, images: Path) -> None:
    pytest.importorskip("cv2")
    boxes = [box((280, 10, 320, 20), "ID"), box((5, 5, 9, 9), "ID", page=2)]
    gold = lines("g.jsonl", [{"id": "a.png", "boxes": boxes}])
    report = evaluate_boxes(gold, found, images=images)
    assert [each.what for each in report.problems if each.id == "a.png"] == [
        "boxes reach beyond page 1. Were they drawn on this picture?", "no picture of page 2; areas were counted",
    ]  # fmt: skip


def test_boxes_on_a_page_without_gold_touch_it(lines: Lines) -> None:
    gold = lines("g.jsonl", [{"id": "a", "boxes": [box((0, 0, 9, 9), "ID")]}])
    found = lines("f.jsonl", [{"id": "a", "boxes": [box((0, 0, 9, 9), "ID"), box((0, 0, 9, 9), "ID", page=3)]}])
    report = evaluate_boxes(gold, found)
    assert [(page.number, page.is_clean, bool(page.judged.covers)) for page in report.pages] == [
        (1, True, True), (3, True, True),
    ]  # fmt: skip
    assert counted(report.figures["free_pages_touched"]) == (1, 1)
    assert counted(report.figures["pages_clean"]) == (1, 1)
    assert "pages_released" not in report.figures


def test_shares_at_an_end_have_an_interval_with_width(gold: Path, found: Path) -> None:
    report = evaluate_boxes(gold, found)
    assert report.types["PATIENT"] == share(1, 1)
    assert report.types["DATE"] == share(0, 1)


def test_the_worst_pages_come_first(lines: Lines) -> None:
    one, two = box((0, 0, 9, 9), "ID"), box((20, 0, 29, 9), "ID")
    gold = lines("g.jsonl", [{"id": "clean", "boxes": [one]}, {"id": "worst", "boxes": [one, two]},
                             {"id": "bad", "boxes": [one]}])  # fmt: skip
    rows = [{"id": "clean", "boxes": [one]}, {"id": "worst", "boxes": []}, {"id": "bad", "boxes": []}]
    found = lines("f.jsonl", rows)
    assert [page.id for page in evaluate_boxes(gold, found).pages] == ["worst", "bad", "clean"]


def test_of_regions_only_the_classes_are_scored(tmp_path: Path) -> None:
    gold, found = tmp_path / "gold.json", tmp_path / "found.json"
    regions = (Region("Logo", (0, 0, 50, 50)), Region("Table", (0, 60, 90, 90)))
    gold.write_bytes(write([RegionPage("a.png", 100, 100, regions)], ["Logo", "Table"]))
    found.write_bytes(write([RegionPage("a.png", 100, 100, regions[:1])], ["Logo"]))
    report = evaluate_boxes(gold, found)
    assert (report.regions, report.figures, report.tokens, report.as_dict()["pages"]) == (True, {}, None, [])
    assert [(each.type, hit) for each, hit in report.pages[0].judged.identifiers] == [("Logo", True), ("Table", False)]
    assert report.classes["all"].score.recall.value == 0.5
    assert report.corpus == "gold"


def test_the_same_boxes_are_scored_alike_from_lines_and_from_coco(lines: Lines, tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    sides = (18, 18, 122, 42)
    path.write_bytes(write([RegionPage("a.png", 300, 160, (Region("PATIENT", sides),))], ["PATIENT"]))
    line = lines("f.jsonl", [{"id": "a.png", "boxes": [box(sides, "PATIENT")]}])
    gold = lines("g.jsonl", GOLD[:1])
    assert evaluate_boxes(gold, path).as_dict() == evaluate_boxes(gold, line).as_dict()


def test_gold_without_a_usable_line_is_refused(lines: Lines, found: Path) -> None:
    with pytest.raises(UsageError, match=r"No gold, no score: no line of g\.jsonl can be scored"):
        evaluate_boxes(lines("g.jsonl", [{"id": "a", "boxes": [{"x0": 1}]}]), found)


def test_the_quoted_rows_are_consistent_with_their_f1() -> None:
    for precision, recall, f1 in PAPER.values():
        assert 2 * precision * recall / (precision + recall) == pytest.approx(f1, abs=0.0101)
    assert len(PAPER) == 7
