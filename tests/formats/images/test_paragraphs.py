"""Lines go on in the next one only where the margin stopped them; offsets in the text stay those of the words."""

from __future__ import annotations

from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.formats.images.page import text_of
from incognote.formats.images.paragraphs import wrapped
from incognote.pages.nouns import Word

HIGH, LETTER = 20, 10


def line(text: str, number: int = 0, left: int = 50, step: int = 26, high: int = HIGH) -> list[Word]:
    """Return the words of a line of a page."""
    found = []
    for token in text.split():
        right, top = left + LETTER * len(token), 100 + step * number
        found.append(Word(token, (left, top, right, top + high), 0.9, number))
        left = right + LETTER
    return found


def goes_on(*texts: str, **options: int) -> list[bool]:
    lines = [line(text, number, **options) for number, text in enumerate(texts)]
    return wrapped(lines, [True] * len(lines))


FULL, NEXT = "Seen today for cough by Doctor Chidi", "Okafor who wrote that it began at home"


def test_a_line_goes_on_if_the_next_word_had_no_place_in_it() -> None:
    assert goes_on(FULL, NEXT, "last week.") == [True, True, False]


def test_a_name_cut_at_the_margin_is_one_name_in_the_text() -> None:
    words = [*line(FULL, 0), *line(NEXT, 1)]
    assert "Chidi Okafor" in text_of(words, ())[0]


@pytest.mark.parametrize(("first", "second"), [
    ("Seen by Doctor Chidi", "Okafor who wrote that it began"),  # there was room
    ("Hypertension Hyperlipidemia Diabetes", NEXT),  # few words
    (FULL + ".", NEXT), ("Seen today for her usual reasons:", NEXT),
])  # fmt: skip
def test_a_line_with_room_few_words_or_an_end_does_not_go_on(first: str, second: str) -> None:
    assert goes_on(first, second) == [False, False]


def test_a_distant_line_is_no_part_of_the_paragraph() -> None:
    assert goes_on(FULL, NEXT, step=60) == [False, False]


@pytest.mark.parametrize("other", [line(NEXT, 1, left=150), line(NEXT, 1, high=32)], ids=["indented", "larger"])
def test_a_line_of_another_column_or_size_is_no_part_of_the_paragraph(other: list[Word]) -> None:
    assert wrapped([line(FULL), other], [True, True]) == [False, False]


def test_rows_of_a_table_do_not_go_on() -> None:
    assert wrapped([line(FULL), line(NEXT, 1)], [False, True]) == [False, False]


def test_arabic_lines_go_on_at_their_left_margin() -> None:
    def arabic(text: str, number: int) -> list[Word]:
        found, right = [], 600
        for token in text.split():
            left, top = right - LETTER * len(token), 100 + 26 * number
            found.append(Word(token, (left, top, right, top + HIGH), 0.9, number))
            right = left - LETTER
        return found

    full, short = "حضر المريض اليوم بسبب سعال منذ خالد", "حضر المريض اليوم بسبب سعال مرة"
    below = "هو الذي يعيش في مدينة دمشق منذ عام"
    assert wrapped([arabic(full, 0), arabic(below, 1)], [True, True]) == [True, False]
    assert wrapped([arabic(short, 0), arabic(below, 1)], [True, True]) == [False, False]


pages = st.lists(
    st.tuples(st.lists(st.text("abcDé1.,", min_size=1, max_size=8), min_size=1, max_size=8),
              st.sampled_from([20, 26, 40, 90]), st.sampled_from([50, 60, 400])),
    max_size=8,
)  # fmt: skip


def words_of(drawn: Any) -> list[Word]:
    found: list[Word] = []
    top = 0
    for number, (tokens, step, left) in enumerate(drawn):
        top += step
        for token in tokens:
            found.append(Word(token, (left, top, left + LETTER * len(token), top + HIGH), 0.9, number))
            left += LETTER * (len(token) + 1)
    return found


@given(pages)
def test_every_word_is_where_the_text_says(drawn: Any) -> None:
    words = words_of(drawn)
    text, placed, _ = text_of(words, ())
    assert [each.word for each in placed] == words
    assert [text[each.start : each.end] for each in placed] == [word.text for word in words]
    assert text.split() == [word.text for word in words]


def test_the_property_meets_lines_that_go_on() -> None:
    assert hypothesis.find(pages, lambda drawn: len(drawn) > 1 and text_of(words_of(drawn), ())[0].count("\n") == 1)
