"""Folding: mapping folded text back to the original, code point by code point."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.align.matching import Folded, folded

ANY = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from("aE \r\n\t\u0301\u00ad\u200b\ufeffßﬁİ’–`½²١王يו")),
    max_size=40,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Jose\u0301", "JOSÉ"),
        ("Łódź", "lodz"),
        ("Straße", "STRASSE"),
        ("a\r\n \t b", "A B"),
        ("O’Dowd–Price", "o'dowd-price"),
        ("zero\u200bwidth\u00ad\ufeff", "zerowidth"),
        ("ＳＭＩＴＨ", "smith"),
        ("١٢", "12"),
        ("각", "\u1100\u1161\u11a8"),
    ],
)
def test_spellings_of_one_word_fold_alike(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@given(ANY, st.data())
def test_a_stretch_of_the_folded_text_leads_back_to_where_it_came_from(text: str, data: st.DataObject) -> None:
    whole = Folded(text)
    assert whole.text == text
    if not whole.folded:
        return
    start = data.draw(st.integers(0, len(whole.folded) - 1))
    end = data.draw(st.integers(start + 1, len(whole.folded)))
    low, high = whole.back(start, end)
    assert 0 <= low < high <= len(text)
    assert whole.folded[start:end] in Folded(text[low:high]).folded
    assert whole.forward(low) <= start
    assert whole.forward(high) >= end


@given(ANY | st.text(st.characters(codec="ascii") | st.sampled_from(" \n`"), max_size=40))
def test_the_quick_way_for_plain_text_and_the_long_way_agree(text: str) -> None:
    quick, long = Folded(text), Folded(text + "\u200b")
    assert quick.folded == long.folded
    assert [quick.back(i, i + 1) for i in range(len(quick.folded))] == [
        long.back(i, i + 1) for i in range(len(long.folded))
    ]
