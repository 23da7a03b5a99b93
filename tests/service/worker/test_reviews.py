"""Records in review: they wait in the queue, and what a person decides is delivered by the next worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from incognote.service.review import Decision, ReviewQueue
from incognote.service.worker.around import Around


@pytest.fixture
def queue(house: Any, tmp_path: Path) -> Iterator[ReviewQueue]:
    made = ReviewQueue(f"sqlite:///{tmp_path}/reviews.db", house.keyring)
    yield made
    made.close()


@pytest.fixture
def cautious(tmp_path: Path) -> str:
    """A policy that doubts more than it replaces."""
    path = tmp_path / "cautious.toml"
    path.write_text(
        'name = "cautious"\nextends = "strict"\ndoubt = 0.05\n[types.PERSON]\noperator = "label"\nthreshold = 1.0\n'
    )
    return str(path)


@pytest.fixture
def run(house: Any, queue: ReviewQueue, cautious: str) -> Callable[[], Any]:
    return lambda: house.run(around=Around(reviews=queue), policy=cautious)


def test_what_is_approved_goes_to_the_lab_once_and_what_is_rejected_to_quarantine(
    house: Any, queue: ReviewQueue, run: Callable[[], Any], lines: Callable[..., str]
) -> None:
    house.put("a.jsonl", lines(1, 2, 3))
    assert run().states == {"review": 3}
    assert house.lines() == []
    assert house.held_for() == []
    one, two, three = queue.list()
    case = queue.open(one.id).case
    person = case.doubts or case.spans
    assert any("Carter" in span.text for span in (*case.spans, *case.doubts))
    queue.decide(one.id, Decision("approve", (*case.spans, *person) if case.doubts else case.spans), "Ada")
    queue.decide(two.id, Decision("reject"), "Ada")
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
    house: Any, queue: ReviewQueue, run: Callable[[], Any], lines: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from incognote.service.sinks.lab import FolderLab

    house.put("a.jsonl", lines(1))
    run()
    (one,) = queue.list()
    case = queue.open(one.id).case
    queue.decide(one.id, Decision("approve", (*case.spans, *case.doubts)), "Ada")

    class Killed(BaseException):
        pass

    def killed(self: object, *rest: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(FolderLab, "stage", killed)
        with pytest.raises(Killed):
            run()
    assert house.lines() == []
    run()
    run()
    assert len(house.lines()) == 1
    assert house.counts() == {"released": 1}


def test_what_was_rejected_and_is_retried_waits_for_a_person_again(
    house: Any, queue: ReviewQueue, run: Callable[[], Any], lines: Callable[..., str]
) -> None:
    """It had left the quarantine and joined no queue: nobody could ever decide on it."""
    house.put("a.jsonl", lines(1))
    run()
    (one,) = queue.list()
    queue.decide(one.id, Decision("reject"), "Ada")
    assert run().states == {"quarantined": 1}
    ledger = house.ledger
    assert ledger.requeue(ledger.release("r1").id, [one.key]) == 1
    assert run().states == {"review": 1}
    (again,) = queue.list()
    assert (again.id, again.by, again.decided, again.delivered) == (one.id, None, None, None)
    assert house.held_for() == []
    case = queue.open(again.id).case
    queue.decide(again.id, Decision("approve", (*case.spans, *case.doubts)), "Ada")
    assert run().states == {"released": 1}
    assert len(house.lines()) == 1


def test_a_decision_that_is_not_delivered_yet_is_not_undone_by_putting_the_record_again(
    house: Any, queue: ReviewQueue, run: Callable[[], Any], lines: Callable[..., str]
) -> None:
    house.put("a.jsonl", lines(1))
    run()
    (one,) = queue.list()
    case = queue.open(one.id).case
    queue.decide(one.id, Decision("reject"), "Ada")
    assert queue.put(one.key, "r1", case) == one.id
    assert queue.entry(one.id).state == "rejected"


def test_decisions_of_another_ledger_or_of_the_api_are_left_to_them(
    house: Any, queue: ReviewQueue, run: Callable[[], Any], lines: Callable[..., str]
) -> None:
    """Who named a release as we do delivered what was ours: it was never seen again."""
    house.put("a.jsonl", lines(1))
    run()
    (one,) = queue.list()
    case = queue.open(one.id).case
    elsewhere = queue.put("0" * 64, "r1", case)
    of_a_job = queue.put("c0ffee/1", "r1", case, origin="api")
    for item in (elsewhere, of_a_job, one.id):
        queue.decide(item, Decision("reject"), "Ada")
    assert run().states == {"quarantined": 1}
    assert [queue.entry(item).delivered is None for item in (elsewhere, of_a_job, one.id)] == [True, True, False]
