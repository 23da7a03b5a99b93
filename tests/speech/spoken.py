"""Synthetic speech for tests, by the program flite."""

from __future__ import annotations

import io
import shutil
import subprocess
import wave
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from incognote.speech.nouns import RATE

if TYPE_CHECKING:
    from incognote.speech.nouns import Samples

VISIT = "the doctor told me to stop taking the blood pressure pills"


@cache
def say(text: str, voice: str = "rms") -> Samples:
    """Return a text as one of flite's voices says it. Without the program, the test is skipped."""
    if shutil.which("flite") is None:
        pytest.skip("the program flite is not installed")
    made = subprocess.run(
        ["flite", "-voice", voice, "-t", text, "-o", "/dev/stdout"], capture_output=True, check=True, timeout=60
    )
    with wave.open(io.BytesIO(made.stdout)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2)
        sound = np.frombuffer(file.readframes(10 * 60 * RATE), dtype="<i2")
    sound.flags.writeable = False
    return sound


def silence(seconds: float) -> Samples:
    """Return digital silence."""
    return np.zeros(int(seconds * RATE), dtype=np.int16)


def noise(seconds: float, level: float = 1000, seed: int = 0) -> Samples:
    """Return white noise with a standard deviation in units of a sample."""
    made = np.random.default_rng(seed).normal(0, level, int(seconds * RATE))
    return made.clip(-32768, 32767).astype(np.int16)


def blocks(sound: Samples, size: int = 4096) -> list[Samples]:
    """Return the sound in blocks."""
    return [sound[start : start + size] for start in range(0, len(sound), size)]
