"""The review queue: each record is queued once, decided once, and never stored in clear text."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from incognote.agents.item import Item
from incognote.errors import AlreadyDecided, ImpossibleSpan, UnknownName, UsageError, WrongKey
from incognote.keys import Keyring
from incognote.nouns import Known, Reason, Span, Text
from incognote.service.rekeying import rekey
from incognote.service.review import ReviewCase, ReviewDecision, ReviewQueue
from incognote.service.review.nouns import Changes
from incognote.service.store import open_engine

pytest.importorskip("sqlalchemy", reason="needs the extra service")

NOTE = Text("Seen by Dr. Emily Carter on 03/16/2025, Carter again on Monday.")
NAME = Span(NOTE, 12, 24, "PERSON", 0.9, ("rules",))
DATE = Span(NOTE, 28, 38, "DATE", 0.8, ("rules", "encoder"))


def case(patient: str | None = "p-17") -> ReviewCase:
    item = Item(NOTE.content, id="note-1", patient=patient, known=(Known("PERSON", "Emily Carter"),))
    doubt = Span(NOTE, 40, 46, "PERSON", 0.4, ("encoder",))
    reasons = (Reason("doubtful", "", "PERSON"), Reason("unknown-field", "Carter", "Emily"))
    return ReviewCase(item, (NOTE,), (NAME, DATE), (doubt,), reasons, "strict@1", None, {"shard": 3})


@pytest.fixture
def keyring() -> Keyring:
    return Keyring(bytes(range(32)))


@pytest.fixture
def url(database: str) -> str:
    return database


@pytest.fixture
def queue(url: str, keyring: Keyring) -> Iterator[ReviewQueue]:
    opened = ReviewQueue(url, keyring)
    yield opened
    opened.close()


def test_what_is_put_comes_back_whole(queue: ReviewQueue) -> None:
    item = queue.put("k1", "r1", case())
    assert queue.open(item).case == case()
    (entry,) = queue.list()
    assert (entry.id, entry.key, entry.release, entry.state, entry.spans) == (item, "k1", "r1", "waiting", 2)


def test_queue_lines_and_files_contain_nothing_from_the_record(queue: ReviewQueue, tmp_path: Path) -> None:
    queue.put("k1", "r1", case())
    told = repr(queue.list()) + repr(queue.open(queue.list()[0].id)) + str(queue.list()[0].told())
    queue.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())  # of SQLite; both databases get the same rows
    for word in ("Carter", "Emily", "03/16", "p-17", "note-1"):
        assert word not in told
        assert word.encode() not in stored
    assert all(path.stat().st_mode & 0o077 == 0 for path in tmp_path.iterdir())


def test_a_record_of_a_release_stands_there_once(queue: ReviewQueue) -> None:
    first = queue.put("k1", "r1", case())
    assert queue.put("k1", "r1", case("p-18")) == first
    assert queue.open(first).case.item.patient == "p-18"
    assert queue.put("k1", "r2", case()) != first
    queue.decide(first, ReviewDecision("reject"), "ana")
    assert queue.put("k1", "r1", case("p-19")) == first
    assert queue.open(first).case.item.patient == "p-18"


def test_a_decision_is_taken_once_and_counted(queue: ReviewQueue) -> None:
    item = queue.put("k1", "r1", case())
    spans = (Span(NOTE, 40, 46, "PERSON"), Span(NOTE, 12, 24, "CLINICIAN"))
    entry = queue.decide(item, ReviewDecision("approve", spans), "ana")
    assert (entry.state, entry.by) == ("approved", "ana")
    assert entry.changes == Changes(kept=0, moved=0, retyped=1, added=1, dropped=1)
    with pytest.raises(AlreadyDecided):
        queue.decide(item, ReviewDecision("reject"), "ben")
    assert [s.start for s in queue.open(item).spans] == [12, 40]
    assert queue.counts() == {"waiting": 0, "approved": 1, "rejected": 0}


def test_of_many_who_decide_at_once_one_does(url: str, keyring: Keyring) -> None:
    first = ReviewQueue(url, keyring)
    item = first.put("k1", "r1", case())

    def decide(number: int) -> bool:
        queue = ReviewQueue(url, keyring)
        try:
            queue.decide(item, ReviewDecision("approve"), f"person {number}")
        except AlreadyDecided:
            return False
        finally:
            queue.close()
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(decide, range(4))) == 1
    first.close()


def test_many_who_put_the_same_get_one_id(url: str, keyring: Keyring) -> None:
    def put(_: int) -> str:
        queue = ReviewQueue(url, keyring)
        try:
            return queue.put("k1", "r1", case())
        finally:
            queue.close()

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(put, range(8)))) == 1


@pytest.mark.parametrize(
    "spans",
    [
        (Span(Text("other"), 0, 5, "PERSON"),),
        (Span(Text("other", "note"), 0, 5, "PERSON"),),
        (NAME, Span(NOTE, 20, 30, "DATE")),
        (Span(NOTE, 0, 4, "NO_SUCH_TYPE"),),
    ],
)
def test_spans_that_cannot_be_are_refused_and_nothing_is_decided(queue: ReviewQueue, spans: tuple[Span, ...]) -> None:
    item = queue.put("k1", "r1", case())
    with pytest.raises((UsageError, ImpossibleSpan)):
        queue.decide(item, ReviewDecision("approve", spans), "ana")
    assert queue.entry(item).state == "waiting"


def test_settled_records_are_handed_out_until_they_are_delivered(queue: ReviewQueue) -> None:
    ids = [queue.put(f"k{i}", "r1", case()) for i in range(3)]
    assert list(queue.settled()) == []
    queue.decide(ids[2], ReviewDecision("approve"), "ana")
    queue.decide(ids[0], ReviewDecision("reject"), "ana")
    assert [s.entry.id for s in queue.settled()] == [ids[0], ids[2]]
    queue.delivered(ids[0])
    queue.delivered(ids[1])
    assert [s.entry.id for s in queue.settled()] == [ids[2]]
    assert len(list(queue.settled(delivered=True))) == 2
    assert queue.entry(ids[1]).delivered is None


def test_a_subject_is_forgotten_wholly(queue: ReviewQueue) -> None:
    queue.put("k1", "r1", case())
    queue.put("k2", "r1", case("p-18"))
    assert sum(map(queue.drop, queue.of_subject("p-17"))) == 1
    assert [e.key for e in queue.list()] == ["k2"]
    with pytest.raises(UnknownName):
        queue.open("nothing")


def test_pages_follow_one_another(queue: ReviewQueue) -> None:
    for i in range(5):
        queue.put(f"k{i}", "r1", case())
    first = queue.list(limit=2)
    assert [e.key for e in first] == ["k0", "k1"]
    assert [e.key for e in queue.list(after=first[-1].number)] == ["k2", "k3", "k4"]
    assert queue.list(release="r2") == []


def test_another_key_is_refused_before_anything_is_read(queue: ReviewQueue, url: str) -> None:
    with pytest.raises(WrongKey):
        ReviewQueue(url, Keyring(bytes(32)))
    with pytest.raises(WrongKey):
        ReviewQueue(url, Keyring.ephemeral())


def test_comments_are_sealed_and_go_with_their_record(queue: ReviewQueue, tmp_path: Path) -> None:
    item, other = queue.put("k1", "r1", case()), queue.put("k2", "r1", case())
    queue.comment(item, "Carter is his wife.", "ana")
    queue.comment(other, "Fine.", "ben")
    queue.assign(item, "ana")
    queue.assign(item, "ben")
    assert [(one.by, one.text) for one in queue.comments(item)] == [("ana", "Carter is his wife.")]
    assert (queue.entry(item).comments, queue.entry(item).assignee) == (1, "ben")
    assert "wife" not in repr(queue.comments(item))
    assert b"wife" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert queue.drop(item) == 1
    assert queue.comments(item) == []
    assert [one.text for one in queue.comments(other)] == ["Fine."]
    with pytest.raises(UnknownName):
        queue.comment(item, "Too late.", "ana")


def test_a_database_of_an_earlier_version_gets_the_tables_of_comments(url: str, keyring: Keyring) -> None:
    queue = ReviewQueue(url, keyring)
    item = queue.put("k1", "r1", case())
    queue.close()
    engine = open_engine(url)
    with engine.begin() as db:
        for table in ("review_comments", "review_assignees"):
            db.exec_driver_sql(f"DROP TABLE {table}")
    engine.dispose()
    new = Keyring(bytes(32))
    assert rekey(url, keyring, new) > 0
    queue = ReviewQueue(url, new)
    queue.comment(item, "Fine.", "ana")
    assert (queue.entry(item).comments, queue.entry(item).assignee) == (1, None)
    queue.close()
