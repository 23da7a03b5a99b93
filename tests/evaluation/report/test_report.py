"""The page, the figures, and the JSON of an experiment."""

from __future__ import annotations

import json
import re
import stat
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from incognote.errors import UsageError
from incognote.evaluation.experiments.seal import Seal
from incognote.evaluation.report.charts import charts
from incognote.evaluation.report.drawing import svgs
from incognote.evaluation.report.experiment import WrittenReport, write_report
from incognote.evaluation.report.gathered import gather
from incognote.evaluation.report.mistakes import mistakes
from incognote.evaluation.report.sections import section

from .conftest import HOSTILE, SURNAMES, Cells

pytest.importorskip("matplotlib", reason="needs the extra evaluation")
VOID = {"meta", "img", "use", "path", "rect", "input", "br"}


class Reader(HTMLParser):
    """Collects a page's elements, ids, references, and text by element."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.handlers: list[str] = []
        self.text: dict[str, list[str]] = {}
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href", "xlink:href", "action", "srcset"):
                self.references.append(value or "")
            if name.startswith("on"):
                self.handlers.append(name)
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open:
            self.text.setdefault(self._open[-1], []).append(data)


def read(path: Path) -> Reader:
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    return reader


def test_a_hostile_note_is_shown_and_not_run(written: WrittenReport) -> None:
    page = read(written.page)
    assert "img" not in page.elements
    assert page.elements.count("script") == 1
    assert page.handlers == []
    assert HOSTILE.replace("\x00", "␀") in "".join(page.text["mark"])


def test_hostile_names_are_shown_and_not_run(written: WrittenReport) -> None:
    page = read(written.page)
    assert any(HOSTILE.replace("\x00", "␀") in text for text in page.text["h2"])
    assert "$title" in "".join(page.text["h2"])


def test_the_page_refers_to_nothing_outside_itself_and_runs_only_its_own_script(written: WrittenReport) -> None:
    page = read(written.page)
    assert all(reference.startswith("#") for reference in page.references)
    assert {reference[1:] for reference in page.references} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    text = written.page.read_text(encoding="utf-8")
    assert re.search(r"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-[\w+/=]{44}'", text)
    assert not re.search(r"https?://|@import|url\((?!#)", text)


def test_the_page_says_synthetic_phi_and_the_size_of_the_sample(written: WrittenReport) -> None:
    text = written.page.read_text(encoding="utf-8")
    assert "treat it as PHI" in text
    assert '<span class="badge">synthetic</span>' in text
    assert "These notes are synthetic." in text
    assert "15: 12 with identifiers, 3 without" in text
    assert "leaves at least one letter or digit of an identifier in <strong>1</strong>: 8.3%" in text


def test_the_page_has_the_tables_of_the_redactor_paper(written: WrittenReport) -> None:
    page = read(written.page)
    heads = page.text["th"]
    for head in ("F1-score", "All-or-nothing recall", "Entity type", "model · 2 passes", "PERSON", "All"):
        assert head in heads
    (one,) = written.sections
    assert one.systems[2].report.measures is not None
    recall = one.systems[2].report.measures.redactor.document_recall
    assert recall is not None
    assert (recall.value, recall.of) == (pytest.approx(11 / 12), 12)
    assert "0.9167" in page.text["td"]


def test_every_figure_is_in_the_page_and_beside_it(written: WrittenReport) -> None:
    (one,) = written.sections
    names = [chart.name for chart in charts(one)]
    assert names == ["recall-by-type", "precision-recall", "passes", "cost", "calibration"]
    assert [path.name for path in written.pictures] == [f"1-{name}.png" for name in names]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written.pictures)
    assert read(written.page).elements.count("svg") == sum(len(chart.facets) for chart in charts(one))


def test_every_figure_names_its_n_and_its_interval(written: WrittenReport) -> None:
    drawn = list(charts(written.sections[0]))
    assert drawn
    for chart in drawn:
        assert "95% intervals" in chart.note
        assert re.search(r"\d+ documents|numbers: findings", chart.note + "".join(f.title for f in chart.facets))


def test_drawings_follow_the_page_s_colours_and_share_no_ids(written: WrittenReport) -> None:
    drawn = [svg for chart in charts(written.sections[0]) for _, svg in svgs(chart, f"x-{chart.name}")]
    for svg in drawn:
        assert "var(--ink)" in svg
        assert not re.search(r"#[0-9a-f]{6}|<style|<!--|font-family", svg)
        used = re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", svg)
        assert set(used) == set(re.findall(r' id="([^"]+)"', svg))
    ids = [id_ for svg in drawn for id_ in set(re.findall(r' id="([^"]+)"', svg))]
    assert len(ids) == len(set(ids))


def test_the_json_holds_every_figure_and_no_word_of_a_note(written: WrittenReport) -> None:
    text = written.data.read_text(encoding="utf-8")
    (told,) = json.loads(text)["corpora"]
    assert [system["name"] for system in told["systems"]] == ["rules", "model · 1 pass", "model · 2 passes"]
    assert told["systems"][0]["report"]["figures"]["recall"]["of"] > 0
    assert len(told["pairs"]) == 3
    assert not any(word in text for word in (*SURNAMES.split(), "wound", "Foley"))


def test_a_section_without_texts_holds_no_word_of_a_note_and_no_id(cells: Cells) -> None:
    (one,) = gather(cells(), resamples=20)
    text = section(one, 0, [], texts=False)
    assert not any(word in text for word in (*SURNAMES.split(), "wound", "Foley", "n&lt;", "clean0", "PHI"))
    assert "Foley" in section(one, 0, [], texts=True)


def test_a_report_opens_a_sealed_split_and_says_how_often_it_was_opened(cells: Cells, tmp_path: Path) -> None:
    (one,) = gather(cells("test"), who="Grace <b>", resamples=20)
    text = section(one, 0, [], texts=False)
    assert "sealed test split" in text
    assert re.search(r"<dd>2 times; last on [^<]* by Grace &lt;b&gt;, for: report</dd>", text)
    assert [opening.purpose for opening in Seal(tmp_path / "notes.jsonl").openings()] == ["run", "report"]


def test_mistakes_are_told_once_with_all_systems_that_made_them(cells: Cells) -> None:
    (one,) = gather(cells(), resamples=20)
    shown, more = mistakes(one)
    assert more == 0
    told = {(m.kind, m.document, m.words): m.systems for m in shown}
    assert told["missed", "n<0>", "Abara"] == (0, 1)
    assert told["missed", "n<5>", HOSTILE] == (0, 1, 2)
    assert told["false", "clean1", "Foley"] == (0, 1, 2)
    assert [m.kind for m in shown] == ["missed"] * 5 + ["false"] * 3


def test_the_second_pass_shows_in_the_curve(cells: Cells) -> None:
    (one,) = gather(cells(), resamples=20)
    values = [s.report.measures.redactor.type_recall["PERSON"] for s in one.systems if s.report.measures]
    assert [figure.value for figure in values] == [pytest.approx(7 / 12), pytest.approx(7 / 12), pytest.approx(11 / 12)]
    assert "passes" in {chart.name for chart in charts(one)}


def test_one_number_of_passes_is_no_curve(cells: Cells) -> None:
    (one,) = gather(cells(passes=(1,)), resamples=20)
    assert "passes" not in {chart.name for chart in charts(one)}


def test_a_folder_without_finished_cells_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"holds no finished cell\. Run the experiment first"):
        write_report(tmp_path)


class Length:
    """An embedder that sees only the length of a text."""

    def embed(self, texts: list[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        return np.array([[1.0, len(text)] for text in texts])


def test_an_embedder_adds_what_of_the_meaning_is_left(cells: Cells) -> None:
    (one,) = gather(cells(), embedder=("length", Length()), resamples=20)
    assert "measured with length" in section(one, 0, [], texts=False)
    assert one.systems[0].report.meaning is not None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no such permissions")
def test_only_the_owner_may_read_a_report(written: WrittenReport) -> None:
    for path in (written.page, written.data, *written.pictures):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
