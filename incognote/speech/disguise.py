"""Disguise the voices of a recording: another pitch and other formants, at equal length."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, tee
from typing import TYPE_CHECKING, Any

from incognote.speech.nouns import RATE
from incognote.speech.resampling import resampled
from incognote.speech.sources import floats, native

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from incognote.speech.resampling import Mono
    from incognote.speech.sources import Native

    Frames = npt.NDArray[np.float32]

_TOGETHER = 256  # frames that are transformed at a time
_WIDE, _SHORT = 1024, 480  # samples of a frame, for pitch and for formants
_ORDER = 20  # of linear prediction
_SEMITONES = (2.0, 4.0)  # up or down
_MCADAMS = (0.65, 0.9)


def disguised(blocks: Iterable[Native], rate: int, seed: bytes) -> Iterator[Native]:
    """Yield a recording with disguised voices, of the same length.

    The pitch is shifted by 2 to 4 semitones up or down with a phase vocoder (Flanagan and Golden 1966; Laroche and
    Dolson 1999), and formants are moved by the McAdams coefficient of linear prediction, from 0.65 to 0.9 (Patino et
    al., Speaker anonymisation using the McAdams coefficient, Interspeech 2021). Both are the same for the whole
    recording, for all of its speakers, and for each recording of the same seed.

    A listener who knows a speaker may no longer recognize the voice at once. It is no anonymization: the words, the
    accent and the rhythm stay. Who knows or guesses the two parameters can undo most of it, and a speaker verifier that
    was trained on disguised speech recognizes many speakers. How many was not measured here. So the seed must be secret
    and of its own for each recording. What lies above 8 kHz is lost.

    Args:
        blocks: consecutive blocks of shape (frames, channels).
        rate: in frames a second.
        seed: what the parameters are derived from.

    Yields:
        Blocks in the type of the first one. The same samples and seed give the same blocks, however they are divided.
    """
    import numpy as np

    source = iter(blocks)
    first = next(source, None)
    if first is None:
        return
    kind, channels = first.dtype, first.shape[1]
    pitch, mcadams = parameters(seed)
    taken = 0

    def passing() -> Iterator[Native]:
        nonlocal taken
        for block in chain((first,), source):
            taken += len(block)
            yield block

    def voice(stream: Iterable[Native], channel: int) -> Iterator[Mono]:
        sound = resampled((floats(block[:, channel]) for block in stream), rate, RATE)
        shifted = _overlapped(sound, _WIDE, _WIDE // 8, _Shift(pitch))
        moved = _overlapped(shifted, _SHORT, _SHORT // 2, lambda frames: _moved(frames, mcadams))
        yield from resampled(moved, RATE, rate)

    made = 0
    voices = [voice(stream, channel) for channel, stream in enumerate(tee(passing(), channels))]
    for parts in zip(*voices, strict=True):
        sound = np.stack(parts, axis=1)[: max(0, taken - made)]
        made += len(sound)
        yield native(sound, kind)


def parameters(seed: bytes) -> tuple[float, float]:
    """Return the factor of the pitch, and the McAdams coefficient, that belong to a seed."""
    digest = hashlib.sha256(b"incognote disguise" + seed).digest()
    one, two = (int.from_bytes(digest[at : at + 8], "big") / 2**64 for at in (0, 8))
    semitones = _SEMITONES[0] + one * (_SEMITONES[1] - _SEMITONES[0])
    pitch: float = 2 ** ((semitones if digest[16] & 1 else -semitones) / 12)
    return pitch, _MCADAMS[0] + two * (_MCADAMS[1] - _MCADAMS[0])


def _overlapped(blocks: Iterable[Mono], size: int, hop: int, change: Callable[[Frames], Frames]) -> Iterator[Mono]:
    """Yield samples whose overlapping frames were changed, of the same length."""
    import numpy as np

    window = np.sqrt(0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)).astype(np.float32)
    window *= np.float32(np.sqrt(2 * hop / size))  # the squares of the windows over a sample have the sum 1
    held = np.zeros(size - hop, np.float32)
    tail = np.zeros(size - hop, np.float32)  # of frames that are not complete
    skipped = size - hop  # the zeros before the recording
    left = 0  # samples of the recording that are not yielded yet

    def added(count: int) -> Mono:
        nonlocal held, tail, skipped
        frames = np.lib.stride_tricks.sliding_window_view(held, size)[::hop][:count] * window
        frames = change(frames) * window
        out = np.zeros(len(tail) + count * hop, np.float32)
        out[: len(tail)] = tail
        for at, frame in enumerate(frames):
            out[at * hop : at * hop + size] += frame
        held, tail = held[count * hop :], out[count * hop :]
        ready = out[skipped : count * hop]
        skipped = max(0, skipped - count * hop)
        return ready

    for block in blocks:
        held = np.concatenate((held, block))
        left += len(block)
        while len(held) >= size + hop * (_TOGETHER - 1):
            ready = added(_TOGETHER)
            left -= len(ready)
            yield ready
    held = np.concatenate((held, np.zeros(2 * size, np.float32)))
    while left > 0:
        ready = added(min(_TOGETHER, (len(held) - size) // hop + 1))[:left]
        left -= len(ready)
        yield ready


class _Shift:
    """Shift the pitch of overlapping frames. It keeps the phases of the last frame."""

    def __init__(self, factor: float) -> None:
        import numpy as np

        bins = np.arange(_WIDE // 2 + 1)
        self._factor, self._bins = factor, bins
        self._from = np.rint(bins / factor).astype(int)
        self._step = 2 * np.pi * (_WIDE // 8) / _WIDE  # phase of a bin's number in a hop
        self._last = np.zeros(len(bins))
        self._phase = np.zeros(len(bins))

    def __call__(self, frames: Frames) -> Frames:
        import numpy as np

        spectra = np.fft.rfft(frames)
        phases = np.angle(spectra)
        advance = np.diff(phases, axis=0, prepend=self._last[None]) - self._step * self._bins
        exact = self._step * self._bins + advance - 2 * np.pi * np.rint(advance / (2 * np.pi))
        inside = self._from < len(self._bins)
        source = np.where(inside, self._from, 0)
        turned = self._phase + np.cumsum(exact[:, source] * self._factor, axis=0)
        self._last, self._phase = phases[-1], turned[-1] % (2 * np.pi)
        shifted: Frames = np.fft.irfft(np.abs(spectra)[:, source] * inside * np.exp(1j * turned)).astype(np.float32)
        return shifted


def _moved(frames: Frames, mcadams: float) -> Frames:
    """Return frames with the angles of their poles raised to a power, and the same energy."""
    import numpy as np

    sound = frames.astype(np.float64)
    count, size = sound.shape
    spectra = np.abs(np.fft.rfft(sound, 2 * size)) ** 2
    products = np.fft.irfft(spectra)[:, : _ORDER + 1]
    products[:, 0] = products[:, 0] * (1 + 1e-6) + 1e-9
    old = _predictor(products)
    companions = np.zeros((count, _ORDER, _ORDER))
    companions[:, np.arange(1, _ORDER), np.arange(_ORDER - 1)] = 1
    companions[:, 0] = -old[:, 1:]
    poles = np.linalg.eigvals(companions)
    angles = np.angle(poles)
    turned = np.where(np.abs(poles.imag) > 1e-9, np.sign(angles) * np.abs(angles) ** mcadams, angles)
    poles = np.minimum(np.abs(poles), 0.998) * np.exp(1j * turned)
    new = np.ones((count, 1), complex)
    for at in range(_ORDER):
        new = np.pad(new, ((0, 0), (0, 1))) - np.pad(new, ((0, 0), (1, 0))) * poles[:, at, None]
    padded = np.pad(sound, ((0, 0), (_ORDER, 0)))
    rest = sum(padded[:, _ORDER - at : _ORDER - at + size] * old[:, at, None] for at in range(_ORDER + 1))
    back = new.real[:, :0:-1]
    out = np.zeros_like(padded)
    for at in range(size):
        out[:, at + _ORDER] = rest[:, at] - (out[:, at : at + _ORDER] * back).sum(axis=1)
    out = out[:, _ORDER:]
    gain = np.sqrt((sound**2).sum(axis=1) / np.maximum((out**2).sum(axis=1), 1e-12))
    changed: Frames = (out * gain[:, None]).astype(np.float32)
    return changed


def _predictor(products: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the linear predictors 1, a1, a2, ... of rows of autocorrelations (Levinson and Durbin)."""
    import numpy as np

    count = len(products)
    found = np.zeros((count, _ORDER + 1))
    found[:, 0] = 1
    error = products[:, 0].copy()
    for order in range(1, _ORDER + 1):
        reflection = -(found[:, :order] * products[:, order:0:-1]).sum(axis=1) / error
        found[:, 1 : order + 1] += reflection[:, None] * found[:, order - 1 :: -1][:, :order]
        error = np.maximum(error * (1 - reflection**2), 1e-12)
    return found
