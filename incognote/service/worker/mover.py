"""From the shelf to the lab: stage, settle in the ledger, place; and what a kill left of that."""

from __future__ import annotations

import secrets
from contextlib import suppress

from incognote.errors import LedgerUnavailable, Unwritable
from incognote.ledger import Ledger, Release
from incognote.service.sinks.lab import Lab
from incognote.service.worker.shelf import Packed, Shelf


class Mover:
    """All methods block; each may be called again after it failed."""

    def __init__(self, ledger: Ledger, lab: Lab, release: Release) -> None:
        self._ledger, self._lab, self._release = ledger, lab, release
        self._unplaced: list[str] = []

    def stage(self, worker: str, shelf: Shelf) -> list[Packed]:
        """The shelf's shards, durable, where no reader of the lab looks.

        Raises:
            Unwritable: none is staged.
        """
        staged = shelf.take()
        try:
            for one in staged:
                self._ledger.begin_shard(worker, self._release.id, one.shard.name)
                self._lab.stage(one.shard.name, one.data)
        except Unwritable:
            for one in staged:
                with suppress(Unwritable):
                    self._lab.discard(one.shard.name)
                self._ledger.dropped(one.shard.name)
            raise
        return staged

    def settle(self, worker: str, token: str, staged: list[Packed], shelf: Shelf) -> None:
        """All that is on the shelf stands in the ledger, and from here on in the lab.

        Args:
            token: the same when it is asked again, since it may stand although the answer was lost.

        Raises:
            LeaseLost: none of it stands, and nothing is left staged.
        """
        self._ledger.settle(
            worker, token, [(one.shard, one.settled) for one in staged], tuple(shelf.held), tuple(shelf.parts)
        )
        self._unplaced += [one.shard.name for one in staged]

    def place(self) -> None:
        """Give settled shards their names.

        Raises:
            Unwritable: they keep; ask again.
        """
        while self._unplaced:
            self._place(self._unplaced[0])
            self._unplaced.pop(0)

    def recover(self) -> int:
        """Finish what others left when they were killed, and take away what they staged in vain; how many shards."""
        to_place, in_vain = self._ledger.left_over()
        for name in to_place:
            self._place(name)
        for name in in_vain:
            self._lab.discard(name)
            self._ledger.dropped(name)
        return len(to_place) + len(in_vain)

    def discard(self, staged: list[Packed]) -> None:
        """Take away what was staged and cannot be settled; what was settled all the same is the next worker's to place.

        For a settlement may stand although its answer was lost, and its worker be buried since.
        """
        for one in staged:
            with suppress(Unwritable, LedgerUnavailable):
                if self._ledger.dropped(one.shard.name):
                    self._lab.discard(one.shard.name)

    def _place(self, name: str) -> None:
        self._lab.place(name)
        self._ledger.placed(name)


def token() -> str:
    """For one settlement."""
    return secrets.token_hex(16)
