"""The reviewers' pages and the error page in a real browser: keyboard shortcuts, and axe-core."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from incognote.evaluation import evaluate
from incognote.evaluation.lab.review import page as lab_page
from incognote.evaluation.sampling.outputs import review_page

from .report.browser import CHROMIUM, Browser

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


def shown(browser: Browser, folder: Path, html: str, width: int = 1280) -> None:
    browser.errors.clear()
    (folder / "page.html").write_text(html, encoding="utf-8")
    browser.open(folder / "page.html", width)


def text(browser: Browser, selector: str) -> Any:
    return browser.run(f"document.querySelector('{selector}').textContent")


@pytest.mark.parametrize("width", [1280, 400])
def test_released_documents_are_reviewed_by_keys(browser: Browser, tmp_path: Path, width: int) -> None:
    items = [{"id": "a", "text": "Seen by Emily Carter."}, {"id": "b", "text": "K+ 4.1"}]
    shown(browser, tmp_path, review_page(items, f"set-{width}", 1), width)
    assert browser.accessibility() == []
    for _ in range(3):
        browser.press("ArrowRight")
    browser.press("ArrowRight", shift=True)
    browser.press("1")
    assert text(browser, "mark") == "Emily Carter"
    assert browser.accessibility() == []
    browser.press("u")
    browser.press("Enter")
    assert text(browser, "#state") == "Not decided"  # the next item
    assert text(browser, "#count") == "1 of 2 decided"
    browser.press("k")
    assert text(browser, "#state") == "Decided: no leak"
    assert browser.run("document.documentElement.scrollWidth") == width
    assert browser.errors == []


@pytest.mark.parametrize("width", [1280, 400])
def test_spans_of_a_prompt_lab_are_reviewed_by_keys(browser: Browser, tmp_path: Path, width: int) -> None:
    row = {"before": "Seen by ", "words": "Emily", "after": " here.", "start": 8, "types": []}
    rows = [{"item": "1", **row, "marked": True}, {"item": "2", **row, "marked": False}]
    shown(browser, tmp_path, lab_page(rows), width)
    assert browser.accessibility() == []
    assert text(browser, "#question") == "Are all highlighted words part of an identifier?"
    browser.press("a")
    assert text(browser, "#question") == "Do the blue words hold an identifier?"
    assert text(browser, "#left") == "1 left"
    browser.press("r")
    assert text(browser, "#left") == "All decided. Save your decisions."
    browser.press("s")  # otherwise the browser asks for confirmation before it leaves the page
    assert browser.accessibility() == []
    assert browser.run("document.documentElement.scrollWidth") == width
    assert browser.errors == []


def test_the_page_of_errors_is_accessible(browser: Browser, gold: Path, found: Path, tmp_path: Path) -> None:
    evaluate(gold, found, page=tmp_path / "page.html")
    for width in (1280, 400):
        browser.open(tmp_path / "page.html", width)
        assert browser.accessibility() == []
        assert browser.run("document.documentElement.scrollWidth") == width
