"""Rows, cells, columns, and scripts in the order in which a person reads them; no word is lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import radians, tan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.pages.nouns import Turn, Word
from incognote.pages.ocr.order import ordered

SIZE = (1000, 1400)
HIGH, LETTER = 20, 10


def line(left: int, top: int, text: str) -> list[Word]:
    """Return the words of a line at its left and top."""
    found = []
    for token in text.split():
        found.append(Word(token, (left, top, left + LETTER * len(token), top + HIGH), 0.9))
        left += LETTER * (len(token) + 1)
    return found


def read(words: list[Word], skew: float = 0.0) -> list[str]:
    """Return the lines of words that are given in no order."""
    shuffled = sorted(words, key=lambda word: (word.text, word.box))
    lines: dict[int, list[str]] = {}
    for word in ordered(shuffled, SIZE, skew):
        lines.setdefault(word.line, []).append(word.text)
    assert list(lines) == list(range(len(lines)))
    return [" ".join(words) for words in lines.values()]


LEFT = ["Seen today for a cough", "and fever since Monday by", "Doctor Chidi Okafor who", "wrote that it began at home"]
RIGHT = ["The chest film shows no", "pneumonia and the heart is", "of usual size and shape", "as it was last year"]


def columns(down: int) -> list[Word]:
    """Return two columns of text; the right one stands lower by some pixels."""
    found: list[Word] = []
    for at, (one, two) in enumerate(zip(LEFT, RIGHT, strict=True)):
        found += line(50, 100 + 30 * at, one) + line(500, 100 + 30 * at + down, two)
    return found


@pytest.mark.parametrize("down", [0, 4, 12])
def test_columns_of_text_are_read_one_after_another(down: int) -> None:
    assert read(columns(down)) == [*LEFT, *RIGHT]


def test_a_heading_over_both_columns_is_read_first_and_a_footer_last() -> None:
    heading = "Letter about the patient of the third of May from the clinic"
    footer = "Copy for the practice of the doctor who sent the patient to us"
    words = [*columns(0), *line(50, 40, heading), *line(50, 600, footer)]
    assert read(words) == [heading, *LEFT, *RIGHT, footer]


def test_cells_of_a_table_are_read_row_by_row() -> None:
    cells = [("Glucose", "4.1"), ("Sodium", "140"), ("Potassium", "3.9"), ("Urea", "5.0"), ("Chloride", "101")]
    words = [word for at, (one, two) in enumerate(cells)
             for word in line(50, 100 + 30 * at, one) + line(500, 100 + 30 * at, two)]  # fmt: skip
    assert read(words) == [cell for row in cells for cell in row]


def test_short_columns_whose_lines_stand_at_other_heights_are_read_one_after_another() -> None:
    left = ["Okafor Chidi", "12 Oak Court", "Duluth 55802", "Minnesota"]
    right = ["Clinic", "Third floor", "Desk", "Open"]
    words = [word for at, (one, two) in enumerate(zip(left, right, strict=True))
             for word in line(50, 100 + 30 * at, one) + line(500, 112 + 30 * at, two)]  # fmt: skip
    assert read(words) == [*left, *right]


def test_two_rows_are_no_columns() -> None:
    words = [*line(50, 100, LEFT[0]), *line(500, 100, RIGHT[0]), *line(50, 130, LEFT[1]), *line(500, 130, RIGHT[1])]
    assert read(words) == [LEFT[0], RIGHT[0], LEFT[1], RIGHT[1]]


@pytest.mark.parametrize("skew", [-2.0, 1.5, 3.0])
def test_cells_of_a_skewed_table_are_read_row_by_row(skew: float) -> None:
    cells = [(f"Test{at}", f"{at}.5", "mmol") for at in range(6)]
    words = []
    for at, row in enumerate(cells):
        for column, text in enumerate(row):
            [word] = line(50 + 400 * column, 200 + 30 * at, text)
            left, top, right, bottom = word.box
            down = round((left + right) / 2 * tan(radians(skew)))
            words.append(replace(word, box=(left, top + down, right, bottom + down)))
    assert read(words, skew) == [cell for row in cells for cell in row]
    assert read(words) != [cell for row in cells for cell in row]


def test_arabic_columns_are_read_from_the_right() -> None:
    right = ["اسم المريض هو خالد", "ولد في مدينة حلب", "يعيش الان في دمشق"]
    left = ["حضر اليوم بسبب سعال", "بدأ منذ ثلاثة أيام", "مع حمى في الليل"]
    words: list[Word] = []
    for at, (one, two) in enumerate(zip(right, left, strict=True)):
        words += line(550, 100 + 30 * at, " ".join(reversed(one.split())))
        words += line(50, 100 + 30 * at, " ".join(reversed(two.split())))
    assert read(words) == [*right, *left]


turns: list[Turn] = [0, 90, 180, 270]
boxes = st.tuples(st.integers(0, 900), st.integers(0, 1300), st.integers(1, 100), st.integers(1, 60))
words_of_pages = st.lists(
    st.builds(
        lambda text, box, turn: Word(text, (box[0], box[1], box[0] + box[2], box[1] + box[3]), 0.9, 0, turn),
        st.text("abC1.ابג", min_size=1, max_size=6), boxes, st.sampled_from(turns),
    ), max_size=40,
)  # fmt: skip


@given(words_of_pages, st.floats(-5, 5))
def test_no_word_is_lost_and_lines_are_numbered_in_order(words: list[Word], skew: float) -> None:
    made = ordered(words, SIZE, skew)
    assert Counter(replace(word, line=0) for word in made) == Counter(words)
    numbers = [word.line for word in made]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(len(set(numbers))))
    assert len({(word.line, word.turn) for word in made}) == len(set(numbers))


grids = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12), st.integers(1, 6)), min_size=10, max_size=40)


@given(grids)
def test_no_word_of_pages_with_columns_is_lost(drawn: Any) -> None:
    words = [word for at, (column, row, n) in enumerate(drawn)
             for word in line(20 + 300 * column, 40 + 26 * row, " ".join([f"w{at}"] * n))]  # fmt: skip
    assert Counter(replace(word, line=0) for word in ordered(words, SIZE)) == Counter(words)
