"""The page for the privacy officer."""

from __future__ import annotations

import re
import stat
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from incognote.evaluation import evaluate

Write = Callable[[str, list[Any]], Path]


class Reader(HTMLParser):
    """Collects each article of a page: its heading, its text, and its marks (class, types, words)."""

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[tuple[str, list[str], list[tuple[str, str, str]]]] = []
        self.addresses: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.addresses += [value for name, value in given.items() if name in ("src", "href", "action")]
        if tag == "article":
            self.notes.append(("", [], []))
        if tag == "mark" and "article" in self._open:
            self.notes[-1][2].append((given.get("class", "hit"), given["data-types"], ""))
        if tag not in ("meta", "input"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "h2" in self._open and self._open[-1] == "h2":
            name, text, marks = self.notes[-1]
            self.notes[-1] = (name + data.strip(), text, marks)
        if "pre" in self._open:
            self.notes[-1][1].append(data)
            if self._open[-1] == "mark":
                kind, types, words = self.notes[-1][2].pop()
                self.notes[-1][2].append((kind, types, words + data))


def read(path: Path) -> Reader:
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    return reader


@pytest.fixture
def page(gold: Path, found: Path, tmp_path: Path) -> Path:
    evaluate(gold, found, page=tmp_path / "page.html")
    return tmp_path / "page.html"


def test_the_notes_that_leak_most_come_first(page: Path) -> None:
    assert [name for name, _, _ in read(page).notes] == ["n3", "n1", "n4", "n2", "n5"]


def test_each_note_stands_there_word_for_word_with_its_marks(page: Path) -> None:
    notes = {name: ("".join(text), marks) for name, text, marks in read(page).notes}
    assert notes["n1"] == ("Ruth Hale, 42", [("hit", "PATIENT PERSON", "Ruth Hale"), ("miss", "AGE", "42")])
    assert notes["n3"][1] == [
        ("hit", "CITY HOSPITAL", "Mercy"),
        ("miss", "HOSPITAL", " Hospital"),
        ("hit", "GUID MEDICAL_RECORD_NUMBER", "8841"),
    ]
    assert notes["n4"] == ("Foley out", [("extra", "PERSON", "Foley")])
    assert notes["n5"] == ("no fever", [])


def test_the_page_refers_to_nothing_outside_itself(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert read(page).addresses == []
    assert not re.search(r"https?:|//[a-z]|@import|url\(|fetch|XMLHttpRequest", text)
    assert "default-src 'none'" in text


def test_the_page_says_that_it_is_phi_and_what_was_scored(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "treat it as PHI" in text
    assert "tiny (not stated whether synthetic) · n = 5 documents" in text
    assert '<option value="AGE">AGE: 1 missed, 0 extra</option>' in text


def test_hostile_and_unprintable_text_is_shown_and_not_run(tmp_path: Path, jsonl: Write) -> None:
    text = "<script>alert(1)</script> $page \x00\x85 \ud800 </pre> Ruth & \u202eHale\u202c"
    start = text.index("Ruth")
    row = {"id": "<b>&", "text": text, "spans": [(start, len(text), "PERSON")]}
    gold = jsonl("g.jsonl", [row])
    evaluate(gold, detect=lambda texts: [[] for _ in texts], page=tmp_path / "p.html")
    ((name, shown, marks),) = read(tmp_path / "p.html").notes
    assert name == "<b>&"
    assert "".join(shown) == text.replace("\x00", "␀").replace("\x85", "�").replace("\ud800", "�")
    assert marks == [("miss", "PERSON", text[start:])]


def test_documents_with_problems_are_listed(tmp_path: Path, gold: Path, jsonl: Write) -> None:
    found = jsonl("none.jsonl", [])
    evaluate(gold, found, page=tmp_path / "p.html")
    assert "n1: no prediction; counted as nothing found" in (tmp_path / "p.html").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no such permissions")
def test_only_the_owner_may_read_the_page(page: Path) -> None:
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no such permissions")
def test_nor_where_a_file_that_all_may_read_stood(tmp_path: Path, gold: Path, found: Path) -> None:
    page = tmp_path / "p.html"
    page.write_text("older")
    page.chmod(0o644)
    evaluate(gold, found, page=page)
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
