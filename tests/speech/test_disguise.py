"""A disguised voice has another pitch and other formants, and the same words at the same times."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incognote.speech.disguise import disguised, parameters
from incognote.speech.nouns import RATE

from .sounds import tones
from .spoken import VISIT, say

SOUND = (tones(1.5, channels=2) * 32_767).astype(np.int16)


def _all(blocks: list[npt.NDArray[Any]], rate: int = RATE, seed: bytes = b"one") -> npt.NDArray[Any]:
    return np.concatenate(list(disguised(blocks, rate, seed)))


def _pitch(sound: npt.NDArray[Any]) -> float:
    """Return the median pitch of voiced frames, in Hz, by autocorrelation."""
    found = []
    for at in range(0, len(sound) - 1_024, 512):
        frame = sound[at : at + 1_024].astype(float)
        frame -= frame.mean()
        if frame.std() > 500:
            products = np.correlate(frame, frame, "full")[1_023:]
            lag = 40 + int(products[40:250].argmax())
            if products[lag] > 0.5 * products[0]:
                found.append(RATE / lag)
    return float(np.median(found))


@pytest.mark.parametrize("seed", [b"one", b"two", b"three", b"four"])
def test_the_pitch_is_shifted_by_the_factor_of_the_seed(seed: bytes) -> None:
    speech = say(VISIT, "slt")
    output = _all([speech[:, None]], seed=seed)
    assert output.shape == (len(speech), 1)
    assert _pitch(output[:, 0]) / _pitch(speech) == pytest.approx(parameters(seed)[0], rel=0.06)


def test_words_keep_their_times_and_loudness() -> None:
    speech = say(VISIT)
    output = _all([speech[:, None]])[:, 0]
    loud = [
        np.array([part.astype(float).std() for part in np.array_split(each, len(each) // 800)])
        for each in (speech, output)
    ]
    assert np.corrcoef(*loud)[0, 1] > 0.9
    assert 0.5 < output.astype(float).std() / speech.astype(float).std() < 1.5


@given(st.lists(st.integers(0, len(SOUND)), max_size=6))
@settings(max_examples=10)
def test_blocks_of_any_size_give_the_same_samples(cuts: list[int]) -> None:
    ends = sorted({0, *cuts, len(SOUND)})
    assert np.array_equal(_all([SOUND[start:end] for start, end in pairwise(ends)]), _all([SOUND]))


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100])
@pytest.mark.parametrize("length", [0, 1, 500, 20_011])
@pytest.mark.parametrize("kind", ["int16", "int32", "float32", "float64"])
def test_length_channels_and_type_are_kept(rate: int, length: int, kind: str) -> None:
    sound = np.full((length, 2), 0.1).astype(kind)
    blocks = list(disguised([sound], rate, b"one"))
    output = np.concatenate(blocks) if blocks else sound
    assert (output.shape, output.dtype) == (sound.shape, sound.dtype)


def test_silence_stays_silence() -> None:
    assert not _all([np.zeros((RATE, 1), np.int16)]).any()


def test_seeds_give_parameters_of_their_own_within_the_limits() -> None:
    made = [parameters(bytes([at])) for at in range(200)]
    assert len(set(made)) == 200
    assert all(2 ** (2 / 12) <= max(pitch, 1 / pitch) <= 2 ** (4 / 12) for pitch, _ in made)
    assert all(0.65 <= power <= 0.9 for _, power in made)
