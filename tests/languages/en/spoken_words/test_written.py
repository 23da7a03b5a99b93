"""The written form and its words: every word has its place in the text, whatever is said."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incognote.languages import Written, written

VOCABULARY = (
    "a i h r p e o x oh zero one two five seven eleven nineteen twenty sixty hundred thousand double triple "
    "dash slash dot point over at and the third second twenty-first march may october underscore com gmail www "
    "capital apostrophe as in for sam boy bravo kilo harper john rose will doctor mister nurse street maple "
    "road springfield ohio saint mary's hospital uh okay mhm sorry just no then comma period new paragraph "
    "colon m d b q am pm o'clock milligrams old year room number is it's my name 555 covid-19 naïve x-ray"
).split()
said = st.lists(st.sampled_from(VOCABULARY), max_size=40)


def belongs(result: Written, count: int) -> None:
    """Assert that each word belongs to one stretch, and that stretches are in order and hold all but punctuation."""
    assert [i for stretch in result.stretches for i in range(stretch.first, stretch.last)] == list(range(count))
    assert all(a.end <= b.start for a, b in pairwise(result.stretches))
    assert all(stretch.start < stretch.end for stretch in result.stretches)
    edges = [0, *(edge for s in result.stretches for edge in (s.start, s.end)), len(result.text)]
    between = "".join(result.text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True))
    assert re.fullmatch(r"[ .,\n]*", between)


@settings(max_examples=300, deadline=None)
@given(words=said, pauses=st.data())
def test_every_word_belongs_to_exactly_one_stretch(words: list[str], pauses: st.DataObject) -> None:
    times = pauses.draw(st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=len(words), max_size=len(words)))
    belongs(written(words, times), len(words))
    belongs(written(words), len(words))


@settings(max_examples=200, deadline=None)
@given(words=said.filter(bool), data=st.data())
def test_a_span_of_words_and_its_text_lead_to_each_other(words: list[str], data: st.DataObject) -> None:
    result = written(words)
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first + 1, len(words)))
    found = result.words(*result.span(first, last))
    assert found.start <= first < last <= found.stop
    assert result.span(found.start, found.stop) == result.span(first, last)


@settings(max_examples=200, deadline=None)
@given(words=said)
def test_the_same_words_have_the_same_written_form(words: list[str]) -> None:
    assert written(words) == written(words)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=("Z", "C")), min_size=1, max_size=8), max_size=12))
def test_any_words_have_a_written_form(words: list[str]) -> None:
    result = written(words)
    assert [i for stretch in result.stretches for i in range(stretch.first, stretch.last)] == list(range(len(words)))


WRITTEN = "My name is John Harper. I was born on March 3, 1962. Call 555-1212 or e-mail j@mail.com, please."


def test_what_is_already_written_stays_as_it_is() -> None:
    assert written(WRITTEN.split()).text == WRITTEN


def test_written_sentences_end_lines_at_pauses() -> None:
    assert written(["Hello.", "I'm", "John."], [1.0, 0.0, 1.0]).text == "Hello.\nI'm John.\n"


def test_a_letter_with_a_period_is_not_written_text() -> None:
    assert written("spell it h. a. r. p. e. r.".split()).text == "Spell it HARPER.\n"


def test_a_number_leads_to_its_words() -> None:
    result = written("call five five five one two one two please".split())
    start = result.text.index("555-1212")
    assert result.words(start, start + 8) == range(1, 8)
    assert result.words(start + 2, start + 3) == range(1, 8)
    assert result.span(3, 4) == (start, start + 8)


def test_a_span_between_stretches_has_no_words() -> None:
    result = written("hello there".split())
    assert result.words(5, 6) == range(0)


@pytest.mark.parametrize("code", ["ar", "de", "es", "fr"])
def test_a_language_without_the_part_joins_words_with_spaces(code: str) -> None:
    result = written(["vier", "eins"], [0.0, 1.0], code)
    assert result.text == "vier eins"
    belongs(result, 2)


def test_nothing_said_is_nothing_written() -> None:
    assert written([]) == Written("", ())


def test_words_and_pauses_differ_in_number() -> None:
    with pytest.raises(ValueError, match="a pause for each word"):
        written(["one"], [])


def test_words_that_were_not_said_have_no_span() -> None:
    with pytest.raises(ValueError, match="no stretch"):
        written(["hello"]).span(3, 4)


def test_the_text_is_not_in_the_repr() -> None:
    assert "Harper" not in repr(written("my name is john harper".split()))
