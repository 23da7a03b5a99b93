"""Subjects who opt out or are forgotten while a worker is processing their record, or it is in review or quarantine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from incognote.files.quarantine import Quarantine
from incognote.runs.destination import open_destination
from incognote.runs.location import open_location
from incognote.runs.shards import ShardDelivery
from incognote.sdk import Deidentifier
from incognote.service.audit import AuditLog
from incognote.service.optouts import OptOuts
from incognote.service.recall import Forgetter
from incognote.service.review import ReviewQueue
from incognote.service.worker.hooks import Hooks

WHOM, OTHER = "pat-7712", "pat-1"


def record(patient: str, number: int, note: str = "Dr. Emily Carter called on 03/16/2025.") -> str:
    told = {"dataType": "clinicalRecord", "PatientId": patient, "MRN": f"77-{number}", "AGE": "46 years", "note": note}
    return json.dumps(told) + "\n"


@pytest.fixture
def optouts(house: Any, tmp_path: Path) -> Iterator[OptOuts]:
    made = OptOuts(f"sqlite:///{tmp_path}/service.db", house.keyring)
    yield made
    made.close()


@pytest.fixture
def forget(house: Any, optouts: OptOuts, queue: ReviewQueue, tmp_path: Path) -> Callable[[], Any]:
    """Forget everything that is stored about WHOM."""
    import asyncio

    def run() -> Any:
        forgetter = Forgetter(
            AuditLog(tmp_path / "audit", house.keyring), optouts, house.ledger,
            open_destination(open_location(str(house.destination))), queue,
            quarantines=[Quarantine(house.held / "r1", house.keyring)],
        )  # fmt: skip
        return asyncio.run(forgetter.forget(WHOM, "Ada"))

    return run


def at_moment(where: Any, name: str, do: Callable[[], Any], patch: pytest.MonkeyPatch, *, after: bool = False) -> None:
    """Do something once, just before or just after a method is called."""
    real, done = getattr(where, name), []

    def method(*words: Any, **more: Any) -> Any:
        if not after and not done:
            done.append(do())
        answer = real(*words, **more)
        if after and not done:
            done.append(do())
        return answer

    patch.setattr(where, name, method)


def aside(do: Callable[[], Any]) -> Callable[[], Any]:
    """Run it in a separate thread, as another program would."""
    from concurrent.futures import ThreadPoolExecutor

    def run() -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(do).result()

    return run


def test_an_opt_out_between_claim_and_settlement_counts(
    house: Any, optouts: OptOuts, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.put("a.jsonl", record(WHOM, 1) + record(OTHER, 2))
    at_moment(Deidentifier, "abatch", lambda: optouts.add(f" {WHOM} ", "Ada"), monkeypatch)
    house.run(hooks=Hooks(refused=optouts.refused))
    assert house.counts() == {"released": 1, "refused": 1}
    assert len(house.lines()) == 1
    assert house.whole()
    assert all(entry.tries == 0 for entry in house.ledger.entries())


@pytest.mark.parametrize(
    ("where", "name"), [(Deidentifier, "abatch"), (ShardDelivery, "stage"), (ShardDelivery, "settle")]
)
def test_who_is_forgotten_while_a_worker_has_a_record_in_hand_does_not_reach_the_lab(
    house: Any, optouts: OptOuts, forget: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, where: Any, name: str
) -> None:
    house.put("a.jsonl", record(WHOM, 1) + record(OTHER, 2))
    at_moment(where, name, aside(forget), monkeypatch)
    house.run(hooks=Hooks(refused=optouts.refused))
    house.run(hooks=Hooks(refused=optouts.refused))
    assert house.counts() == {"released": 1, "tombstoned": 1}
    assert len(house.lines()) == 1
    assert house.whole()


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("reviewed", [True, False])
def test_what_is_kept_while_its_subject_is_forgotten_is_deleted_too(
    house: Any, optouts: OptOuts, queue: ReviewQueue, forget: Callable[[], Any], monkeypatch: pytest.MonkeyPatch,
    cautious: str, after: bool, reviewed: bool,
) -> None:  # fmt: skip
    """The subject is forgotten after the worker reads the list of opt-outs and before it stores the record."""
    house.put("a.jsonl", record(WHOM, 1))
    at_moment(ReviewQueue if reviewed else Quarantine, "put", aside(forget), monkeypatch, after=after)
    hooks = Hooks(refused=optouts.refused, reviews=queue if reviewed else None)
    house.run(hooks=hooks, policy=cautious)
    assert queue.list(None) == []
    assert house.held_for() == []
    assert house.counts() == {"tombstoned": 1}


def test_what_a_person_approves_of_somebody_who_opted_out_since_is_refused(
    house: Any, optouts: OptOuts, queue: ReviewQueue, cautious: str, approve: Callable[[str], None]
) -> None:
    hooks = Hooks(refused=optouts.refused, reviews=queue)
    house.put("a.jsonl", record(WHOM, 1))
    assert house.run(hooks=hooks, policy=cautious).states == {"review": 1}
    optouts.add(WHOM, "Ada")
    (waiting,) = queue.list()
    approve(waiting.id)
    assert house.run(hooks=hooks, policy=cautious).states == {"refused": 1}
    assert house.lines() == []
    assert queue.entry(waiting.id).delivered is not None


def test_blanks_around_an_id_hide_nobody(house: Any, optouts: OptOuts, forget: Callable[[], Any]) -> None:
    house.put("a.jsonl", record(f" {WHOM}", 1) + record(OTHER, 2))
    house.run()
    forget()
    assert house.counts() == {"released": 1, "tombstoned": 1}
