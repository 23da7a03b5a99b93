"""How often somebody may ask: a bucket of tokens each, refilled steadily."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

_MOST = 10_000
"""Askers that are remembered; the one heard of longest ago is forgotten first."""


class Buckets:
    """Requests a minute, with as many at once after a pause.

    Args:
        rate: requests a minute.
        clock: seconds, ever growing.
    """

    def __init__(self, rate: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._per_second, self._clock = float(rate), rate / 60, clock
        self._stand: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._guard = threading.Lock()

    def take(self, asker: str) -> float:
        """0 where it is let through, else the seconds to wait."""
        with self._guard:
            now = self._clock()
            left, then = self._stand.pop(asker, (self._most, now))
            left = min(self._most, left + (now - then) * self._per_second)
            served = left >= 1
            self._stand[asker] = (left - 1 if served else left, now)
            while len(self._stand) > _MOST:
                self._stand.popitem(last=False)
            return 0.0 if served else (1 - left) / self._per_second
