"""Letters in boxes are joined to words; other short words stay apart, and no letter is lost."""

from __future__ import annotations

from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.pages.nouns import Turn, Word
from incognote.pages.ocr.combs import COMB, joined

HIGH, STEP = 20, 30


def letters(text: str, step: int = STEP, line: int = 0, turn: Turn = 0) -> list[Word]:
    """Return the letters of a text as words in boxes next to each other. A space is an empty box."""
    return [
        Word(letter, (step * at, 40, step * at + 12, 40 + HIGH), 0.8, line, turn)
        for at, letter in enumerate(text) if letter != " "
    ]  # fmt: skip


def texts(words: list[Word]) -> list[str]:
    return [word.text for word in joined(words)]


def test_letters_in_boxes_are_one_word_around_all_of_them() -> None:
    [word] = joined(letters("OKAFOR"))
    assert (word.text, word.box, word.source) == ("OKAFOR", (0, 40, 5 * STEP + 12, 40 + HIGH), COMB)
    assert word.confidence == pytest.approx(0.8)


def test_an_empty_box_ends_a_word() -> None:
    assert texts(letters("OKAFOR CHIDI")) == ["OKAFOR", "CHIDI"]


def test_two_letters_that_were_read_as_one_word_are_in_the_run() -> None:
    words = letters("44710298")
    pair = Word("44", (0, 40, STEP + 12, 40 + HIGH), 0.8)
    assert texts([pair, *words[2:]]) == ["44710298"]


@pytest.mark.parametrize("words", [
    letters("ABC"), letters("OKAFOR", step=13), letters("OKAFOR", step=60), letters("OKAFOR", turn=90),
    [*letters("AB"), *letters("CD", line=1)],
])  # fmt: skip
def test_few_close_distant_turned_or_divided_letters_are_no_word(words: list[Word]) -> None:
    assert joined(words) == words


def test_short_words_at_unequal_distances_are_no_word() -> None:
    words = [Word("a", (x, 40, x + 12, 60), 0.8) for x in (0, 30, 82, 106, 153, 173)]
    assert joined(words) == words


def test_a_longer_word_beside_the_boxes_is_not_joined() -> None:
    label = Word("Name", (-100, 40, -40, 60), 0.9)
    assert texts([label, *letters("OKAFOR")]) == ["Name", "OKAFOR"]


rows = st.lists(
    st.tuples(st.text("AB1-é", min_size=1, max_size=3), st.sampled_from([0, STEP, STEP, STEP, 2 * STEP, 7]),
              st.integers(0, 1)),
    max_size=14,
)  # fmt: skip


def placed(drawn: list[tuple[str, int, int]]) -> list[Word]:
    found: list[Word] = []
    x = 0
    for text, step, down in drawn:
        x += step
        line = (found[-1].line if found else 0) + (down and not step)
        found.append(Word(text, (x, 40, x + 12, 40 + HIGH), 0.5, line))
    return found


@given(rows)
def test_no_letter_is_lost_and_none_changes_its_line(drawn: Any) -> None:
    words = placed(drawn)
    made = joined(words)
    for line in {word.line for word in words}:
        before = "".join(word.text for word in words if word.line == line)
        assert "".join(word.text for word in made if word.line == line) == before
    assert all(any(covers(big, word) for big in made) for word in words)


def covers(one: Word, two: Word) -> bool:
    return one.box[0] <= two.box[0] and two.box[2] <= one.box[2] and two.text in one.text


def test_the_property_meets_rows_with_words_in_boxes() -> None:
    assert hypothesis.find(rows, lambda drawn: any(word.source == COMB for word in joined(placed(drawn))))
