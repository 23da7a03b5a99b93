"""Durations, sizes, and costs in human-readable form."""

from __future__ import annotations

import pytest

from incognote.runs.units import counted, dollars, duration, size


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (0.0004, "0.4 ms"), (0.34, "340 ms"), (12.44, "12.4 s"), (59.96, "1 min"), (200, "3 min 20 s"),
        (3599.6, "1 h"), (8040, "2 h 14 min"), (86399, "1 d"), (273600, "3 d 4 h"),
    ],
)  # fmt: skip
def test_a_duration_has_two_units_at_most_and_rounds_into_the_next(seconds: float, written: str) -> None:
    assert duration(seconds) == written


@pytest.mark.parametrize(
    ("count", "written"),
    [(1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (999_990, "1.0 MB"), (1_300_000_000, "1.3 GB"),
     (5 * 10**15, "5,000.0 TB")],
)  # fmt: skip
def test_a_size_is_in_the_unit_that_leaves_few_digits(count: int, written: str) -> None:
    assert size(count) == written


@pytest.mark.parametrize(
    ("usd", "written"),
    [(None, "price unknown"), (0, "$0.00"), (0.0042, "$0.0042"), (4.1, "$4.10"), (12345.6, "$12,345.60")],
)
def test_a_cost_is_in_dollars_and_small_ones_keep_their_digits(usd: float | None, written: str) -> None:
    assert dollars(usd) == written


def test_a_count_has_a_separator_and_its_noun_in_the_right_number() -> None:
    assert (counted(1, "query", "queries"), counted(2000, "query", "queries")) == ("1 query", "2,000 queries")
