"""Sound files for tests: tones and noise in every container, made by soundfile and ffmpeg."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

Sound = npt.NDArray[np.float64]


def tones(seconds: float = 3.0, rate: int = 16_000, channels: int = 2, level: float = 0.3) -> Sound:
    """Return a tone of its own in each channel, with noise, of shape (frames, channels). No sample is zero."""
    time = np.arange(round(seconds * rate)) / rate
    noise = np.random.default_rng(1).normal(0, 0.02, (len(time), channels))
    made = np.stack([np.sin(2 * np.pi * (300 + 200 * at) * time) for at in range(channels)], axis=1) * level + noise
    return np.where(np.abs(made) < 0.005, 0.005, made)


def filed(sound: npt.NDArray[Any], rate: int = 16_000, container: str = "WAV", codec: str = "PCM_16") -> bytes:
    """Return samples as a file."""
    import soundfile

    out = io.BytesIO()
    soundfile.write(out, sound, rate, codec, format=container)
    return out.getvalue()


def read(data: bytes, kind: str = "float64") -> npt.NDArray[Any]:
    """Return the samples of a file as soundfile reads them, of shape (frames, channels)."""
    import soundfile

    found: npt.NDArray[Any] = soundfile.read(io.BytesIO(data), dtype=kind, always_2d=True)[0]
    return found


def converted(data: bytes, suffix: str, arguments: Sequence[str], folder: Any) -> bytes:
    """Return a file that ffmpeg made of another one. Without the program, the test is skipped."""
    if shutil.which("ffmpeg") is None:
        pytest.skip("the program ffmpeg is not installed")
    (folder / "in").write_bytes(data)
    made = folder / f"out{suffix}"
    command = ["ffmpeg", "-v", "error", "-y", "-i", str(folder / "in"), *arguments, str(made)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, timeout=120)
    return bytes(made.read_bytes())
