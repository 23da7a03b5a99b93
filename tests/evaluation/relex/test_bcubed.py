"""B-cubed against the paper's example and by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import UsageError
from incognote.evaluation.relex.consistency import bcubed, repeated

GOLD = {1: "a", 2: "a", 3: "a", 4: "a", 5: "a", 6: "b", 7: "b", 8: "c", 9: "c", 10: "c", 11: "c", 12: "c"}


def unit(item: int) -> str:
    return f"p{item % 3}"


def test_the_example_of_the_paper() -> None:
    """Bagga and Baldwin (1998), figures 5 to 7: merging the small class costs less than merging the large ones."""
    first = {item: "bc" if one in "bc" else "a" for item, one in GOLD.items()}
    second = {item: "ac" if one in "ac" else "b" for item, one in GOLD.items()}
    one, two = bcubed(GOLD, first, unit), bcubed(GOLD, second, unit)
    assert one.precision.value == pytest.approx(16 / 21)
    assert two.precision.value == pytest.approx(7 / 12)
    assert one.recall.value == two.recall.value == 1


def test_all_apart_has_full_precision() -> None:
    result = bcubed(GOLD, {item: item for item in GOLD}, unit)
    assert result.precision.value == 1
    assert result.recall.value == pytest.approx(3 / 12)


def test_only_what_stands_twice_is_scored_but_strangers_still_cost() -> None:
    gold = {1: "a", 2: "a", 3: "b"}
    assert repeated(gold) == [1, 2]
    result = bcubed(gold, dict.fromkeys(gold, "x"), unit, scored=repeated(gold))
    assert result.precision.value == pytest.approx(2 / 3)
    assert result.f1.of == 2


def test_other_mentions_are_an_error() -> None:
    with pytest.raises(UsageError, match="same mentions"):
        bcubed({1: "a"}, {2: "a"}, unit)


def test_nothing_scored_is_no_figure() -> None:
    assert bcubed({}, {}, unit).f1.value is None


@given(st.dictionaries(st.integers(0, 30), st.integers(0, 5), min_size=2))
def test_a_partition_agrees_with_itself_under_other_names(gold: dict[int, int]) -> None:
    result = bcubed(gold, {item: f"other {one}" for item, one in gold.items()}, unit, resamples=20)
    assert result.f1.value == 1
    assert result.f1.low in (1, None)
