"""Digits that an engine read as letters."""

from __future__ import annotations

from typing import Any

import pytest

from incognote.formats.images.digits import misread_numbers, with_digits
from incognote.pages.nouns import Word


def words(text: str) -> list[Word]:
    return [Word(each, (20 * i, 0, 20 * i + 15, 10), 0.9) for i, each in enumerate(text.split())]


@pytest.mark.parametrize(
    ("read", "written"),
    [
        ("ph 94860 SSS30. Informed", "ph 94860 55530. Informed"),
        ("ring 01978 SS5 310 if", "ring 01978 555 310 if"),
        ("76 00 S5 21", "76 00 55 21"),
        ("76 00 SS 21", "76 00 55 21"),
        ("AC SS18", "AC 5518"),
    ],
)
def test_letters_that_look_like_digits_are_digits_in_numbers(read: str, written: str) -> None:
    assert " ".join(word.text for word in with_digits(words(read))) == written


@pytest.mark.parametrize(
    "read", ["S1 S2 normal", "20 IO 5 mg", "vitamin B12", "SpO2 97", "IgG", "L5 S1 disc", "SOS", "Il a 5 ans"]
)
def test_clinical_words_and_short_codes_stay(read: str) -> None:
    assert " ".join(word.text for word in with_digits(words(read))) == read


@pytest.mark.parametrize(
    ("text", "confidence", "gone"),
    [
        ("تاريخ الميلاد \\avé/", 0.6, ["\\avé/"]),
        ("السن AY\u200f التاريخ", 0.6, ["AY\u200f"]),
        ("اسم المريض 37 سنة", 0.9, ["سنة"]),
        ("السكري من النوع mg", 0.95, []),
    ],
)
def test_short_latin_words_and_years_in_arabic_text_may_be_numbers(
    text: str, confidence: float, gone: list[str]
) -> None:
    np: Any = pytest.importorskip("numpy")
    pytest.importorskip("cv2", reason="needs the extra images")
    read = [Word(each, (780 - 80 * i, 10, 840 - 80 * i, 40), confidence) for i, each in enumerate(text.split(" "))]
    boxes = [region.box for region in misread_numbers(read, np.full((100, 900), 255, np.uint8))]
    assert sorted({word.text for word in read if word.box in boxes}) == gone
