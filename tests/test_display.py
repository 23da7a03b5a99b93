"""What notebooks and terminals show: results without PHI, and progress bars only for long work."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
from pathlib import Path
from typing import Any

import pytest

from incognote import Deidentifier, ResultList
from incognote.display import LONGEST, MANY, PHI_WARNING, ProgressBar

from .evaluation.report.browser import CHROMIUM, Browser

ROOT = Path(__file__).parents[1]


def work(total: int | None, show: bool | None, count: int) -> None:
    """Read and finish `count` records."""
    bar = ProgressBar(total, show)
    assert list(bar.done(list(bar.read(range(count))))) == list(range(count))
    bar.close()


def on_terminal(total: int | None, show: bool | None, count: int) -> str:
    """Return what `work` writes to standard error when it is a terminal."""
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    with os.fdopen(slave, "w") as stream, contextlib.redirect_stderr(stream):
        work(total, show, count)
        try:
            return os.read(master, 1_000_000).decode()
        except BlockingIOError:
            return ""
        finally:
            os.close(master)


@pytest.mark.parametrize("total", [None, MANY])
def test_a_bar_appears_from_a_hundred_records_on_whether_or_not_their_number_is_known(
    total: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert on_terminal(total and total - 1, None, MANY - 1) == ""
    assert "De-identifying" in on_terminal(total, None, MANY)


def test_a_bar_is_shown_or_not_as_the_caller_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert on_terminal(10 * MANY, False, 10 * MANY) == ""
    assert "De-identifying" in on_terminal(1, True, 1)


def test_nothing_is_written_into_a_pipe(capfd: pytest.CaptureFixture[str]) -> None:
    work(10 * MANY, None, 10 * MANY)
    assert capfd.readouterr() == ("", "")


NOTE = "Mrs. Zorrquill was seen by Dr. Emily Carter on 03/09/2025. <script>alert(1)</script> MRN 48213977."
HELD = "Frau Zorrquill kam heute in die Sprechstunde und klagte über starke Schmerzen im linken Knie seit drei Tagen."
PHI = ("Zorrquill", "Emily", "Carter", "03/09", "48213977", "P-77", "7-doc", "Sprechstunde")


@pytest.fixture(scope="module")
def deid() -> Deidentifier:
    """One instance for the module."""
    return Deidentifier(key="6b" * 32, detectors=("rules",))


@pytest.fixture(scope="module")
def results(deid: Deidentifier) -> ResultList:
    """One result released, one in review, one in quarantine."""
    words = {"patient": "P-77", "known": {"name": "Zorrquill"}, "id": "7-doc"}
    given: list[Any] = [NOTE, HELD, {"Zorrquill": 1}]
    results = ResultList(deid.deidentify(each, **words) for each in given)
    assert [result.verdict.outcome for result in results] == ["release", "review", "quarantine"]
    return results


def test_nothing_that_a_notebook_saves_by_default_holds_phi(results: ResultList) -> None:
    for each in (*results, results, results.held):
        assert not [phi for phi in PHI if phi in repr(each)]
    for shown in (*results, results, results[0].show()):
        html = shown._repr_html_()
        assert not [phi for phi in PHI if phi in html]
        assert "Shown()" in repr(results[0].show())


def test_a_released_text_is_escaped_and_its_spans_are_marked_by_type(results: ResultList) -> None:
    html = results[0]._repr_html_()
    assert "&lt;script&gt;alert(" in html
    assert re.findall('title="([A-Z_]+)">', html)[:4] == ["PERSON", "CLINICIAN", "DATE", "AGE"]
    assert "This does not prove that no identifier is left." in html
    assert not re.search(r"<script|<style|<link|<img|src=|url\(|http", html)


def test_a_held_result_says_why_and_what_to_do_and_not_what_it_said(results: ResultList) -> None:
    held, refused = results[1]._repr_html_(), results[2]._repr_html_()
    assert "Held for review" in held
    assert "No active detector supports the language" in held
    assert "Quarantined" in refused
    assert "Name a schema with <code>--data-type</code>" in refused


def test_originals_are_shown_on_request_only_and_with_a_warning(results: ResultList) -> None:
    shown = results[0].show(original=True)
    assert PHI_WARNING in shown.html
    assert ">Emily Carter<" in shown.html
    assert "Emily" not in repr(shown)
    assert ">Zorrquill<" in results[1].show(original=True).html
    assert "De-identified" not in results[1].show(original=True).html


def test_a_batch_is_summed_up_by_verdict_reason_and_type(results: ResultList) -> None:
    assert repr(results) == "<ResultList of 3 records: 1 release, 1 review, 1 quarantine>"
    html = results._repr_html_()
    assert "<code>unsupported-language</code>" in html
    assert "1 of 3 records" in html
    assert results.released == results[:1]
    assert results.held == results[1:]


def test_the_texts_of_a_record_are_marked_where_they_stand(deid: Deidentifier) -> None:
    record = {"dataType": "note", "patient_id": "P-77", "text": 'He said "hi" to\nDr. Emily Carter <b>today</b>.'}
    html = deid.deidentify(record)._repr_html_()
    assert re.search(r'hi\\&quot; to\\nDr\. <mark [^>]*title="CLINICIAN">\[PERSON\]', html)
    assert "P-77" not in html
    bundle = deid.deidentify(json.loads((ROOT / "examples" / "bundle.json").read_text("utf-8")))
    assert bundle._repr_html_().count("<mark") > 10  # base64 and XHTML texts have no place for marks


def test_a_long_text_is_cut_and_bytes_are_counted(deid: Deidentifier) -> None:
    html = deid.deidentify("Well. " * LONGEST)._repr_html_()
    assert "100,000 more characters" in html
    assert len(html) < 2 * LONGEST
    assert "Read them from" in deid.deidentify(b"Seen by Dr. Abara.", media_type="text/plain")._repr_html_()
    assert "\ud800" not in deid.deidentify("lone \ud800 here, Dr. Abara")._repr_html_()


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)")
def test_results_are_readable_in_light_and_dark_notebooks(results: ResultList, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    shown = "<hr>".join([*(each._repr_html_() for each in (*results, results)), results[0].show(original=True).html])
    with Browser() as browser:
        for ground, ink in (("#fff", "#212121"), ("#111", "#d4d4d4")):
            style = f"background:{ground};color:{ink};font:14px sans-serif"
            head = "<!doctype html><html lang=en><meta charset=utf-8><title>Notebook</title>"
            page.write_text(f"{head}<body style='{style}'><main>{shown}</main>", encoding="utf-8")
            browser.open(page, 900)
            assert browser.accessibility() == []
        assert browser.errors == []
