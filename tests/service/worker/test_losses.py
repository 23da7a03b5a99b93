"""What was settled is never lost, whatever comes between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from incognote.errors import LedgerUnavailable
from incognote.ledger import Ledger

Lines = Callable[..., str]


@pytest.mark.parametrize("stays_away", [False, True])
def test_a_worker_that_is_stopped_while_nobody_knows_whether_it_settled_loses_nothing(
    house: Any, lines: Lines, monkeypatch: pytest.MonkeyPatch, stays_away: bool
) -> None:
    """The settlement stands, its answer is lost, SIGTERM comes: settling once more must not take the shard away."""
    house.put("a.jsonl", lines(1, 2, 3))
    worker = house.worker()
    real, calls = Ledger.settle, []

    def settle(self: Ledger, *words: Any, **more: Any) -> None:
        calls.append(words)
        if len(calls) == 1:
            real(self, *words, **more)
            worker.stop()
            raise LedgerUnavailable("away")
        if stays_away:
            raise LedgerUnavailable("away")
        real(self, *words, **more)

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "settle", settle)
        house.run(worker)
    house.run()
    assert house.counts() == {"released": 3}
    assert len(house.lines()) == 3
    assert house.whole()


def test_a_worker_that_is_buried_while_nobody_knows_whether_it_settled_loses_nothing(
    house: Any, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.put("a.jsonl", lines(1, 2, 3))
    real, calls = Ledger.settle, []

    def settle(self: Ledger, worker: str, *words: Any, **more: Any) -> None:
        calls.append(worker)
        if len(calls) == 1:
            real(self, worker, *words, **more)
            self.leave(worker)
            raise LedgerUnavailable("away")
        real(self, worker, *words, **more)

    monkeypatch.setattr(Ledger, "settle", settle)
    house.run()
    house.run()
    assert house.counts() == {"released": 3}
    assert len(house.lines()) == 3
    assert house.whole()
