"""Resampling keeps speech, its times, and its length, and lets nothing through that another rate cannot hold."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.speech.resampling import resampled


def _tone(hertz: float, rate: int, length: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.sin(2 * np.pi * hertz * np.arange(length) / rate).astype(np.float32)


@pytest.mark.parametrize("rate", [8_000, 11_025, 22_050, 44_100, 48_000, 47_999, 96_000, 192_000])
@pytest.mark.parametrize("hertz", [100, 1_000, 3_000])
def test_a_tone_of_speech_is_kept_at_its_times(rate: int, hertz: int) -> None:
    output = np.concatenate(list(resampled([_tone(hertz, rate, rate)], rate, 16_000)))
    assert len(output) in (16_000, 16_001)
    assert np.abs(output[200:15_800] - _tone(hertz, 16_000, len(output))[200:15_800]).max() < 0.002


def test_a_tone_above_the_new_band_is_removed() -> None:
    output = np.concatenate(list(resampled([_tone(9_000, 44_100, 44_100)], 44_100, 16_000)))
    assert np.abs(output[200:-200]).max() < 0.001


@given(
    st.lists(st.integers(0, 3_000), max_size=10),
    st.sampled_from([(44_100, 16_000), (8_000, 16_000), (48_000, 16_000), (16_000, 44_100), (12_345, 16_000)]),
)
def test_blocks_of_any_size_give_the_same_samples(cuts: list[int], rates: tuple[int, int]) -> None:
    sound = np.random.default_rng(3).normal(0, 0.1, 3_000).astype(np.float32)
    ends = sorted({0, *cuts, 3_000})
    whole = np.concatenate(list(resampled([sound], *rates)))
    parts = np.concatenate(list(resampled([sound[start:end] for start, end in pairwise(ends)], *rates)))
    assert len(whole) == len(parts)
    assert np.abs(whole - parts).max() < 1e-5
    assert abs(len(whole) - 3_000 * rates[1] / rates[0]) <= 1
