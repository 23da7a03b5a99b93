"""Where rules and encoder probably missed something."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.extraction.chunks import Chunk, length
from incognote.extraction.routing import SHARES, SHORT, VALUES, Chance, chances, least_value, valuable, value, values
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


DOUBT, ALONE = Chance(8, 13, "doubt", 0.4), Chance(28, 35, "alone")


def test_more_doubts_and_fewer_words_make_a_call_more_valuable() -> None:
    order = [value(some, 50) for some in ([], [DOUBT], [DOUBT, DOUBT], [DOUBT, DOUBT, ALONE])]
    assert order == sorted(order)
    assert len(set(order)) == 4
    assert value([DOUBT], 20) > value([DOUBT], 200)
    assert value([Chance(8, 13, "doubt", 0.1)], 50) < value([DOUBT], 50)


def test_a_call_completes_at_most_one_document() -> None:
    assert 0 < value([], 10_000) < value([DOUBT] * 1000, 1) < 1000 / 828


def test_each_chunk_is_valued_by_what_is_in_it_or_reaches_into_it() -> None:
    parts = [Chunk(0, 10), Chunk(10, 40), Chunk(40, 52)]
    first, second, third = values(TEXT.content, parts, [DOUBT, ALONE])
    counts = [length(TEXT.content[part.start : part.end]) for part in parts]
    assert first == value([DOUBT], counts[0])
    assert second == value([DOUBT, ALONE], counts[1])
    assert third == value([], counts[2])


@pytest.mark.parametrize("words", [SHORT, SHORT + 1])
def test_a_larger_share_sends_chunks_of_less_value(words: int) -> None:
    limits = [least_value(share / 100, words) for share in range(101)]
    assert limits == sorted(limits, reverse=True)
    assert limits[20] == pytest.approx(VALUES[words > SHORT][SHARES.index(0.2)])
    assert limits[-1] == pytest.approx(0)


def test_all_chunks_are_sent_for_the_whole_share_and_the_most_valuable_ones_for_less() -> None:
    parts = [Chunk(0, 26), Chunk(26, 52)]
    among = [ALONE] * 3
    assert valuable(TEXT.content, parts, among, 1.0) == parts
    assert valuable(TEXT.content, parts, [], 0.2) == []
    worth = values(TEXT.content, parts, among)[1]
    share = next(s / 1000 for s in range(1, 1001) if least_value(s / 1000, 5) <= worth)
    assert valuable(TEXT.content, parts, among, share) == [parts[1]]
    assert valuable(TEXT.content, parts, among, share - 0.001) == []


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
