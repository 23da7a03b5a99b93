"""Words with offsets, and their labels."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from incognote_training.tokens import bio, spans, tokenize


def test_words_numbers_and_signs_are_apart() -> None:
    text = "34F, Rm512 O'Neil_x"
    assert [text[a:b] for a, b in tokenize(text)] == ["34", "F", ",", "Rm", "512", "O", "'", "Neil", "_", "x"]


@given(st.text(max_size=80))
def test_tokens_hold_every_sign_but_white_space_once(text: str) -> None:
    tokens = tokenize(text)
    assert all(a < b for a, b in tokens)
    assert all(one[1] <= two[0] for one, two in pairwise(tokens))
    assert "".join(text[a:b] for a, b in tokens) == "".join(text.split())


def test_labels_begin_and_go_on() -> None:
    tokens = tokenize("Anna van Dam, RN")
    assert bio(tokens, [(0, 12, "PATIENT")]) == ["B-PATIENT", "I-PATIENT", "I-PATIENT", "O", "O"]


def test_a_token_covered_in_part_is_the_spans() -> None:
    assert bio(tokenize("wifeMary left"), [(4, 8, "RELATIVE")]) == ["B-RELATIVE", "O"]


def test_of_two_spans_in_one_token_the_first_has_it() -> None:
    labels = bio(tokenize("TorontoSmith left"), [(0, 7, "CITY"), (7, 12, "PATIENT")])
    assert labels == ["B-CITY", "O"]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4)), max_size=6))
def test_spans_over_whole_tokens_come_back(pairs: list[tuple[int, int]]) -> None:
    text = " ".join("word" for _ in range(80))
    tokens = tokenize(text)
    made, at = [], 0
    for gap, length in pairs:
        at += gap
        made.append((tokens[at][0], tokens[at + length - 1][1], "CITY"))
        at += length
    assert spans(tokens, bio(tokens, made)) == made


def test_an_inside_label_after_another_type_begins_a_span() -> None:
    assert spans([(0, 1), (2, 3)], ["I-CITY", "I-STATE"]) == [(0, 1, "CITY"), (2, 3, "STATE")]
