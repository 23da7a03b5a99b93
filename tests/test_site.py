"""The docs site builds in strict mode, contains the complete reference, and works from disk without a network."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from incognote.reasons import reason_texts
from incognote.schemas.catalogue import catalogue
from incognote.settings import ServiceSettings, Settings

from .evaluation.report.browser import CHROMIUM, Browser

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "build_docs.py"
SEARCH = """[...document.querySelectorAll('*')]
  .flatMap(e => e.shadowRoot ? [...e.shadowRoot.querySelectorAll('a')] : [])
  .filter(a => a.href.includes('.html')).map(a => a.href)"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("zensical")
    build = tmp_path_factory.mktemp("docs")
    done = subprocess.run([sys.executable, SCRIPT, build], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return build / "site"


def anchors(page: Path) -> set[str]:
    return set(re.findall(r'id="([^"]+)"', page.read_text("utf-8")))


def test_the_reference_has_every_setting_code_type_command_and_class(site: Path) -> None:
    import incognote

    reference = site / "reference"
    service = {f"service.{name}" for name in ServiceSettings.model_fields}
    assert {*Settings.model_fields, *service} <= anchors(reference / "settings.html")
    assert reason_texts().keys() <= anchors(reference / "reason-codes.html")
    assert catalogue().keys() <= anchors(reference / "entity-types.html")
    classes = {name for name in incognote.__all__ if not issubclass(getattr(incognote, name), Exception)}
    assert {name.rpartition(".")[2] for name in anchors(reference / "python.html")} >= classes
    assert "--chunk-words" in (reference / "cli" / "deid.html").read_text("utf-8")
    assert "incognote-index-export" in anchors(reference / "cli" / "index.html")
    assert "cli/index.html" in (reference / "commands.html").read_text("utf-8")
    assert "incognote-key-api-new" in anchors(reference / "cli" / "key.html")
    assert "post-v1deidentify" in anchors(reference / "http.html")


def test_every_setting_has_a_description_and_a_default_that_a_reader_can_copy(site: Path) -> None:
    page = (site / "reference" / "settings.html").read_text("utf-8")
    cells = [re.findall(r"<td>(.*?)</td>", row, re.S) for row in page.split("<tr>")]
    rows = [row for row in cells if len(row) == 4]
    assert len(rows) == len(Settings.model_fields) + len(ServiceSettings.model_fields)
    assert [row for row in rows if not row[1] or not row[3].endswith(".") or "object at" in row[2]] == []


def test_a_page_loads_nothing_from_another_host(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 40
    loaded = re.compile(r'<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"')
    assert [found for page in pages for found in loaded.findall(page.read_text("utf-8"))] == []


def test_a_link_to_a_file_that_does_not_exist_ends_the_build() -> None:
    spec = importlib.util.spec_from_file_location("build_docs", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page = ROOT / "docs" / "index.md"
    links = script.relinked("[a](keys.md#top) [b](../LICENSE)", page)
    assert links == f"[a](keys.md#top) [b]({script.REPOSITORY}/LICENSE)"
    with pytest.raises(SystemExit, match=r"docs/index.md: .* nowhere.md"):
        script.relinked("[a](nowhere.md)", page)


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_search_works_when_the_site_is_opened_from_disk(site: Path) -> None:
    with Browser() as browser:
        browser.open(site / "index.html", 400)
        assert browser.run("document.documentElement.scrollWidth") <= 400
        browser.open(site / "reference" / "settings.html", 1280)
        browser.run("document.querySelector('.md-search__button').click()")
        hits: list[str] = []
        for _ in range(60):
            browser._ask("Input.insertText", text="quarantine")
            time.sleep(0.5)
            hits = browser.run(SEARCH)
            if any("quarantine" in hit for hit in hits):
                break
        assert any("reference/cli/quarantine.html" in hit for hit in hits)
        assert browser.errors == []
