"""The page in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from incognote.evaluation.report.experiment import WrittenReport

from .browser import CHROMIUM, Browser

pytest.importorskip("matplotlib", reason="needs the extra evaluation")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)")


@pytest.fixture
def page(written: WrittenReport) -> Path:
    return written.page


@pytest.fixture
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened


def test_no_console_error_and_no_overflow_at_any_width_or_scheme(page: Path, browser: Browser) -> None:
    for width in (1280, 400):
        for scheme in ("light", "dark"):
            browser.open(page, width, scheme="dark" if scheme == "dark" else "light")
            browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
            assert browser.run("document.documentElement.scrollWidth") == width
            assert browser.accessibility() == []
            assert browser.run(
                "[...document.querySelectorAll('svg')].every(svg => svg.getBoundingClientRect().width > 200)"
            )
    assert browser.errors == []


def choose(browser: Browser, name: str, value: str) -> None:
    """Choose an option of the select element with that name."""
    browser.run(f"document.querySelector('select[name={name}]').value = '{value}'")
    browser.run(f"document.querySelector('select[name={name}]').dispatchEvent(new Event('change'))")


def test_the_browser_of_errors_filters_and_moves_by_keys(page: Path, browser: Browser) -> None:
    browser.open(page, 1280)
    assert browser.run("document.querySelector('output').textContent") == "8 of 8 shown"
    shown = "[...document.querySelectorAll('li[data-kind]')].filter(item => item.offsetParent).length"
    choose(browser, "kind", "missed")
    assert browser.run(shown) == 5
    choose(browser, "system", "2")
    assert browser.run(shown) == 1
    choose(browser, "system", "")
    browser.run("document.querySelector('.browser li:not([hidden])').focus()")
    first = browser.run("document.activeElement.textContent")
    browser.press("j")
    second = browser.run("document.activeElement.textContent")
    assert second != first
    browser.press("k")
    assert browser.run("document.activeElement.textContent") == first
    assert browser.errors == []


def test_a_script_that_is_not_the_page_s_own_does_not_run(page: Path, browser: Browser, tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    text = page.read_text(encoding="utf-8").replace("</main>", "<img src=x onerror='window.hit = 1'></main>")
    broken.write_text(text, encoding="utf-8")
    browser.open(broken, 1280)
    assert browser.run("window.hit === undefined")
    assert any("Content Security Policy" in error for error in browser.errors)


def test_the_accessibility_check_reports_serious_findings_and_nothing_on_a_sound_page(
    browser: Browser, tmp_path: Path
) -> None:
    sound = '<!doctype html><html lang="en"><title>t</title><main><h1>Report</h1>{}</main></html>'
    page = tmp_path / "page.html"
    page.write_text(sound.format(""))
    browser.open(page, 400)
    assert browser.accessibility() == []
    page.write_text(sound.format('<img src="data:,"><p style="color:#bbb;background:#fff">faint</p><input>'))
    browser.open(page, 400)
    rules = [finding.partition(":")[0] for finding in browser.accessibility()]
    assert rules == ["color-contrast", "image-alt", "label"]
