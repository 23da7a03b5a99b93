"""Muting does not depend on how a recording is divided into blocks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from incognote.speech.muting import muted
from incognote.speech.nouns import Interval

RATE, LENGTH = 1_000, 400
SOUND = np.random.default_rng(2).integers(1_000, 30_000, (LENGTH, 2)).astype(np.int16)
TIMES = st.floats(0, 0.5)
MUTES = st.lists(st.tuples(TIMES, TIMES).map(lambda pair: Interval(min(pair), max(pair))), max_size=6)


@given(MUTES, st.lists(st.integers(0, LENGTH), max_size=8), st.sampled_from([0.0, 0.005, 0.05]))
def test_blocks_of_any_size_give_the_same_samples(mutes: list[Interval], cuts: list[int], fade: float) -> None:
    def spoken(interval: Interval, room: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        return np.linspace(0.1, 0.9, room, dtype=np.float32)

    ends = sorted({0, *cuts, LENGTH})
    blocks = [SOUND[start:end] for start, end in pairwise(ends)]
    for fill in ("silence", spoken):
        whole = np.concatenate(list(muted([SOUND], RATE, mutes, fade, fill)))  # type: ignore[arg-type]  # a union
        parts = np.concatenate(list(muted(blocks, RATE, mutes, fade, fill)))  # type: ignore[arg-type]  # the same
        assert np.array_equal(whole, parts)


@given(MUTES, st.sampled_from([0.0, 0.005, 0.05]))
def test_every_sample_within_a_mute_is_zero_and_every_one_away_from_mutes_is_kept(
    mutes: list[Interval], fade: float
) -> None:
    before = SOUND.copy()
    output = np.concatenate(list(muted([SOUND], RATE, mutes, fade)))
    assert np.array_equal(before, SOUND)
    for frame in range(LENGTH):
        start, end = frame / RATE, (frame + 1) / RATE
        lasting = [each for each in mutes if each.start < each.end]
        if any(each.start < end - 1e-5 and each.end > start + 1e-5 for each in lasting):
            assert not output[frame].any()
        elif all(each.start - fade >= end + 1e-5 or each.end + fade <= start - 1e-5 for each in lasting):
            assert np.array_equal(output[frame], SOUND[frame])
        assert (np.abs(output[frame]) <= np.abs(SOUND[frame])).all()
