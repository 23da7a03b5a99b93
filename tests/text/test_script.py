"""Which letters belong to a script other than Latin, and how many words they form."""

from __future__ import annotations

import unicodedata

import pytest

from incognote.text.script import runs, script_of

_SCRIPTS = (
    "GREEK CYRILLIC ARMENIAN HEBREW ARABIC DEVANAGARI BENGALI GUJARATI TAMIL TELUGU KANNADA MALAYALAM SINHALA THAI LAO"
)
_NAMED = {
    **{name: name.capitalize() for name in f"{_SCRIPTS} GEORGIAN HANGUL ETHIOPIC KHMER".split()},
    "HIRAGANA": "Kana", "KATAKANA": "Kana", "CJK": "Han",
}  # fmt: skip


def _letters() -> list[tuple[str, str]]:
    made = []
    for code in (*range(0x80, 0x1D00), *range(0x1E00, 0xAB00), *range(0xAB70, 0x10000), *range(0x20000, 0x20100)):
        letter = chr(code)
        if unicodedata.category(letter) in ("Ll", "Lu", "Lo"):
            made.append((unicodedata.name(letter, "").split(" ")[0], letter))
    return made


def test_every_letter_that_unicode_calls_latin_is_of_no_other_script() -> None:
    latin = [letter for name, letter in _letters() if name in ("LATIN", "FULLWIDTH", "FEMININE", "MASCULINE")]
    assert len(latin) > 900
    assert [*runs(" ".join(latin))] == []


def test_every_letter_of_a_named_script_is_found_under_its_script() -> None:
    wrong = {
        (name, hex(ord(letter)))
        for name, letter in _letters()
        if name in _NAMED and ([r.script for r in runs(letter * 3)] or [None]) != [_NAMED[name]]
    }
    assert wrong == set()


@pytest.mark.parametrize(
    "symbols", ["β-hCG", "TNF-α, κ/λ ratio, γδ T cells", "5 µg, Δ 3, Ω, ∑, 37 °C", "№ 5 €", "½ ² ³ ™"]
)
def test_symbols_of_clinical_notes_are_no_words(symbols: str) -> None:
    assert [*runs(symbols)] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [("Иванов", 1), ("Иванов П. С.", 1), ("Иванов Пётр Сергеевич", 3), ("王建国", 2), ("عبد الله", 2), ("김영희", 1)],
)
def test_a_name_in_another_script_is_one_run_of_few_words(text: str, words: int) -> None:
    (run,) = runs(f"seen by {text} today")
    assert run.words == words
    assert f"seen by {text} today"[run.start : run.end].startswith(text.rstrip("."))


def test_the_script_of_a_letter_is_that_of_its_block() -> None:
    assert [script_of(c) for c in "Яβע字ท"] == ["Cyrillic", "Greek", "Hebrew", "Han", "Thai"]
