"""Readers of boxes, and pairs of gold and findings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import UsageError
from incognote.evaluation.boxes.nouns import LabeledBox, PageFile
from incognote.evaluation.boxes.reading import FAILED, content_of, page_files, pairs
from incognote.evaluation.coco import RegionPage, write
from incognote.evaluation.formats.document import CorpusProblem
from incognote.pages.nouns import Region

from .conftest import DATE, NAME, Lines, box


def test_the_first_value_tells_boxes_actions_and_texts_apart(lines: Lines, tmp_path: Path) -> None:
    assert content_of(lines("a.jsonl", [{"id": 1, "boxes": []}])) == "boxes"
    assert content_of(lines("b.jsonl", [{"id": 1, "action": "uid changed", "done": True}])) == "actions"
    assert content_of(lines("c.jsonl", [{"id": 1, "text": "", "spans": []}])) is None
    assert content_of(lines("d.jsonl", [])) is None
    assert content_of(tmp_path) is None
    assert content_of(tmp_path / "missing.jsonl") is None
    coco = tmp_path / "coco.json"
    coco.write_bytes(write([RegionPage("a.png", 9, 9)], ["Logo"]))
    assert content_of(coco) == "boxes"


def test_a_first_line_of_any_length_is_read(lines: Lines) -> None:
    long = {"words": [box(NAME)] * 3000, "id": "a", "boxes": []}
    assert len(json.dumps(long)) > 1 << 17
    assert content_of(lines("a.jsonl", [long])) == "boxes"


def test_lines_of_gold_are_read_with_their_defaults(lines: Lines) -> None:
    row = {"id": 7, "boxes": [{"x0": 1.6, "y0": 2, "x1": 3.2, "y1": 4, "type": "DATE"}], "words": [box(NAME, page=2)]}
    [file] = page_files(lines("a.jsonl", [row]))
    assert file == PageFile("7", (LabeledBox(1, (1, 2, 4, 4), "DATE"),), (LabeledBox(2, NAME),))


def test_a_word_of_signs_only_is_left_out(lines: Lines) -> None:
    words = [box(NAME, text="–"), box(DATE, text="3/5"), box(NAME)]
    [file] = page_files(lines("a.jsonl", [{"id": "a", "boxes": [], "words": words}]))
    assert isinstance(file, PageFile)
    assert [word.box for word in file.words] == [DATE, NAME]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"x1": 20}, "boxes.0"),
        ({"x0": -1}, "boxes.0.x0"),
        ({"page": 0}, "boxes.0.page"),
        ({"type": ""}, "boxes.0.type"),
        ({"y1": 1e6}, "boxes.0.y1"),
        ({"score": 2}, "boxes.0.score"),
    ],
)
def test_a_line_with_a_wrong_box_is_a_problem_that_names_the_part(
    lines: Lines, change: dict[str, Any], what: str
) -> None:
    rows = [{"id": "Ruth Hale", "boxes": [box(NAME, "PATIENT") | change]}, {"id": "b", "boxes": []}]
    problem, other = page_files(lines("a.jsonl", rows))
    assert problem == CorpusProblem("line 1", f"{what} is missing, empty, or has a wrong form")
    assert isinstance(other, PageFile)


def test_a_line_with_an_error_is_a_file_without_boxes_and_a_broken_line_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "a", "error": "damaged"}\nnot JSON\n')
    file, problem = page_files(path)
    assert file == PageFile("a", (), verdict=FAILED)
    assert problem == CorpusProblem("line 2", "not a JSON document in UTF-8")


def test_each_image_of_a_coco_file_is_a_file_with_one_page(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    region = Region("Logo", (1, 2, 5, 6), 0.5)
    path.write_bytes(write([RegionPage("a.png", 30, 20, (region,)), RegionPage("b.png", 9, 9)], ["Logo"]))
    assert list(page_files(path)) == [
        PageFile("a.png", (LabeledBox(1, (1, 2, 5, 6), "Logo", score=0.5),), size=(30, 20)),
        PageFile("b.png", (), size=(9, 9)),
    ]
    path.write_text('{"images": [], "annotations": [{"image_id": 1}]}')
    with pytest.raises(UsageError, match=r"a\.json: COCO"):
        list(page_files(path))


def test_every_gold_file_is_paired_and_what_is_missing_is_said(lines: Lines) -> None:
    gold = lines("g.jsonl", [{"id": name, "boxes": [box(DATE, "DATE")]} for name in ("a", "b", "c", "a")])
    found = lines("f.jsonl", [{"id": "a", "boxes": []}, {"id": "b", "error": "x"}, {"id": "z", "boxes": []}])
    read = list(pairs(gold, found))
    assert [(one.id, other.verdict) for one, other in (each for each in read if isinstance(each, tuple))] == [
        ("a", ""), ("b", FAILED), ("c", FAILED),
    ]  # fmt: skip
    assert [each for each in read if isinstance(each, CorpusProblem)] == [
        CorpusProblem("b", "the file could not be read; counted as nothing found", scored=True),
        CorpusProblem("c", "no line; counted as nothing found", scored=True),
        CorpusProblem("a", "the id occurs twice; the first counts"),
        CorpusProblem("z", "boxes for an id that has no gold"),
    ]


def test_a_file_that_is_not_there_is_refused_by_its_name_alone(lines: Lines, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^none\.jsonl is not a file"):
        list(pairs(lines("g.jsonl", []), tmp_path / "none.jsonl"))
