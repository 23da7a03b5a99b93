"""Which engines there are, and which one reads a page again that was read poorly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from incognote.errors import UnknownName
from incognote.pages.nouns import Word
from incognote.pages.ocr import passes, registry
from incognote.pages.ocr.passes import read_page
from incognote.pages.ocr.registry import engine_of, other_engine


def test_an_unknown_name_is_named_with_the_engines_that_there_are() -> None:
    with pytest.raises(UnknownName, match="tesseract"):
        engine_of("tesserac")


def test_an_engine_is_the_same_one_for_each_call() -> None:
    assert engine_of("tesseract") is engine_of()


def test_an_installed_engine_reads_beside_another_one_in_languages_that_it_knows() -> None:
    pytest.importorskip("rapidocr", reason="RapidOCR is not installed")
    other = other_engine(engine_of("tesseract"), ["en", "de"])
    assert other is engine_of("rapidocr")
    assert other_engine(other, ["en"]) is None
    assert other_engine(engine_of("tesseract"), ["en", "ar"]) is None


def test_without_another_engine_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    assert other_engine(engine_of("tesseract"), ["en"]) is None


class _Scripted:
    """An engine that reads one word with some confidence and remembers the languages."""

    def __init__(self, name: str, text: str, confidence: float) -> None:
        self.name, self._text, self._confidence = name, text, confidence
        self.languages: list[tuple[str, ...]] = []

    def read(self, image: Any, languages: Sequence[str], mode: str) -> list[Word]:
        self.languages.append(tuple(languages))
        return [Word(self._text, (10, 10, 90, 30), self._confidence)]


def _read(monkeypatch: pytest.MonkeyPatch, confidence: float) -> tuple[passes.ReadWords, _Scripted]:
    first, other = _Scripted("first", "Wlnsl0w", confidence), _Scripted("other", "Winslow", 0.98)
    monkeypatch.setattr(passes, "engine_of", lambda: first)
    monkeypatch.setattr(passes, "other_engine", lambda engine, languages: other)
    return read_page(np.full((100, 300), 255, np.uint8), 200, ["en", "de"]), other


def test_a_page_is_also_read_by_another_engine_in_the_same_languages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading, other = _read(monkeypatch, 0.3)
    assert [word.text for word in reading.words] == ["Winslow"]
    assert {"plain", "other"} <= {word.source for word in reading.seen}
    assert other.languages == [("en", "de")]


def test_a_named_engine_reads_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    first, other = _Scripted("first", "Wlnsl0w", 0.3), _Scripted("other", "Winslow", 0.98)
    monkeypatch.setattr(passes, "other_engine", lambda engine, languages: other)
    reading = read_page(np.full((100, 300), 255, np.uint8), 200, ["en"], first)
    assert {word.text for word in reading.words} == {"Wlnsl0w"}
    assert other.languages == []
