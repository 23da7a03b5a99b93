"""A text as the finders see it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from incognote.detectors.rules.view import TOKEN, View, cases
from incognote.nouns import Text
from incognote_en.rules.walk import TokenWalk


@given(st.text(alphabet="aB9é ½'-.\n_漢", max_size=40))
def test_tokens_and_gaps_are_the_text_again(text):
    view = View(Text(text))
    assert view.words == TOKEN.findall(text)
    assert [text[a:b] for a, b in zip(view.starts, view.ends, strict=True)] == view.words
    spelled = "".join(gap + word for gap, word in zip(view.gaps, view.words, strict=True))
    assert text.startswith(spelled)
    assert TOKEN.search(text, len(spelled)) is None


@given(st.text(max_size=40))
def test_capital_and_small_letters_are_counted_alike_in_any_script(text):
    assert cases(text) == (sum(map(str.isupper, text)), sum(map(str.islower, text)))


@given(st.text(alphabet="aB9-[`{@Z z", max_size=40))
def test_letters_of_ascii_are_counted_as_letters_only(text):
    assert cases(text) == (sum(map(str.isupper, text)), sum(map(str.islower, text)))


def test_a_word_with_many_combining_marks_is_one_token():
    marked = "a" + "\u0301" * 5_000
    walk = TokenWalk(View(Text(f"Dr. {marked}b said")))
    assert [len(word) for word in walk.words] == [2, 1, 5_002, 4]
    assert walk.words[2] == f"{marked}b"
