"""Names and numbers that were found are found again if they are misspelled, and no other words."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.align.misspelled import misspelled
from incognote.nouns import Span, Text

COMMON = {"winter", "reports", "spring"}


def common(word: str) -> bool:
    return word in COMMON


def again(content: str, words: str, type_: str = "PATIENT", score: float = 0.8) -> list[str]:
    """Return what is found when only the first occurrence of `words` was detected."""
    text = Text(content)
    start = content.index(words)
    found = Span(text, start, start + len(words), type_, score)
    return [span.text for span in misspelled(text, [found], common)]


@pytest.mark.parametrize(("content", "words", "new"), [
    ("Arkwright came. Arkwnght left.", "Arkwright", ["Arkwnght"]),
    ("Ann Arkwright came. ARKWRIHGT left.", "Ann Arkwright", ["ARKWRIHGT"]),
    ("Okafur came. Okafurr left, Okafru too.", "Okafur", ["Okafurr", "Okafru"]),
    ("Okafur came. Okaffurr left.", "Okafur", []),  # two letters of a short name
    ("Arkwright came. Arkwright left.", "Arkwright", []),  # the sweep finds it
    ("Arkwright came. arkwnght left.", "Arkwright", []),
    ("Wintar came. Winter left.", "Wintar", []),  # a common word
    ("Joens came. Jones left.", "Joens", []),  # another name
    ("Lee came. Lea left.", "Lee", []),
])  # fmt: skip
def test_a_name_is_found_again_with_a_wrong_letter_or_two(content: str, words: str, new: list[str]) -> None:
    assert again(content, words) == new


@pytest.mark.parametrize(("content", "words", "new"), [
    ("MRN 4471902 and 44719O2 here", "4471902", ["44719O2"]),
    ("MRN 447-19-02 and 4471908 here", "447-19-02", ["4471908"]),
    ("MRN 4471902 and 4478888 here", "4471902", []),
    ("MRN 4471902 and 4471902 here", "4471902", []),
    ("MRN 4471 and 4472 here", "4471", []),
])  # fmt: skip
def test_a_number_is_found_again_with_a_wrong_sign(content: str, words: str, new: list[str]) -> None:
    assert again(content, words, "MEDICAL_RECORD_NUMBER") == new


def test_what_was_found_weakly_or_is_of_another_kind_is_not_searched() -> None:
    assert again("Arkwright came. Arkwnght left.", "Arkwright", score=0.4) == []
    assert again("Arkwright came. Arkwnght left.", "Arkwright", "ORGANIZATION") == []


def test_a_new_span_has_the_type_of_what_it_is_near() -> None:
    text = Text("Dr. Arkwright, and Arkwnght")
    [new] = misspelled(text, [Span(text, 4, 13, "CLINICIAN", 0.9)], common)
    assert (new.start, new.end, new.type, new.sources) == (19, 27, "CLINICIAN", ("misspelled",))


def test_a_name_within_a_nearly_known_code_is_one_span_with_it() -> None:
    text = Text("Arkwright took Arkwright-447102 and Arkwnght-447102")
    found = [Span(text, 0, 9, "PATIENT", 0.9), Span(text, 15, 31, "MEDICAL_RECORD_NUMBER", 0.9)]
    assert [span.text for span in misspelled(text, found, common)] == ["Arkwnght-447102"]


pieces = st.sampled_from(
    ["Arkwright", "Arkwnght", "Arkwright-447102", "Arkwnght-447102", "4471902", "4471-9O2", "447190", "came", "Okafur"]
)
contents = st.lists(pieces, min_size=2, max_size=8)


def drawn_spans(tokens: list[str], types: list[str]) -> tuple[Text, list[Span], list[Span]]:
    """Return a text, a span for each token with a type, and what is near them."""
    text, spans, at = Text(" ".join(tokens)), [], 0
    for token, kind in zip(tokens, types, strict=False):
        if kind:
            spans.append(Span(text, at, at + len(token), kind, 0.8))
        at += len(token) + 1
    return text, spans, misspelled(text, spans, common)


kinds = st.lists(st.sampled_from(["", "PATIENT", "MEDICAL_RECORD_NUMBER"]), min_size=2, max_size=8)


@given(contents, kinds)
def test_new_spans_are_disjoint_sorted_and_overlap_no_given_one(tokens: list[str], types: list[str]) -> None:
    _, given_, new = drawn_spans(tokens, types)
    assert all(one.end <= two.start for one, two in pairwise(new))
    assert not any(one.start < two.end and two.start < one.end for one in new for two in given_)


def test_the_property_meets_new_spans() -> None:
    def finds(drawn: Any) -> bool:
        return len(drawn_spans(*drawn)[2]) > 1

    assert hypothesis.find(st.tuples(contents, kinds), finds)
