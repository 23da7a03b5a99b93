"""Which of the words beside or below a label are identifiers."""

from __future__ import annotations

import pytest

from incognote.formats.images.labelvalues import taken
from incognote.formats.images.vocabulary import label_of
from incognote.pages.nouns import Word


def value(label: str, text: str, first: int = 0) -> str:
    """Return the words that are the value of a label, or nothing."""
    said = label_of(label)
    assert said is not None
    words = [Word(each, (20 * i, 0, 20 * i + 15, 10), 0.9) for i, each in enumerate(text.split())]
    found = list(taken(words, first, said, text[first:]))
    return " ".join(word.text for each in found for word in each.words)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Obturación composite 03/10/2025 N. Ugalde", "03/10/2025"),
        ("2025-12-01 19:22 2870 g 48 cm", "2025-12-01 19:22"),
        ("08/06/1977 (47 ans) Sexe", "08/06/1977 (47 ans)"),
        ("09-Nov-2025 06:52 AM fasting", "09-Nov-2025 06:52 AM"),
        ("28.10.2025 bis 12.11.2025", "28.10.2025 bis 12.11.2025"),
        ("2 / 9 / 2S", "2 / 9 / 2S"),
    ],
)
def test_of_a_date_with_other_words_the_date_is_the_value(text: str, date: str) -> None:
    assert value("Date of birth", text) == date


@pytest.mark.parametrize("text", ["Okafcr, Chid1", "Petite Rhizarthrose", "Rose of Sharon"])
def test_unknown_words_under_a_name_are_the_value(text: str) -> None:
    assert value("Patient", text) == text


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("Patient", "Repeat sodium in a week and write the cause"),
        ("Lab", "01"),
        ("Lab", "Repeat sodium in a week and write the cause"),
    ],
)
def test_a_sentence_or_a_number_names_nobody(label: str, text: str) -> None:
    assert value(label, text) == ""
