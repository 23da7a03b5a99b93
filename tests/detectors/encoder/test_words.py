"""Words: one row of numbers per unit, from a vocabulary and the characters of the word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.detectors.encoder.units import MEDICAL_BIT, units
from incognote.detectors.encoder.windows import batch, cut
from incognote.detectors.encoder.words import FIRST, LAST, WIDTH, Lexicons, WordRows, key

VOCABULARY = ("000", "der", "patient", "strasse", "المريض")


@pytest.fixture
def words(tmp_path: Path) -> WordRows:
    path = tmp_path / "words.txt"
    path.write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return WordRows(path, ("en",))


def ids(words: WordRows, text: str) -> list[int]:
    return [int(row[0]) for row in words(text).ids]


def test_a_word_has_its_id_in_any_case_and_with_any_accent(words: WordRows) -> None:
    assert ids(words, "Der Pâtient STRASSE Straße 417") == [5, 6, 7, 7, 4]
    assert ids(words, "المَرِيض") == [8]
    assert words.size == 4 + len(VOCABULARY)


def test_an_unknown_word_still_has_its_characters(words: WordRows) -> None:
    (row,) = words("Özdemir").ids
    assert row[0] == words.unknown
    assert [n - 4 for n in row[1:8].tolist()] == [ord(c) for c in "Özdemir"]
    assert not row[8:].any()


def test_a_long_word_shows_its_beginning_and_its_end(words: WordRows) -> None:
    (row,) = words("Krankenhausapothekenleitung").ids
    assert "".join(chr(n - 4) for n in row[1:]) == "Krankenhau" + "eitung"
    assert len(row) == WIDTH == 1 + FIRST + LAST


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> WordRows:
    path = tmp_path_factory.mktemp("words") / "words.txt"
    path.write_text("", encoding="utf-8")
    return WordRows(path, ("en",))


@given(text=st.text(max_size=60))
def test_every_unit_of_any_text_has_one_row(empty: WordRows, text: str) -> None:
    encoded = empty(text)
    assert encoded.ids.shape == (len(units(text)), WIDTH)
    assert encoded.first.tolist() == list(range(len(units(text)) + 1))


def test_windows_of_words_are_padded_with_zeros(words: WordRows) -> None:
    encoded = [words("der Patient"), words("der")]
    made = batch(encoded, [w for i, one in enumerate(encoded) for w in cut(i, one, 16, 2)], words.special)
    assert made.ids.shape == (2, 4, WIDTH)
    assert (made.ids[1, -1] == 0).all()
    assert np.unique(made.ids[:, 0]).tolist() == [1]


def test_the_key_of_a_number_shows_only_its_length() -> None:
    assert (key("417"), key("٤١٧"), key("1234567890123")) == ("000", "000", "0" * 9)


def test_a_word_of_two_lexicons_has_the_larger_weights_and_all_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {"de": {"hale": 3 | 2 << 3 | 1 << 8}, "en": {"hale": 1 | 5 << 3 | 2 << 6, "abend": 2 << 6}}
    monkeypatch.setattr("incognote.detectors.encoder.words.lexicon", tables.__getitem__)
    both = Lexicons(frozenset(tables))
    assert both.get("hale", -1) == 3 | 5 << 3 | 2 << 6 | 1 << 8
    assert (both.get("abend", -1), both.get("xyz", -1)) == (2 << 6, -1)


def test_arabic_notes_look_english_words_up_too(words: WordRows, tmp_path: Path) -> None:
    pytest.importorskip("incognote_ar", reason="needs the package incognote-ar")
    arabic = WordRows(tmp_path / "words.txt", ("ar",))
    found = arabic("يأخذ metoprolol يوميا").units
    assert [bool(int(mask) >> MEDICAL_BIT & 1) for mask in found.masks] == [False, True, False]
