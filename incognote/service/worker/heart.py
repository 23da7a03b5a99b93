"""A worker's heartbeat: a thread of its own, since a loop that is busy with a long record would miss beats."""

from __future__ import annotations

import threading
from contextlib import suppress

from incognote.errors import LeaseLost, LedgerUnavailable
from incognote.ledger import Ledger

_BEATS = 4  # in one lease


class Heart:
    """Beats from its start to its stop, or until the lease is lost."""

    def __init__(self, ledger: Ledger, worker: str, lease: float) -> None:
        self._ledger, self._worker, self._pause = ledger, worker, lease / _BEATS
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="incognote-heart", daemon=True)
        self._thread.start()

    def _beat(self) -> None:
        while not self._stopped.wait(self._pause):
            with suppress(LedgerUnavailable):  # whoever wants something of the ledger says so
                try:
                    self._ledger.beat(self._worker)
                except LeaseLost:  # the next claim or settlement is told
                    return

    def stop(self) -> None:
        """Beat no more."""
        self._stopped.set()
        self._thread.join()
