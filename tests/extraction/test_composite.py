"""Composite requests: which texts go together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from incognote.extraction.composite import LIGHT, MOST, grouped, room

SIZES = st.lists(st.tuples(st.integers(0, 200), st.integers(0, 9)), max_size=60)


@given(SIZES, st.integers(0, 256))
def test_every_chunk_is_asked_about_once_and_no_group_overflows(sizes: list[tuple[int, int]], words: int) -> None:
    groups = grouped(sizes, words)
    assert sorted(i for group in groups for i in group) == list(range(len(sizes)))
    for group in groups:
        if len(group) > 1:
            assert sum(sizes[i][0] for i in group) <= words
            assert all(sizes[i][0] <= LIGHT for i in group)
            assert len(group) <= MOST


def test_heavy_texts_go_alone_and_texts_of_a_kind_together() -> None:
    sizes = [(200, 3), (10, 0), (12, 5), (11, 0), (12, 6)]
    assert grouped(sizes, 24) == [[0], [1, 3], [2, 4]]


def test_room_is_bounded_by_the_chunk_and_by_what_the_context_leaves() -> None:
    assert room(256, 8192, 1200, 2048) == 256
    assert room(256, 4096, 1200, 2600) == 98
    assert room(256, 2048, 1500, 1000) == 0
