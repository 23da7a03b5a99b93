"""Where rules and encoder probably missed something."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.extraction.routing import WORTH, Chance, chances, expected
from incognote.nouns import Span, Text
from incognote.schemas.choices import Choice
from incognote.schemas.policy import load_policy

STRICT = load_policy("strict")
TEXT = Text("Seen by Quill Rowan on Ward Heather with her budgie.")
RULES, ENCODER = "rules:names.title", "encoder:full"


def span(start: int, end: int, score: float, *sources: str, kind: str = "PERSON") -> Span:
    return Span(TEXT, start, end, kind, score, sources)


def test_what_one_detector_found_alone_is_a_disagreement_and_what_both_found_is_none() -> None:
    both = [span(8, 19, 0.9, RULES), span(14, 19, 0.7, ENCODER)]
    assert chances(both, STRICT) == []
    for voice in (RULES, ENCODER):
        assert chances([span(8, 19, 0.9, voice)], STRICT) == [Chance(8, 19, "alone")]


def test_what_is_known_beforehand_is_no_disagreement() -> None:
    assert chances([span(8, 19, 1.0, "known:PERSON")], STRICT) == []
    assert chances([span(8, 19, 1.0, "known:PERSON"), span(8, 13, 0.9, RULES)], STRICT) == []


def test_a_doubt_inside_of_what_is_replaced_anyhow_is_none() -> None:
    found = [span(8, 19, 0.9, RULES), span(8, 19, 0.9, ENCODER)]
    assert chances([*found, span(14, 19, 0.4, RULES)], STRICT) == []
    assert chances([*found, span(19, 27, 0.4, RULES)], STRICT) == [Chance(19, 27, "doubt", 0.4)]


def test_doubts_about_one_thing_count_once_and_as_the_surest_says() -> None:
    doubts = [span(8, 13, 0.2, RULES), span(8, 19, 0.4, ENCODER), span(28, 35, 0.1, ENCODER)]
    assert chances(doubts, STRICT) == [Chance(8, 19, "doubt", 0.4), Chance(28, 35, "doubt", 0.1)]


def test_types_that_the_policy_does_not_replace_do_not_count() -> None:
    keeps = replace(STRICT, types={**STRICT.types, "PERSON": Choice("keep")})
    assert chances([span(8, 13, 0.9, RULES), span(28, 35, 0.4, ENCODER)], keeps) == []


def test_the_threshold_of_the_policy_divides_doubt_from_finding() -> None:
    eager = replace(STRICT, types={**STRICT.types, "PERSON": Choice("label", threshold=0.3)})
    raw = [span(8, 13, 0.4, ENCODER)]
    assert [c.kind for c in chances(raw, STRICT)] == ["doubt"]
    assert [c.kind for c in chances(raw, eager)] == ["alone"]


def test_a_stretch_is_expected_to_miss_what_stands_in_it_or_reaches_into_it() -> None:
    among = [Chance(8, 13, "alone"), Chance(28, 35, "doubt", 0.4)]
    one, other = WORTH["alone"], WORTH["doubt"] * 0.16
    assert expected(among, 0, 52) == pytest.approx(one + other)
    assert expected(among, 13, 28) == 0
    assert expected(among, 12, 28) == one
    assert expected(among, 34, 52) == pytest.approx(other)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 51),
            st.integers(1, 12),
            st.floats(0.02, 1.0),
            st.sampled_from([RULES, ENCODER, "known:PERSON"]),
        ),
        max_size=12,
    )
)
def test_doubts_are_disjoint_and_touch_nothing_found(drawn: list[tuple[int, int, float, str]]) -> None:
    raw = [span(start, min(start + length, 52), score, voice) for start, length, score, voice in drawn]
    found = [s for s in raw if s.score >= 0.5]
    doubts = [c for c in chances(raw, STRICT) if c.kind == "doubt"]
    assert all(one.end <= other.start for one, other in pairwise(doubts))
    assert not any(c.start < s.end and s.start < c.end for c in doubts for s in found)
    assert all(0 <= c.missed <= max(WORTH.values()) for c in chances(raw, STRICT))
