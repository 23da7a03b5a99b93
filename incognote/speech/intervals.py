"""Algebra of Intervals. Every function returns Intervals in order that neither overlap nor touch, none of them empty.

Arguments may be in any order and may overlap. The end of an Interval is not in it.
"""

from __future__ import annotations

from collections.abc import Iterable

from incognote.speech.nouns import Interval

_DIGITS = 9  # of seconds


def union(*lists: Iterable[Interval]) -> list[Interval]:
    """Return the times that are in any Interval of any list."""
    merged: list[Interval] = []
    for each in sorted(interval for intervals in lists for interval in intervals if interval.start < interval.end):
        if merged and each.start <= merged[-1].end:
            merged[-1] = Interval(merged[-1].start, max(merged[-1].end, each.end))
        else:
            merged.append(each)
    return merged


def intersection(first: Iterable[Interval], second: Iterable[Interval]) -> list[Interval]:
    """Return the times that are in both lists."""
    both: list[Interval] = []
    left, right = union(first), union(second)
    i = j = 0
    while i < len(left) and j < len(right):
        start, end = max(left[i].start, right[j].start), min(left[i].end, right[j].end)
        if start < end:
            both.append(Interval(start, end))
        if left[i].end < right[j].end:
            i += 1
        else:
            j += 1
    return both


def subtraction(kept: Iterable[Interval], removed: Iterable[Interval]) -> list[Interval]:
    """Return the times that are in `kept` and not in `removed`."""
    away = union(removed)
    left: list[Interval] = []
    at = 0
    for each in union(kept):
        start = each.start
        while at < len(away) and away[at].end <= start:
            at += 1
        for hole in away[at:]:
            if hole.start >= each.end:
                break
            if hole.start > start:
                left.append(Interval(start, hole.start))
            start = hole.end
        if start < each.end:
            left.append(Interval(start, each.end))
    return left


def seconds(intervals: Iterable[Interval]) -> float:
    """Return the time in any of the Intervals, in seconds. Time in several of them counts once."""
    return sum(each.end - each.start for each in union(intervals))


def widened(intervals: Iterable[Interval], before: float, after: float, total: float) -> list[Interval]:
    """Return the Intervals with margins, within the recording (A.5 of the RedactOR paper, Algorithm 2).

    An empty Interval becomes its margins.

    Args:
        intervals: the Intervals.
        before, after: the margins, in seconds.
        total: the length of the recording, in seconds.

    Raises:
        ValueError: a margin is negative.
    """
    if before < 0 or after < 0:
        raise ValueError("a margin is negative")
    wider = []
    for each in intervals:
        # rounded, so that 4.23 - 0.3 is 3.93, but never to less than the Interval
        start = max(0.0, min(each.start, round(each.start - before, _DIGITS)))
        end = min(total, max(each.end, round(each.end + after, _DIGITS)))
        if start < end:
            wider.append(Interval(start, end))
    return union(wider)
