"""The heartbeat of a worker in the ledger, from its own thread."""

from __future__ import annotations

import threading
from contextlib import suppress

from incognote.errors import LeaseLost, LedgerUnavailable
from incognote.ledger import Ledger

_BEATS = 4  # in one lease


class Heartbeat:
    """Sends heartbeats from its creation until `stop`, or until the lease is lost."""

    def __init__(self, ledger: Ledger, worker: str, lease: float) -> None:
        self._ledger, self._worker, self._pause = ledger, worker, lease / _BEATS
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="incognote-heart", daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._stopped.wait(self._pause):
            with suppress(LedgerUnavailable):  # other calls to the ledger report this
                try:
                    self._ledger.beat(self._worker)
                except LeaseLost:  # the next claim or settlement gets the error
                    return

    def stop(self) -> None:
        """Stop the heartbeat."""
        self._stopped.set()
        self._thread.join()
