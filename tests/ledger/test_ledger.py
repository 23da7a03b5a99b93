"""What a ledger guarantees, in both SQLite and PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from incognote.errors import LeaseLost, LedgerRejected, SettingError, UnknownName, UsageError, WrongKey
from incognote.keys import Keyring
from incognote.ledger import FoundFile, Ledger, Release, SettledRecord, Shard, Wanted
from incognote.ledger import tables as ledger_tables

Files = Callable[..., list[FoundFile]]
Want = Callable[..., list[Wanted]]
LEASE = 30.0
ALL = {"most": 100, "bytes": 10**9}


def begun(book: Any, release: Release, files: Files, *names: str) -> tuple[str, list[Any]]:
    """A worker with the parts of some files."""
    book.found(release.id, files(*names))
    worker = book.join(LEASE)
    return worker, book.claim_parts(worker, release.id, **ALL)


def settled(book: Any, worker: str, release: Release, claims: Any, *, parts: Any = ()) -> None:
    shard = "r1/s1"
    book.begin_shards(worker, release.id, [shard])
    rows = [SettledRecord(claim.id, "released", line) for line, claim in enumerate(claims.values(), 1)]
    book.settle(worker, shard, [(Shard(shard, len(rows), 9, "00"), rows)], (), parts)


def test_a_file_is_found_once_in_each_version_and_release(book: Any, release: Release, files: Files) -> None:
    one, two = files("a", "b")
    assert book.found(release.id, [one, two]) == 2
    assert book.found(release.id, [one, two]) == 0
    assert book.found(release.id, [FoundFile(one.location, "x" * 32, one.name, 11)]) == 1
    assert book.found(book.freeze("r2", {"policy": 2}).id, [one]) == 1


def test_a_part_is_one_workers(book: Any, release: Release, files: Files) -> None:
    book.found(release.id, files("a", "b", "c"))
    one, two = book.join(LEASE), book.join(LEASE)
    first = book.claim_parts(one, release.id, most=2, bytes=10**9)
    second = book.claim_parts(two, release.id, **ALL)
    assert [part.name for part in first] == ["ward/a.txt", "ward/b.txt"]
    assert [part.name for part in second] == ["ward/c.txt"]
    assert book.claim_parts(one, release.id, **ALL) == []


def test_claims_of_parts_end_at_a_size_but_one_is_always_given(book: Any, release: Release, files: Files) -> None:
    book.found(release.id, files("a", "b", "c", size=100))
    worker = book.join(LEASE)
    assert len(book.claim_parts(worker, release.id, most=9, bytes=200)) == 2
    assert len(book.claim_parts(worker, release.id, most=9, bytes=5)) == 1


def test_a_record_is_claimed_once_and_settled_once(book: Any, release: Release, files: Files, want: Want) -> None:
    worker, (part,) = begun(book, release, files, "a")
    other = book.join(LEASE)
    records = want(part.id, 1, 2)
    claims = book.claim(worker, release.id, records)
    assert [claim.outcome for claim in claims.values()] == ["mine", "mine"]
    assert {c.outcome for c in book.claim(worker, release.id, records).values()} == {"again"}
    assert {c.outcome for c in book.claim(other, release.id, records).values()} == {"busy"}
    settled(book, worker, release, claims, parts=[part.id])
    assert {c.outcome for c in book.claim(other, release.id, records).values()} == {"settled"}
    assert book.counts(release.id) == {"released": 2}
    assert book.to_do(release.id) == 0
    assert [(entry.shard, entry.line, entry.file) for entry in book.entries()] == [
        ("r1/s1", 1, "ward/a.txt"),
        ("r1/s1", 2, "ward/a.txt"),
    ]


def test_another_version_and_another_release_stand_beside(
    book: Any, release: Release, files: Files, want: Want
) -> None:
    worker, (part,) = begun(book, release, files, "a")
    settled(book, worker, release, book.claim(worker, release.id, want(part.id, 1)))
    changed = book.claim(worker, release.id, want(part.id, 1, content="d"))
    other = book.freeze("r2", {"policy": 2})
    again = book.claim(worker, other.id, want(part.id, 1))
    assert {claim.outcome for claim in (*changed.values(), *again.values())} == {"mine"}
    assert book.counts(release.id)["released"] == 1


def test_settling_twice_with_one_token_is_settling_once(book: Any, release: Release, files: Files, want: Want) -> None:
    worker, (part,) = begun(book, release, files, "a")
    claims = book.claim(worker, release.id, want(part.id, 1))
    settled(book, worker, release, claims)
    settled(book, worker, release, claims)
    assert [shard.records for shard in book.shards(release.id)] == [1]


def test_what_is_not_ones_own_cannot_be_settled_and_nothing_of_it_stands(
    book: Any, release: Release, files: Files, want: Want
) -> None:
    worker, (part,) = begun(book, release, files, "a")
    mine = book.claim(worker, release.id, want(part.id, 1))
    theirs = book.claim(book.join(LEASE), release.id, want(part.id, 2))
    with pytest.raises(LeaseLost):
        settled(book, worker, release, {**mine, **theirs}, parts=[part.id])
    assert book.counts(release.id) == {"claimed": 2}
    assert book.shards(release.id) == []
    assert book.to_do(release.id) == 1


def test_a_silent_worker_is_buried_and_its_records_have_used_up_a_try(
    book: Any, release: Release, files: Files, want: Want
) -> None:
    dead, (part,) = begun(book, release, files, "a")
    claims = book.claim(dead, release.id, want(part.id, 1, 2))
    other = book.join(LEASE)
    assert [book.at(now).beat(other) for now in (1010, 1020, 1030, 1040)] == [0, 0, 0, 1]
    (again,) = book.claim_parts(other, release.id, **ALL)
    assert (again.id, again.tries) == (part.id, 1)
    suspects = book.claim(other, release.id, want(part.id, 1, 2))
    assert {claim.outcome for claim in suspects.values()} == {"suspect"}
    (alone,) = book.claim(other, release.id, want(part.id, 1), alone=True).values()
    assert (alone.outcome, alone.tries) == ("mine", 1)
    with pytest.raises(LeaseLost):
        settled(book, dead, release, claims)
    with pytest.raises(LeaseLost):
        book.beat(dead)


def test_a_part_that_is_read_to_its_records_kills_nobody(book: Any, release: Release, files: Files, want: Want) -> None:
    dead, (part,) = begun(book, release, files, "a")
    other = book.join(LEASE)
    for now in (1010, 1020, 1030, 1040):
        book.at(now).beat(other)
    (again,) = book.claim_parts(other, release.id, **ALL)
    assert again.tries == 1
    book.claim(other, release.id, want(part.id, 1))
    book.give_back(other)
    (once_more,) = book.claim_parts(other, release.id, **ALL)
    assert once_more.tries == 0
    assert dead != other


def test_nobody_is_buried_by_one_who_was_silent_himself(book: Any, release: Release, files: Files, want: Want) -> None:
    """The database was down, so all workers were silent. The first to return must not declare the others dead."""
    one, (part,) = begun(book, release, files, "a")
    book.claim(one, release.id, want(part.id, 1))
    other = book.join(LEASE)
    assert book.at(1500).beat(other) == 0
    assert book.at(1501).beat(one) == 0
    assert {c.outcome for c in book.claim(one, release.id, want(part.id, 1)).values()} == {"again"}


def test_a_clock_that_jumps_buries_nobody(book: Any, release: Release, files: Files, want: Want) -> None:
    one, (part,) = begun(book, release, files, "a")
    book.claim(one, release.id, want(part.id, 1))
    other = book.join(LEASE)
    for now in (1007, 90_000, 90_007, 90_014, 500, 507, 514, 521, 528, 535, 542):
        assert book.at(now).beat(other) == 0
        assert book.at(now).beat(one) == 0
    # a clock that was set back does not keep a dead worker alive
    assert sum(book.at(now).beat(other) for now in (549, 556, 563, 570, 577, 584)) == 1


def test_claims_that_are_given_back_use_up_no_try(book: Any, release: Release, files: Files, want: Want) -> None:
    worker, (part,) = begun(book, release, files, "a")
    book.claim(worker, release.id, want(part.id, 1))
    assert book.give_back(worker) == 1
    (again,) = book.claim_parts(worker, release.id, **ALL)
    assert again.tries == 0
    (claim,) = book.claim(worker, release.id, want(part.id, 1)).values()
    assert (claim.outcome, claim.tries) == ("mine", 0)
    book.leave(worker)
    assert book.counts(release.id) == {"found": 1}
    assert book.workers() == 0


def test_shards_of_the_dead_are_placed_if_they_were_committed_and_else_discarded(
    book: Any, release: Release, files: Files, want: Want
) -> None:
    worker, (part,) = begun(book, release, files, "a")
    settled(book, worker, release, book.claim(worker, release.id, want(part.id, 1)))
    book.begin_shards(worker, release.id, ["r1/s2"])
    assert book.left_over() == ([], [])
    book.leave(worker)
    assert book.left_over() == (["r1/s1"], ["r1/s2"])
    book.placed(["r1/s1"])
    book.dropped("r1/s2")
    assert book.left_over() == ([], [])
    assert [shard.name for shard in book.shards(release.id)] == ["r1/s1"]


def test_a_held_record_is_claimed_again_when_it_is_requeued(
    book: Any, release: Release, files: Files, want: Want
) -> None:
    worker, (part,) = begun(book, release, files, "a")
    (record,) = want(part.id, 1)
    (claim,) = book.claim(worker, release.id, [record]).values()
    book.settle(worker, "t", (), [SettledRecord(claim.id, "quarantined", None, ("malformed",))], [part.id])
    assert [entry.codes for entry in book.entries(state="quarantined")] == [("malformed",)]
    assert book.requeue(release.id, [record.key, "0" * 64]) == 1
    assert [p.id for p in book.claim_parts(worker, release.id, **ALL)] == [part.id]
    assert book.claim(worker, release.id, [record])[record.key].outcome == "mine"


def test_a_decided_record_is_claimed_from_review_once(book: Any, release: Release, files: Files, want: Want) -> None:
    worker, (part,) = begun(book, release, files, "a")
    (record,) = want(part.id, 1)
    (claim,) = book.claim(worker, release.id, [record]).values()
    book.settle(worker, "t", (), [SettledRecord(claim.id, "review")], [part.id])
    assert book.claim_reviewed(worker, release.id, record.key).outcome == "mine"
    assert book.claim_reviewed(worker, release.id, record.key).outcome == "busy"
    book.leave(worker)  # the worker that held it is gone, and its part must be read again
    assert book.to_do(release.id) == 1


def test_a_release_is_what_it_was_frozen_as(book: Any, release: Release) -> None:
    assert book.freeze("r1", {"policy": {"name": "strict", "version": "1"}}).id == release.id
    with pytest.raises(UsageError, match=r"policy\.version"):
        book.freeze("r1", {"policy": {"name": "strict", "version": "2"}})
    with pytest.raises(UnknownName):
        book.release("r9")


@pytest.mark.parametrize(
    "name", ["", "a/../../b", "../a", "a/b", "a b", "tombstones", "Tombstones", "x" * 65, "12", "a\n"]
)
def test_a_release_bears_a_name_that_leads_nowhere(book: Any, name: str) -> None:
    """The folders of destination and quarantine have this name."""
    with pytest.raises(UsageError, match="--release must be"):
        book.freeze(name, {"policy": 1})


def test_records_that_a_worker_has_in_hand_can_be_taken_from_it(
    book: Any, release: Release, files: Files, want: Want
) -> None:
    worker, (part,) = begun(book, release, files, "a")
    one, two = want(part.id, 1, 2)
    claims = book.claim(worker, release.id, [one, two])
    assert book.mark(release.id, [one.key], "tombstoned", "forgotten") == 0
    assert book.mark(release.id, [one.key], "tombstoned", "forgotten", claimed=True) == 1
    with pytest.raises(LeaseLost):
        settled(book, worker, release, claims)
    assert book.dropped("r1/s1")
    book.leave(worker)
    assert book.counts(release.id) == {"tombstoned": 1, "found": 1}
    assert (book.holds(release.id, one.key), book.holds(release.id, "9" * 64)) == (True, False)


def test_another_key_is_refused_and_so_is_one_that_dies(book: Any, database: str) -> None:
    with pytest.raises(WrongKey):
        Ledger(database, Keyring(b"another master key, of 32 bytes." * 2))
    with pytest.raises(WrongKey):
        Ledger(database, Keyring.ephemeral())


def test_nothing_of_a_name_stands_in_the_database(book: Any, release: Release, database: str, files: Files) -> None:
    book.found(release.id, files("Quartermain"))
    rows = book._base.run(lambda db: [str(row) for table in ledger_tables.METADATA.sorted_tables
                                      for row in db.execute(table.select())])  # fmt: skip
    assert any("strict" in row for row in rows)  # releases are stored in plaintext, so the search can find them
    assert not any("ward/" in row or "main.txt" in row for row in rows)


def test_many_workers_on_one_ledger_share_the_parts_without_a_double(book: Any, release: Release, files: Files) -> None:
    book.found(release.id, files(*(f"f{i:03}x" for i in range(60))))
    ready = threading.Barrier(4)

    def take(_: int) -> list[int]:
        worker = book.join(LEASE)
        ready.wait()
        mine: list[int] = []
        while parts := book.claim_parts(worker, release.id, most=3, bytes=10**9):
            mine += [part.id for part in parts]
        return mine

    with ThreadPoolExecutor(4) as pool:
        taken = [part for mine in pool.map(take, range(4)) for part in mine]
    assert len(taken) == len(set(taken)) == 60


def test_tables_of_a_newer_version_are_refused(book: Any, database: str) -> None:
    from sqlalchemy import update

    meta = ledger_tables.META
    newer = update(meta).where(meta.c.name == "version").values(value="99")
    book._base.run(lambda db: db.execute(newer))
    with pytest.raises(LedgerRejected, match="newer"):
        Ledger(database, book._keyring)


@pytest.mark.parametrize("url", ["mysql://x/y", "sqlite://", "not a url"])
def test_what_is_no_ledger_is_said(url: str) -> None:
    with pytest.raises(SettingError, match="sqlite:///FILE"):
        Ledger(url, Keyring(b"x" * 32))
