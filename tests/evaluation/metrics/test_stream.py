"""The bootstrap over documents that are not kept in memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import UsageError
from incognote.evaluation.metrics.stream import Stream
from incognote.evaluation.metrics.tally import DocumentTally


def streamed(values: list[int], resamples: int = 200, seed: int = 0, announced: int | None = None) -> Stream:
    stream = Stream(len(values) if announced is None else announced, resamples, seed)
    for value in values:
        stream.add("a", {("n",): 1, ("value",): value}, ("b", {("value",): 2 * value}))
    return stream


@given(st.lists(st.integers(0, 9), min_size=1, max_size=600))
def test_every_resample_draws_as_many_documents_as_there_are(values: list[int]) -> None:
    sums = streamed(values, 20).sums("a")
    assert sums.of(("n",)).tolist() == [len(values)] * 21
    assert sums.total(("value",)) == sum(values)


def test_all_metrics_draw_the_same_documents() -> None:
    stream = streamed(list(range(700)))
    assert (2 * stream.sums("a").of(("value",)) == stream.sums("b").of(("value",))).all()
    again = streamed(list(range(700)))
    assert (again.sums("a").of(("value",)) == stream.sums("a").of(("value",))).all()


def test_the_draws_are_those_of_a_sample_with_replacement() -> None:
    values = [0] * 500 + [1] * 500  # in sorted order, a block that is drawn too evenly would show
    sums = streamed(values, 4000).sums("a").of(("value",))[1:]
    assert sums.mean() == pytest.approx(500, abs=1.5)
    assert sums.std() == pytest.approx(np.sqrt(250), rel=0.05)


def test_intervals_are_those_of_the_tally_but_for_the_random_numbers() -> None:
    values = [n % 7 for n in range(400)]
    tally = DocumentTally()
    for value in values:
        tally.add({("n",): 1, ("value",): value})
    one, other = (
        sums.share([("value",)], [("n",)]) for sums in (tally.sums(2000, 0), streamed(values, 2000).sums("a"))
    )
    assert (one.value, one.of) == (other.value, other.of)
    assert one.low == pytest.approx(other.low, abs=0.02)
    assert one.high == pytest.approx(other.high, abs=0.02)


def test_a_slice_that_one_document_alone_fills_has_no_interval() -> None:
    stream = Stream(300, 50, 0)
    for number in range(300):
        stream.add("a", {("n",): 1, ("rare",): int(number == 299)})
    assert stream.sums("a").share([("rare",)], [("rare",)]).low is None
    assert stream.sums("a").share([("rare",)], [("n",)]).low is not None


@pytest.mark.parametrize("announced", [2, 4])
def test_more_documents_or_fewer_than_announced_are_no_sample(announced: int) -> None:
    with pytest.raises(UsageError, match="The gold changed"):
        streamed([1, 2, 3], announced=announced).sums("a")
