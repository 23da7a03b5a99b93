"""Records in review wait in the queue until a person decides, and the next worker delivers the decision."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from incognote.runs.destination import FolderDestination
from incognote.service.review import QueueEntry, ReviewDecision, ReviewQueue
from incognote.service.worker.hooks import Hooks


@pytest.fixture
def run(house: Any, queue: ReviewQueue, cautious: str) -> Callable[[], Any]:
    return lambda: house.run(hooks=Hooks(reviews=queue), policy=cautious)


@pytest.fixture
def waiting(house: Any, queue: ReviewQueue, run: Callable[[], Any], lines: Callable[..., str]) -> QueueEntry:
    """A record that waits for a decision."""
    house.put("a.jsonl", lines(1))
    run()
    (one,) = queue.list()
    return one


def test_what_is_approved_goes_to_the_lab_once_and_what_is_rejected_to_quarantine(
    house: Any, queue: ReviewQueue, run: Callable[[], Any], lines: Callable[..., str], approve: Callable[[str], None]
) -> None:
    house.put("a.jsonl", lines(1, 2, 3))
    assert run().states == {"review": 3}
    assert house.lines() == []
    assert house.held_for() == []
    one, two, three = queue.list()
    case = queue.open(one.id).case
    assert any("Carter" in span.text for span in (*case.spans, *case.doubts))
    approve(one.id)
    queue.decide(two.id, ReviewDecision("reject"), "Ada")
    done = run()
    assert done.states == {"released": 1, "quarantined": 1}
    (line,) = house.lines()
    assert "Carter" not in line["text"]
    assert house.held_for() == ["rejected"]
    assert house.counts() == {"released": 1, "quarantined": 1, "review": 1}
    assert queue.entry(one.id).delivered is not None
    assert queue.entry(three.id).state == "waiting"
    assert run().states == {}
    assert len(house.lines()) == 1


def test_a_kill_between_decision_and_lab_loses_nothing(
    house: Any, waiting: QueueEntry, run: Callable[[], Any], approve: Callable[[str], None],
    killed_at: Callable[..., AbstractContextManager[None]],
) -> None:  # fmt: skip
    approve(waiting.id)
    with killed_at(FolderDestination, "stage"):
        run()
    assert house.lines() == []
    run()
    run()
    assert len(house.lines()) == 1
    assert house.counts() == {"released": 1}


def test_what_was_rejected_and_is_retried_waits_for_a_person_again(
    house: Any, queue: ReviewQueue, waiting: QueueEntry, run: Callable[[], Any], approve: Callable[[str], None]
) -> None:
    """Regression: it had left the quarantine but was in no queue, so no one could decide on it."""
    queue.decide(waiting.id, ReviewDecision("reject"), "Ada")
    assert run().states == {"quarantined": 1}
    ledger = house.ledger
    assert ledger.requeue(ledger.release("r1").id, [waiting.key]) == 1
    assert run().states == {"review": 1}
    (again,) = queue.list()
    assert (again.id, again.by, again.decided, again.delivered) == (waiting.id, None, None, None)
    assert house.held_for() == []
    approve(again.id)
    assert run().states == {"released": 1}
    assert len(house.lines()) == 1


def test_a_decision_that_is_not_delivered_yet_is_not_undone_by_putting_the_record_again(
    queue: ReviewQueue, waiting: QueueEntry
) -> None:
    case = queue.open(waiting.id).case
    queue.decide(waiting.id, ReviewDecision("reject"), "Ada")
    assert queue.put(waiting.key, "r1", case) == waiting.id
    assert queue.entry(waiting.id).state == "rejected"


def test_decisions_of_another_ledger_or_of_the_api_are_left_to_them(
    queue: ReviewQueue, waiting: QueueEntry, run: Callable[[], Any]
) -> None:
    """Regression: a ledger with the same release name delivered our decisions, and they were lost."""
    case = queue.open(waiting.id).case
    elsewhere = queue.put("0" * 64, "r1", case)
    of_a_job = queue.put("c0ffee/1", "r1", case, origin="api")
    for item in (elsewhere, of_a_job, waiting.id):
        queue.decide(item, ReviewDecision("reject"), "Ada")
    assert run().states == {"quarantined": 1}
    assert [queue.entry(item).delivered is None for item in (elsewhere, of_a_job, waiting.id)] == [True, True, False]
