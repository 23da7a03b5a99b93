"""Recordings for tests: tones in place of speech, and what is heard in it."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np

from incognote.speech.nouns import Heard, HeardWord, Interval

WORDS = "good morning mister thompson your blood pressure is high today"
SECONDS = 6.0
RATE = 16_000


def sound(seconds: float = SECONDS, rate: int = RATE, channels: int = 1) -> np.ndarray:
    """Return tones of shape (frames, channels), int16. Each channel is another one."""
    time = np.arange(round(seconds * rate)) / rate
    loudness = 4000 * (1.2 + np.sin(2 * np.pi * 3 * time))
    tones = [np.sin(2 * np.pi * 220 * (number + 1) * time) for number in range(channels)]
    made = (loudness * np.array(tones)).T.astype(np.int16)
    made[made == 0] = 1
    return made


def file(samples: np.ndarray | None = None, kind: str = "WAV", coding: str | None = None, rate: int = RATE) -> bytes:
    """Return a sound file."""
    import soundfile

    out = io.BytesIO()
    level = {"bitrate_mode": "CONSTANT", "compression_level": 0.5} if kind == "MP3" else {}
    soundfile.write(out, sound() if samples is None else samples, rate, format=kind, subtype=coding, **level)
    return out.getvalue()


def heard(
    words: str = WORDS, gaps: Sequence[tuple[float, float]] = (), confidence: float = 0.95, seconds: float = SECONDS
) -> Heard:
    """Return words of 0.4 seconds with 0.1 seconds between them, from 0.5 s on. Others can stand in a gap."""
    said = [
        HeardWord(word, round(0.5 + 0.5 * number, 3), round(0.9 + 0.5 * number, 3), confidence)
        for number, word in enumerate(words.split())
    ]
    missing = tuple(Interval(*gap) for gap in gaps)
    voiced = (Interval(0.5, said[-1].end if said else 0.5),)
    return Heard(tuple(said), voiced, missing, seconds)
