"""One text as the finders see it."""

from __future__ import annotations

import json
import sys
from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.detectors.rules import RulesDetector, view
from incognote.detectors.rules.names.words import Words
from incognote.detectors.rules.view import LARGE, TOKEN, View, cases
from incognote.detectors.rules.walk import Walk
from incognote.nouns import Text

NOTES = Path(__file__).parents[2] / "data" / "notes.jsonl"
MARKED = "aB9é ½'-.\n_漢\u0301\u0302"


def notes(size: int) -> str:
    return "\n\n".join(json.loads(line)["text"] for line in NOTES.read_text(encoding="utf-8").splitlines())[:size]


def lists(text: str) -> list[object]:
    """All that the finders read of a text, as plain lists."""
    seen = View(Text(text))
    made: list[object] = [list(seen.lowers), list(seen.capitals)]
    for one in (seen, Words(seen), *([Walk(seen)] if len(seen) else [])):
        made += [list(one.starts), list(one.ends), list(one.words), [one.gaps[i] for i in range(len(one.words))]]
        made += [list(getattr(one, "lows", ())), list(one.capitals)]
    return made


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


@given(st.text(alphabet=MARKED, max_size=40))
def test_a_large_text_has_the_same_tokens(text):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(view, "LARGE", 1)
        packed = lists(text)
    assert packed == lists(text)


def test_the_same_is_found_in_a_large_text(monkeypatch):
    text = Text(notes(20_000) + " Rene\u0301 Zoe\u0301lle-Smith was seen.")
    found = RulesDetector().detect([text])
    monkeypatch.setattr(view, "LARGE", 1)
    assert RulesDetector().detect([text]) == found


def test_equal_words_of_a_large_text_are_one_object_and_offsets_are_packed():
    seen = View(Text(notes(LARGE)))
    assert len({id(word) for word in seen.words}) == len(set(seen.words))
    assert len({id(word) for word in seen.lowers}) == len(set(seen.lowers))
    for offsets in (seen.starts, seen.ends):
        assert isinstance(offsets, array)
        assert offsets.itemsize == 4


def test_the_lists_of_a_large_text_take_24_bytes_a_token():
    seen = View(Text(notes(LARGE)))
    size = sum(map(sys.getsizeof, (seen.starts, seen.ends, seen.words, seen.lowers, seen.gaps)))
    assert size < 25 * len(seen)


def test_a_word_with_many_combining_marks_is_one_token():
    marked = "a" + "\u0301" * 5_000
    walk = Walk(View(Text(f"Dr. {marked}b said")))
    assert [len(word) for word in walk.words] == [2, 1, 5_002, 4]
    assert walk.words[2] == f"{marked}b"
