"""Intervals: every function agrees with sets of small steps of time, and with the worked example of RedactOR, A.5.1."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.speech.intervals import intersection, seconds, subtraction, union, widened
from incognote.speech.nouns import Interval

TOTAL = 40
TIMES = st.integers(0, TOTAL)
INTERVALS = st.lists(st.tuples(TIMES, TIMES).map(lambda pair: Interval(min(pair), max(pair))), max_size=12)


def _steps(intervals: list[Interval]) -> set[int]:
    return {step for each in intervals for step in range(int(each.start), int(each.end))}


def _in_order(intervals: list[Interval]) -> bool:
    lasting = all(each.start < each.end for each in intervals)
    return lasting and all(one.end < two.start for one, two in pairwise(intervals))


def test_the_worked_example_of_the_paper_is_exact() -> None:
    phrases = [Interval(4.23, 4.80), Interval(12.57, 13.20)]
    assert widened(phrases, 0.3, 0.3, total=16.0) == [Interval(3.93, 5.10), Interval(12.27, 13.50)]


def test_missed_speech_of_the_paper_is_what_voices_have_beyond_words() -> None:
    words = [Interval(0, 2.85), Interval(2.95, 7.42), Interval(7.57, 15.10), Interval(15.30, 16)]
    missed = subtraction([Interval(0, 16)], words)
    assert missed == [Interval(2.85, 2.95), Interval(7.42, 7.57), Interval(15.10, 15.30)]
    voices = [Interval(0, 15.05)]
    assert intersection(missed, voices) == [Interval(2.85, 2.95), Interval(7.42, 7.57)]


@given(INTERVALS, INTERVALS)
def test_union_intersection_and_subtraction_agree_with_sets(one: list[Interval], two: list[Interval]) -> None:
    for found, steps in (
        (union(one, two), _steps(one) | _steps(two)),
        (intersection(one, two), _steps(one) & _steps(two)),
        (subtraction(one, two), _steps(one) - _steps(two)),
    ):
        assert _steps(found) == steps
        assert _in_order(found)
        assert seconds(found) == len(steps)


@given(INTERVALS, INTERVALS)
def test_kept_and_removed_time_is_the_whole_time(one: list[Interval], two: list[Interval]) -> None:
    whole = seconds(subtraction(one, two)) + seconds(intersection(one, two))
    assert whole == seconds(one)


@given(INTERVALS, st.integers(0, 5), st.integers(0, 5))
def test_margins_reach_no_further_than_the_recording(intervals: list[Interval], before: int, after: int) -> None:
    wanted = {
        step
        for each in intervals
        for step in range(max(0, int(each.start) - before), min(TOTAL, int(each.end) + after))
    }
    found = widened(intervals, before, after, TOTAL)
    assert _steps(found) == wanted
    assert _in_order(found)


@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)).map(lambda pair: Interval(min(pair), max(pair)))),
    st.floats(0, 2),
)
def test_a_margin_never_uncovers_a_part_of_an_interval(intervals: list[Interval], margin: float) -> None:
    assert subtraction(intervals, widened(intervals, margin, margin, total=100)) == []


def test_an_empty_interval_becomes_its_margins() -> None:
    assert widened([Interval(5, 5)], 0.25, 0.5, total=10) == [Interval(4.75, 5.5)]


def test_an_interval_after_the_end_is_left_out() -> None:
    assert widened([Interval(11, 12)], 0.25, 0.25, total=10) == []


def test_a_negative_margin_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        widened([Interval(1, 2)], -0.1, 0.1, total=10)
