"""The second reader of image files: which words count, and what it looks at."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from incognote.formats.images import second
from incognote.formats.images.page import ReadPage, text_of
from incognote.formats.images.painting import Cover
from incognote.pages.nouns import Box, Word
from incognote.pages.ocr import registry

from . import made


def _read_page(confidence: float = 0.8) -> ReadPage:
    words = [Word(text, box, confidence, line=box[1]) for text, box in made.WORDS.items()]
    text, placed, marks = text_of(words, ())
    return ReadPage(text=text, words=placed, marks=marks, findings=(), quality=0.9, size=made.SIZE)


def _unread(
    monkeypatch: pytest.MonkeyPatch, *seen: tuple[str, Box, float], page: ReadPage | None = None, covers: Any = ()
) -> list[tuple[str, list[Any]]]:
    """Return what counts if OCR sees words on the page."""
    words = [Word(text, box, confidence, line=number) for number, (text, box, confidence) in enumerate(seen)]
    monkeypatch.setattr(second, "_words", lambda gray, languages: words)
    monkeypatch.setattr(second, "_others", lambda gray, languages: [])
    return list(second.unread(np.asarray(made.page("L")), page or _read_page(), covers))


def test_words_that_the_first_reader_knows_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _unread(monkeypatch, *((text, box, 0.9) for text, box in made.WORDS.items()))
    assert not _unread(monkeypatch, ("patient", made.WORDS["Patient:"], 0.9))


def test_a_word_where_the_first_reader_read_nothing_has_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _unread(monkeypatch, ("Carter", (200, 150, 260, 170), 0.9)) == [("Carter", [(0, 6, None)])]


def test_a_surer_reading_of_the_same_ink_has_the_place_of_the_first_one(monkeypatch: pytest.MonkeyPatch) -> None:
    page = _read_page(0.5)
    at = page.text.index("stable")
    assert _unread(monkeypatch, ("Carter", made.WORDS["stable"], 0.9), page=page) == [
        ("Carter", [(0, 6, (at, at + len("stable")))])
    ]
    assert not _unread(monkeypatch, ("Carter", made.WORDS["stable"], 0.7), page=_read_page(0.8))


@pytest.mark.parametrize(("text", "confidence"), [("Carter", 0.5), ("—.,", 0.9)])
def test_doubtful_words_and_signs_do_not_count(text: str, confidence: float, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _unread(monkeypatch, (text, (200, 150, 260, 170), confidence))


def test_covers_are_filled_with_the_color_of_the_paper_before_it_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Any] = []
    monkeypatch.setattr(second, "_words", lambda gray, languages: looked.append(gray) or [])
    monkeypatch.setattr(second, "_others", lambda gray, languages: [])
    pixels = np.asarray(made.page("L"))
    before = pixels.copy()
    box = made.WORDS[made.SURNAME]
    list(second.unread(pixels, _read_page(), [Cover(box, "[PERSON]")]))
    [gray] = looked
    where = made.inside([box])
    assert (gray[where] == 255).all()
    assert np.array_equal(gray[~where], before[~where])
    assert np.array_equal(pixels, before)


def test_both_engines_read_the_output_in_the_languages_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, tuple[str, ...]]] = []

    def first(gray: Any, languages: tuple[str, ...]) -> list[Word]:
        asked.append(("first", languages))
        return []

    def other(gray: Any, languages: tuple[str, ...]) -> list[Word]:
        asked.append(("other", languages))
        return [Word("Carter", (200, 150, 260, 170), 0.9)]

    monkeypatch.setattr(second, "_words", first)
    monkeypatch.setattr(second, "_others", other)
    page = replace(_read_page(), languages=("ar", "en"))
    assert list(second.unread(np.asarray(made.page("L")), page, ())) == [("Carter", [(0, 6, None)])]
    assert asked == [("first", ("ar", "en")), ("other", ("ar", "en"))]


def test_an_output_without_another_engine_for_its_languages_is_read_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    assert second._others(np.asarray(made.page("L")), ["en"]) == []
