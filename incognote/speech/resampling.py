"""Change the rate of a stream of samples, by a polyphase filter in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Mono = npt.NDArray[np.float32]

_CROSSINGS = 32  # zero crossings of the filter on each side of its center
_CUTOFF = 0.92  # of the lower Nyquist frequency
_BETA = 8.0  # of the Kaiser window: 80 dB
_PHASES = 4096  # of the filter between two inputs, at most
_MOST = 2**22  # samples in the windows that are computed at a time


def resampled(blocks: Iterable[Mono], rate: int, wanted: int) -> Iterator[Mono]:
    """Yield the samples at another rate, without a delay.

    The filter is a sinc with a Kaiser window (Oppenheim and Schafer, Discrete-Time Signal Processing, 4.6 and 7.5.3).

    Args:
        blocks: consecutive blocks of one channel, of shape (samples,), at `rate`.
        rate, wanted: in samples a second.

    Yields:
        Blocks of shape (samples,). Together, they have ceil(samples * wanted / rate) samples.
    """
    import numpy as np

    up, down = Fraction(wanted, rate).as_integer_ratio()
    if up == down:
        yield from blocks
        return
    phases = min(up, _PHASES)
    bank = _filters(phases, up / down)
    half = bank.shape[1] // 2
    held = np.zeros(half - 1, np.float32)  # samples from the time `begin` on
    begin, taken, made = 1 - half, 0, 0

    def complete(end: int) -> Iterator[Mono]:
        size = max(1, _MOST // (2 * half))
        for start in range(made, end, size):
            times = np.arange(start, min(start + size, end)) * down
            first = times // up - half + 1 - begin
            windows = np.lib.stride_tricks.sliding_window_view(held, 2 * half)[first]
            yield np.einsum("ij,ij->i", windows, bank[times % up * phases // up])

    for block in blocks:
        held = np.concatenate((held, block.astype(np.float32, copy=False)))
        taken += len(block)
        ready = max(made, -((half - taken) * up // down))
        yield from complete(ready)
        made = ready
        first = made * down // up - half + 1
        held, begin = held[first - begin :].copy(), first
    held = np.concatenate((held, np.zeros(2 * half, np.float32)))
    yield from complete(-(-taken * up // down))


def _filters(phases: int, ratio: float) -> npt.NDArray[np.float32]:
    """Return the filter for each phase of the output between two inputs, of shape (phases, taps)."""
    import numpy as np

    cutoff = _CUTOFF * min(1.0, ratio)  # of the Nyquist frequency of the input
    half = int(np.ceil(_CROSSINGS / cutoff))
    away = np.arange(1 - half, half + 1)[None, :] - np.arange(phases)[:, None] / phases
    inside = np.clip(1 - (away / half) ** 2, 0, None)
    taps = cutoff * np.sinc(cutoff * away) * np.i0(_BETA * np.sqrt(inside)) / np.i0(_BETA)
    whole: npt.NDArray[np.float32] = (taps / taps.sum(axis=1, keepdims=True)).astype(np.float32)
    return whole
