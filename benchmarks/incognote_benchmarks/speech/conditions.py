"""What stands between a speaker and a recording: noise, a telephone, a keyboard. All of it is synthetic."""

from __future__ import annotations

import zlib
from functools import cache

import numpy as np

from incognote.speech.nouns import RATE
from incognote_benchmarks.speech import flite
from incognote_benchmarks.speech.spoken import Sound

CONDITIONS = ("clean", "white", "babble", "telephone", "overlap", "keyboard")
"""`white` and `babble`: noise of 15 dB below the speech. `overlap` changes when speakers start, not the sound."""
SNR = 15.0
_BAND = (300.0, 3400.0)  # Hz
_KEYS = 4.0  # per second, while somebody types
_BABBLE = (
    "the weather has been better than last week and the garden is dry again",
    "we took the long way home because the bridge was closed for repair",
    "there is soup in the kitchen and bread on the table if anybody is hungry",
    "they played the same song twice and nobody seemed to notice",
)


def applied(condition: str, sound: Sound, name: str) -> Sound:
    """Return the sound under a condition of `CONDITIONS`. The name of the recording decides the noise."""
    random = np.random.default_rng(zlib.crc32(f"{name} {condition}".encode()))
    if condition == "white":
        return _mixed(sound, random.standard_normal(len(sound)))
    if condition == "babble":
        begin = int(random.integers(len(_babble())))
        return _mixed(sound, np.resize(np.roll(_babble(), -begin), len(sound)))
    if condition == "telephone":
        return _telephone(sound)
    if condition == "keyboard":
        return np.clip(sound + _keyboard(len(sound), random), -1, 1)
    return np.clip(sound, -1, 1)


def _mixed(sound: Sound, noise: Sound) -> Sound:
    """Return the sound with noise at `SNR`. Only the loud parts of the sound, which are speech, count for the ratio."""
    loud = np.abs(sound) > 0.01
    power = float(np.mean(sound[loud] ** 2)) if loud.any() else 1.0
    gain = np.sqrt(power / 10 ** (SNR / 10) / float(np.mean(noise**2)))
    mixed: Sound = np.clip(sound + gain * noise, -1, 1)
    return mixed


@cache
def _babble() -> Sound:
    """Return several voices at once, which say nothing of anybody."""
    spoken = [flite.say([line.split()], voice)[0].sound for line, voice in zip(_BABBLE, flite.VOICES, strict=True)]
    length = 8 * RATE
    total = np.zeros(length)
    for i, each in enumerate([*spoken, *reversed(spoken)]):
        total += np.resize(np.roll(each, 997 * i), length)
    return total


def _telephone(sound: Sound) -> Sound:
    """Return the sound in the band of a telephone. Writing it as mu-law at 8 kHz does the rest."""
    return np.clip(_banded(sound, *_BAND), -1, 1)


def _keyboard(samples: int, random: np.random.Generator) -> Sound:
    """Return the clicks of a keyboard, in bouts of typing."""
    clicks = np.zeros(samples)
    at = random.uniform(0, 2)
    while (begin := round(at * RATE)) < samples:
        click = _click(random)[: samples - begin]
        clicks[begin : begin + len(click)] += click
        bout = random.random() < 0.06
        at += random.uniform(1.5, 4) if bout else random.exponential(1 / _KEYS)
    return clicks


def _click(random: np.random.Generator) -> Sound:
    """Return a click of 25 ms: a burst of noise that decays, with a resonance of the case."""
    noise = random.standard_normal(RATE // 40) * np.exp(-np.arange(RATE // 40) / (0.004 * RATE))
    filtered = _banded(noise, 900, 5500)
    loudest = max(1e-6, float(np.abs(filtered).max()))
    loud: Sound = filtered * (random.uniform(0.08, 0.2) / loudest)
    return loud


def rustle(seconds: float, random: np.random.Generator) -> Sound:
    """Return a noise without voice, such as paper, of a script's `[noise]`."""
    samples = round(seconds * RATE)
    noise = _banded(random.standard_normal(samples), 1200, 6000)
    shape = np.interp(np.linspace(0, 8, samples), np.arange(9), [0.0, *random.uniform(0.2, 1, 7), 0.0])
    rustled: Sound = noise * shape * (0.06 / max(1e-6, float(np.abs(noise).max())))
    return rustled


def _banded(sound: Sound, low: float, high: float) -> Sound:
    """Return the sound without what is outside of a band, in Hz."""
    spectrum = np.fft.rfft(sound)
    frequencies = np.fft.rfftfreq(len(sound), 1 / RATE)
    spectrum[(frequencies < low) | (frequencies > high)] = 0
    banded: Sound = np.fft.irfft(spectrum, len(sound))
    return banded
