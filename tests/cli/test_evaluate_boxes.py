"""`incognote evaluate` on boxes of pages and on actions, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run

SIDES = {"page": 1, "x0": 10, "y0": 10, "x1": 60, "y1": 30}
OTHER = {"page": 1, "x0": 80, "y0": 10, "x1": 130, "y1": 30}


def lines(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    boxes = [{**SIDES, "type": "PATIENT"}, {**OTHER, "type": "DATE", "ink": "stamp"}]
    return lines(tmp_path / "gold.jsonl", {"id": "a.png", "boxes": boxes})


@pytest.fixture
def found(tmp_path: Path) -> Path:
    box = {**SIDES, "type": "PATIENT", "score": 0.9, "sources": ["rules"]}
    return lines(tmp_path / "found.jsonl", {"id": "a.png", "boxes": [box], "verdict": "release"})


def test_boxes_are_told_from_texts_by_their_content(run: Run, gold: Path, found: Path) -> None:
    done = run("evaluate", gold, found)
    assert done.code == 0
    for line in ("Identifiers gone", "gone, by type", "gone, by ink", "class, IoU 0.5", "--metrics all"):
        assert line in done.out
    assert run("evaluate", gold, "--pred", found, "--json").data == run("evaluate", gold, found, "--json").data


def test_each_class_is_shown_on_request(run: Run, gold: Path, found: Path) -> None:
    short, whole = (run("evaluate", gold, found, *more).out for more in ((), ("--metrics", "all")))
    assert short.count("PATIENT") == 1
    assert whole.count("PATIENT") == 2


def test_the_json_has_the_figures(run: Run, gold: Path, found: Path) -> None:
    told = run("evaluate", gold, found, "--json", "--corpus", "dev", "--synthetic", "--resamples", "20").data
    assert told["figures"]["identifiers_gone"]["value"] == 0.5
    assert told["classes"]["all"]["score"]["precision"]["value"] == 1
    assert (told["corpus"], told["synthetic"], told["resamples"]) == ("dev", True, 20)


def test_a_report_is_written_where_asked_and_replaced_only_if_asked(
    run: Run, gold: Path, found: Path, tmp_path: Path
) -> None:
    image = pytest.importorskip("PIL.Image")
    pytest.importorskip("cv2")
    (tmp_path / "pages").mkdir()
    image.new("L", (200, 100), 255).save(tmp_path / "pages" / "a.png")
    out = tmp_path / "out"
    asked = ("evaluate", gold, found, "--images", tmp_path / "pages", "--out", out)
    done = run(*asked)
    assert (done.code, "Treat it as PHI" in done.err) == (0, True)
    assert sorted(each.name for each in out.iterdir()) == ["report.html", "report.json"]
    again = run(*asked)
    assert (again.code, "report.html of --out already exists" in again.err) == (2, True)
    without = run(*asked, "--overwrite", "--no-pictures", "--json")
    assert (without.code, without.err) == (0, "")
    assert without.data["page"] == str(out / "report.html")
    assert "treat it as PHI" not in (out / "report.html").read_text(encoding="utf-8")


def test_a_file_with_a_problem_makes_the_exit_code_1(run: Run, gold: Path, tmp_path: Path) -> None:
    done = run("evaluate", gold, lines(tmp_path / "f.jsonl", {"id": "a.png", "error": "malformed: damaged"}))
    assert done.code == 1
    assert "problem: a.png: the file could not be read; counted as nothing found" in done.out


def test_the_threshold_of_the_classes_can_be_set(run: Run, gold: Path, tmp_path: Path) -> None:
    half = lines(tmp_path / "f.jsonl", {"id": "a.png", "boxes": [{**SIDES, "x1": 40, "type": "PATIENT"}]})
    told = [run("evaluate", gold, half, "--json", "--iou", each).data["classes"] for each in ("0.5", "0.7")]
    assert [each["PATIENT"]["score"]["recall"]["value"] for each in told] == [1, 0]


def test_actions_are_told_by_their_content_and_also_scored_beside_boxes(
    run: Run, gold: Path, found: Path, tmp_path: Path
) -> None:
    rows = ({"id": "1.dcm", "action": "uid changed", "required": True, "done": each} for each in (True, False))
    table = lines(tmp_path / "study.jsonl", *rows)
    alone = run("evaluate", table, "--json").data
    assert (alone["actions"]["uid changed"]["value"], alone["corpus"], alone["files"]) == (0.5, "study", 0)
    assert "uid changed" in run("evaluate", table, "--out", tmp_path / "out").out
    assert run("evaluate", gold, found, "--actions", table, "--json").data["actions"] == alone["actions"]
    wrong = run("evaluate", table, found)
    assert (wrong.code, "GOLD holds actions alone" in wrong.err) == (2, True)


def test_options_that_do_not_fit_the_gold_are_refused(run: Run, gold: Path, found: Path, tmp_path: Path) -> None:
    none = run("evaluate", gold)
    assert (none.code, "incognote detect FOLDER --out FOUND" in none.err) == (2, True)
    several = run("evaluate", gold, found, "--pred", f"b={found}")
    assert (several.code, "Name one file of boxes" in several.err) == (2, True)
    texts = lines(tmp_path / "texts.jsonl", {"id": "1", "text": "Ruth", "spans": []})
    asked = run("evaluate", texts, "--images", tmp_path, "--no-pictures")
    assert (asked.code, "GOLD holds no boxes on pages. Remove --images, --no-pictures." in asked.err) == (2, True)
    html = run("evaluate", gold, found, "--html", tmp_path / "p.html", "--types", "DATE")
    assert (html.code, "Remove --html, --types." in html.err) == (2, True)


def test_spans_of_texts_can_be_named_without_an_option(run: Run, tmp_path: Path) -> None:
    span = {"start": 0, "end": 4, "type": "PATIENT"}
    gold = lines(tmp_path / "gold.jsonl", {"id": "1", "text": "Ruth left.", "spans": [span]})
    found = lines(tmp_path / "found.jsonl", {"id": "1", "spans": [span]})
    assert run("evaluate", gold, found, "--json").data == run("evaluate", gold, "--pred", found, "--json").data
