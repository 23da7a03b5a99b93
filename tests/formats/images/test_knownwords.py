"""Which words are usual in the languages in which pages are read."""

from __future__ import annotations

import pytest

from incognote.formats.images.knownwords import is_known, is_name
from incognote.formats.images.reading import languages_of_pages


@pytest.mark.parametrize("text", ["fever", "mL", "75g", "mmol/L", "20w3d", "daughter's"])
def test_usual_words_and_units_are_known(text: str) -> None:
    assert is_known(text)


@pytest.mark.parametrize("text", ["Quackenbush", "72-114093", "Fxq", "mL4471"])
def test_names_and_numbers_are_not_known(text: str) -> None:
    assert not is_known(text)


@pytest.mark.parametrize(
    ("code", "word"), [("es", "muestra"), ("de", "Ergebnis"), ("fr", "résultat"), ("ar", "المريض")]
)
def test_words_are_known_in_the_languages_in_which_pages_are_read(code: str, word: str) -> None:
    assert not is_known(word)
    with languages_of_pages(("en", code)):
        assert is_known(word)


@pytest.mark.parametrize("word", ["والرياضة", "للتعليمات", "طبيبك"])
def test_arabic_words_are_known_with_what_is_attached_to_them(word: str) -> None:
    with languages_of_pages(("en", "ar")):
        assert is_known(word)


def test_an_arabic_name_is_not_known_by_its_stem() -> None:
    with languages_of_pages(("en", "ar")):
        assert not is_known("العمري")


def test_rare_surnames_that_are_words_are_no_names() -> None:
    assert [word for word in ("Rose", "Brown", "Date", "Student") if is_name(word)] == ["Rose", "Brown"]
