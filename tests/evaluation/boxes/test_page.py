"""The report of boxes on pages, read as text and in a browser."""

from __future__ import annotations

import json
import re
import stat
import sys
from pathlib import Path

import pytest

from incognote.evaluation.boxes.actions import actions
from incognote.evaluation.boxes.page import write_report
from incognote.evaluation.boxes.pictures import MOST
from incognote.evaluation.boxes.scored import BoxReport
from incognote.evaluation.boxes.scores import evaluate_boxes
from incognote.evaluation.coco import RegionPage, write
from incognote.pages.nouns import Region

from ..report.browser import CHROMIUM, Browser  # noqa: TID252 -- tests are not a package, so absolute imports cannot reach them
from .conftest import Lines, box

pytest.importorskip("PIL")
pytest.importorskip("cv2")


@pytest.fixture
def page(gold: Path, found: Path, images: Path, lines: Lines, tmp_path: Path) -> Path:
    """The report with everything in it."""
    rows = [{"id": "1.dcm", "action": "uid changed", "done": each} for each in (True, True, False)]
    table = lines("actions.jsonl", rows)
    (images / "b.png").unlink()  # a problem
    report = evaluate_boxes(gold, found, images=images, actions=table, synthetic=True)
    return write_report(report, tmp_path / "report", images)


def test_the_report_says_what_is_left_in_words_and_figures(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "Of 3 identifiers, <strong>2</strong> are gone: 66.7 %" in text
    assert "something is left on <strong>1</strong>" in text
    assert "These pages are synthetic." in text
    assert "<b>Left:</b> BARCODE (barcode)<" in text
    for title in ("Summary", "Identifiers gone", "Pictures", "Tokens", "Classes", "Actions on DICOM elements",
                  "Files with problems"):  # fmt: skip
        assert f"<h2>{title}</h2>" in text
    assert "b.png: no picture in --images; areas were counted" in text


def test_the_rows_of_the_paper_are_marked_as_quoted(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("(quoted)</th>") == 7
    assert "Proposed De-identification Algorithm (quoted)</th><td>0.97</td><td>0.96</td><td>0.97</td>" in text
    assert "its authors measured them on their own images" in text.lower()


def test_the_json_has_the_figures_and_no_picture(page: Path) -> None:
    data = json.loads((page.parent / "report.json").read_text(encoding="utf-8"))
    assert data["figures"]["identifiers_gone"]["value"] == pytest.approx(2 / 3)
    assert data["pages"][0] == {
        "id": "a.png", "page": 1, "verdict": "review", "identifiers": 3, "gone": 2, "words": 3, "kept": 2,
        "touched": True,
    }  # fmt: skip
    assert data["actions"]["all"]["of"] == 3
    assert data["paper"]["BioBERT"] == {"precision": 0.86, "recall": 0.85, "f1": 0.86}
    assert "base64" not in json.dumps(data)


def test_the_page_is_phi_only_if_it_shows_pages(page: Path, gold: Path, found: Path, tmp_path: Path) -> None:
    assert "treat it as PHI" in page.read_text(encoding="utf-8")
    without = write_report(evaluate_boxes(gold, found), tmp_path / "without").read_text(encoding="utf-8")
    assert "treat it as PHI" not in without
    assert "drawn on white" in without


def test_the_page_refers_to_nothing_outside_itself(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert "<script" not in text
    bare = re.sub(r'src="data:image/jpeg;base64,[A-Za-z0-9+/=]+"', "", text)
    assert not re.search(r"src=|https?:|//[a-z]|@import|url\(", bare)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no such permissions")
def test_only_the_owner_may_read_the_report(page: Path) -> None:
    assert {stat.S_IMODE(each.stat().st_mode) for each in page.parent.iterdir()} == {0o600}


def test_a_report_shows_a_limited_number_of_pages(lines: Lines, tmp_path: Path) -> None:
    rows = [{"id": f"{n}", "boxes": [box((0, 0, 9, 9), "ID")]} for n in range(MOST + 3)]
    report = evaluate_boxes(lines("g.jsonl", rows), lines("f.jsonl", [{**row, "boxes": []} for row in rows]))
    text = write_report(report, tmp_path / "many").read_text(encoding="utf-8")
    assert text.count("<img ") == MOST
    assert f"The {MOST} pages with the most identifiers left." in text


def test_names_are_shown_and_not_run(lines: Lines, tmp_path: Path) -> None:
    hostile = "</figcaption><img src=x onerror=alert(1)> $title & \"Hale'"
    rows = [{"id": hostile, "boxes": [box((0, 0, 9, 9), hostile, ink=hostile)]}]
    report = evaluate_boxes(lines("g.jsonl", rows), lines("f.jsonl", []))
    text = write_report(report, tmp_path / "hostile").read_text(encoding="utf-8")
    assert "<img src=x" not in text
    assert "&lt;img src=x onerror=alert(1)&gt; $title &amp; &quot;Hale&#x27;" in text


def test_a_report_on_regions_shows_which_are_missed_and_quotes_the_paper(tmp_path: Path) -> None:
    gold, found = tmp_path / "gold.json", tmp_path / "found.json"
    regions = (Region("Logo", (0, 0, 50, 50)), Region("Table", (0, 60, 90, 90)))
    gold.write_bytes(write([RegionPage("a.png", 100, 100, regions)], ["Logo", "Table"]))
    found.write_bytes(write([RegionPage("a.png", 100, 100, regions[:1])], ["Logo"]))
    text = write_report(evaluate_boxes(gold, found), tmp_path / "regions").read_text(encoding="utf-8")
    assert "1 of 2 regions found<br><b>Missed:</b> Table<" in text
    assert "Table 3) states a precision of 0.91" in text
    assert "another word" not in text
    assert "<h2>Summary</h2>" not in text


def test_actions_alone_make_a_report(lines: Lines, tmp_path: Path) -> None:
    table = actions(lines("a.jsonl", [{"id": "1.dcm", "action": "uid changed", "done": True}]))
    text = write_report(BoxReport("study", None, actions=table), tmp_path / "a").read_text(encoding="utf-8")
    assert "<h1>Actions: study</h1>" in text
    assert "97.91% to 99.93% of the required actions" in text
    assert "PHI" not in text


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)")
def test_the_page_is_accessible_and_fits_its_window(page: Path) -> None:
    with Browser() as browser:
        for width in (1280, 400):
            for scheme in ("light", "dark"):
                browser.open(page, width, scheme="light" if scheme == "light" else "dark")
                assert browser.accessibility() == []
                assert browser.run("document.documentElement.scrollWidth") == width
        assert browser.run("Promise.all([...document.images].map(each => each.decode())).then(all => all.length)") == 2
        assert browser.errors == []
