"""Every index keeps the same promises."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incognote.errors import IndexBusy, UsageError, WrongKey
from incognote.keys import Keyring
from incognote.relex.index import moving
from incognote.relex.index.desk import Desk
from incognote.relex.index.docs import Scan
from incognote.relex.index.door import Index
from incognote.relex.index.nouns import Claimed, Conflict, Entry, Place, Proposal, Query, Repair, Taken
from incognote.relex.index.opening import rekey

Make = Callable[..., Any]
Propose = Callable[..., Proposal]
PLACE = Place("clinic", "patient 7", "PERSON")


async def given(index: Index, one: Proposal) -> Entry:
    outcome = await index.claim(one)
    assert isinstance(outcome, Claimed)
    return outcome.identity


async def test_the_first_writer_wins(index: Index, propose: Propose) -> None:
    first = await index.claim(propose("adam wilson", whole="Kevin Chang"))
    again = await index.claim(propose("adam wilson", whole="Someone Else"))
    assert isinstance(first, Claimed)
    assert isinstance(again, Claimed)
    assert (first.created, again.created) == (True, False)
    assert again.identity == first.identity
    assert first.identity.surrogate == {"full": "Kevin Chang"}
    assert first.identity.original == "adam wilson"
    assert first.identity.place == PLACE


async def test_a_second_look_through_another_door_finds_the_same(make: Make, vendor: str, propose: Propose) -> None:
    one = await make(vendor)
    identity = await given(one, propose("adam wilson", seed=1, attributes={"gender": "m"}, pool="3", draws=2))
    two = await make(vendor, url=one.url)
    assert await two.lookup(PLACE, ["adam wilson"]) == (identity,)
    assert await two.get([identity.id, "0" * 32]) == {identity.id: identity}
    assert (identity.attributes, identity.pool, identity.draws) == ({"gender": "m"}, "3", 2)


@pytest.mark.parametrize("variant", ["ADAM  Wilson", " adam wilson\n", "ａdam wilson"])
async def test_case_space_and_width_do_not_tell_variants_apart(index: Index, propose: Propose, variant: str) -> None:
    identity = await given(index, propose("adam wilson"))
    assert await index.lookup(PLACE, [variant]) == (identity,)


async def test_domains_scopes_and_groups_are_apart(index: Index, propose: Propose) -> None:
    places = [PLACE, replace(PLACE, domain="x"), replace(PLACE, scope=""), replace(PLACE, group="LOCATION")]
    found = [await given(index, propose("wilson", whole=f"S {n}", place=place)) for n, place in enumerate(places)]
    assert len({identity.id for identity in found}) == 4
    assert [await index.lookup(place, ["wilson"]) for place in places] == [(one,) for one in found]


async def test_words_do_not_run_into_each_other(index: Index, propose: Propose) -> None:
    await given(index, propose("b c", place=Place("d", "a", "PERSON")))
    assert await index.lookup(Place("d", "a b", "PERSON"), ["c"]) == ()
    assert await index.lookup(Place("d a", "", "PERSON"), ["b c"]) == ()


async def test_variants_join_the_identity_that_has_one_of_them(index: Index, propose: Propose) -> None:
    identity = await given(index, propose("adam wilson", "a. wilson"))
    again = await given(index, propose("a. wilson", "dr. wilson", whole="Other"))
    assert again == identity
    assert await index.lookup(PLACE, ["dr. wilson"]) == (identity,)
    assert await index.add_keys(identity.id, ["AW"]) == Claimed(identity, created=False)
    assert await index.lookup(PLACE, ["aw"]) == (identity,)
    with pytest.raises(UsageError, match="no identity"):
        await index.add_keys("0" * 32, ["x"])


async def test_variants_of_two_identities_are_a_conflict_until_they_are_merged(index: Index, propose: Propose) -> None:
    old, new = await given(index, propose("adam wilson")), await given(index, propose("wilson"))
    both = propose("wilson", "adam wilson", "w", whole="Third")
    assert await index.claim(both) == Conflict((old, new))
    assert await index.lookup(PLACE, ["wilson", "adam wilson"]) == (old, new)
    assert await index.add_keys(old.id, ["wilson"]) == Conflict((old, new))
    await index.use([(new.id, "note 1"), (new.id, "note 2"), (old.id, "note 3"), (new.id, "note 1")])
    done = await index.merge([new.id, old.id])
    assert done == Repair(old, (new.id,), ("note 1", "note 2"))
    assert await index.merge([new.id, old.id]) == done
    assert await index.claim(both) == Claimed(old, created=False)
    assert await index.get([new.id]) == {new.id: old}


async def test_only_identities_of_one_place_are_merged(index: Index, propose: Propose) -> None:
    one = await given(index, propose("wilson"))
    two = await given(index, propose("wilson", place=replace(PLACE, scope="patient 8")))
    for ids, words in (([one.id, two.id], "different domains"), ([one.id], "two"), ([one.id, "0" * 32], "two")):
        with pytest.raises(UsageError, match=words):
            await index.merge(ids)


async def test_a_surrogate_is_given_once_in_a_scope_and_moved_draws_are_counted(index: Index, propose: Propose) -> None:
    bearer = await given(index, propose("wilson", whole="Kevin Chang"))
    assert await index.claim(propose("miller", whole="kevin  CHANG")) == Taken()
    assert await index.lookup(PLACE, ["miller"]) == ()
    moved = await given(index, propose("miller", whole="Mia Li", draws=1))
    await given(index, propose("miller", whole="Kevin Chang", place=replace(PLACE, scope="patient 8")))
    assert await index.holder("clinic", "patient 7", "Kevin Chang") == bearer
    assert await index.holder("clinic", "patient 7", "Mia Li") == moved
    assert await index.holder("clinic", "patient 7", "Nobody") is None
    stats = await index.stats()
    assert (stats.moved, stats.draws, stats.identities) == (1, 1, {("clinic", "PERSON"): 3})


async def test_a_batch_answers_in_its_order_and_gives_each_identity_one_surrogate(
    index: Index, propose: Propose
) -> None:
    batch = [propose(f"p{n % 5}", f"q{n % 5}", whole=f"S {n}") for n in range(20)]
    outcomes = await index.claim_all(batch)
    ids = [outcome.identity.id for outcome in outcomes if isinstance(outcome, Claimed)]
    assert len(ids) == 20
    assert ids == ids[:5] * 4
    found = await index.lookup_all([(PLACE, [f"q{n}"]) for n in range(6)])
    assert [[identity.id for identity in some] for some in found] == [[one] for one in ids[:5]] + [[]]
    stats = await index.stats()
    assert (stats.keys, stats.reservations, stats.pending, stats.usages) == (10, 5, 0, 0)


async def test_claims_at_the_same_time_that_overlap_end_in_one_identity(index: Index, propose: Propose) -> None:
    claims = [propose("wilson", f"w{n % 3}", whole=f"S {n}") for n in range(12)]
    outcomes = await asyncio.gather(*map(index.claim, claims))
    ids = {outcome.identity.id for outcome in outcomes if isinstance(outcome, Claimed)}
    assert len(ids) == 1
    assert not any(isinstance(outcome, Conflict | Taken) for outcome in outcomes)
    found = await index.lookup(PLACE, ["wilson", "w0", "w1", "w2"])
    assert {identity.id for identity in found} == ids


async def test_the_nearest_are_taken_from_what_the_filter_leaves(index: Index, propose: Propose) -> None:
    kinds = ["PATIENT", "CLINICIAN", "CLINICIAN", "CLINICIAN"]
    batch = [
        propose(f"p{n}", seed=n, type=kinds[n % 4], attributes={"gender": "fm"[n % 2]}, pool=str(n % 5))
        for n in range(80)
    ]
    outcomes = await index.claim_all(batch)
    await index.refresh()
    wanted = np.random.default_rng(999).normal(size=16)

    def exact(keep: Callable[[int], bool], k: int) -> list[tuple[str, float]]:
        rows = []
        for n, (one, outcome) in enumerate(zip(batch, outcomes, strict=True)):
            if keep(n):
                assert isinstance(outcome, Claimed)
                assert one.vector is not None
                cosine = one.vector @ wanted / np.linalg.norm(one.vector) / np.linalg.norm(wanted)
                rows.append((outcome.identity.id, float(cosine)))
        return sorted(rows, key=lambda row: -row[1])[:k]

    query = Query("clinic", "PERSON")
    for asked, keep in (
        (query, lambda n: True),
        (replace(query, type="PATIENT"), lambda n: n % 4 == 0),
        (replace(query, attributes={"gender": "m"}, pool="3"), lambda n: n % 2 and n % 5 == 3),
        (replace(query, scope="patient 7"), lambda n: True),
        (replace(query, scope="nobody"), lambda n: False),
        (replace(query, attributes={"gender": "x"}), lambda n: False),
        (replace(query, group="LOCATION"), lambda n: False),
    ):
        hits = await index.nearest(wanted, asked, 6)
        right = exact(keep, 6)
        assert [hit.identity.id for hit in hits] == [one for one, _ in right]
        assert [hit.score for hit in hits] == pytest.approx([score for _, score in right], abs=2e-3)
    assert await index.nearest(np.zeros(16), query, 3) == []


async def test_vectors_follow_what_becomes_of_their_identities(index: Index, propose: Propose) -> None:
    old = await given(index, propose("a", seed=1))
    new = await given(index, propose("b", seed=2))
    await given(index, propose("c", vector=np.zeros(16)))
    at = propose("b", seed=2).vector
    await index.refresh()
    query = Query("clinic", "PERSON")
    assert [hit.identity for hit in await index.nearest(at, query, 1)] == [new]
    await index.merge([old.id, new.id])
    await index.refresh()
    assert [hit.identity for hit in await index.nearest(at, query, 9)] == [old]
    third = await given(index, propose("d", seed=2))
    await index.refresh()
    assert [hit.identity for hit in await index.nearest(at, query, 1)] == [third]
    assert (await index.stats()).vectors == 2
    await index.forget("clinic", "patient 7")
    await index.refresh()
    assert await index.nearest(at, query, 9) == []


@pytest.mark.parametrize("vector", [np.ones(15), np.full(16, np.nan)])
async def test_a_vector_that_does_not_fit_is_refused(index: Index, propose: Propose, vector: Any) -> None:
    with pytest.raises(UsageError, match="16 finite numbers"):
        await index.claim(propose("a", vector=vector))
    with pytest.raises(UsageError, match="16 finite numbers"):
        await index.nearest(vector, Query("clinic", "PERSON"), 1)


async def test_a_split_gives_variants_to_another_and_names_the_outputs(index: Index, propose: Propose) -> None:
    whole = await given(index, propose("adam wilson", "wilson", "eve wilson"))
    await index.use([(whole.id, "note 1")])
    part = propose("eve wilson", whole="Mia Li")
    assert await index.split(whole.id, replace(part, whole=whole.whole)) == Taken()
    done = await index.split(whole.id, part)
    assert isinstance(done, Repair)
    assert done.outputs == ("note 1",)
    assert await index.lookup(PLACE, ["eve wilson"]) == (done.identity,)
    assert await index.lookup(PLACE, ["adam wilson", "wilson"]) == (whole,)
    assert await index.split(whole.id, part) == done
    for wrong in (propose("nobody", whole="N"), propose("eve wilson", place=replace(PLACE, scope="x"))):
        with pytest.raises(UsageError):
            await index.split(whole.id, wrong)


async def test_a_merge_is_undone_by_a_split(index: Index, propose: Propose) -> None:
    one, two = await given(index, propose("a")), await given(index, propose("b"))
    await index.merge([one.id, two.id])
    done = await index.split(one.id, propose("b", whole="New"))
    assert isinstance(done, Repair)
    assert await index.lookup(PLACE, ["b"]) == (done.identity,)
    assert await index.lookup(PLACE, ["a"]) == (one,)


async def test_a_scope_is_forgotten_whole_and_the_receipt_holds_numbers(index: Index, propose: Propose) -> None:
    other = await given(index, propose("a", place=replace(PLACE, scope="patient 8")))
    for n in range(3):
        identity = await given(index, propose(f"p{n}", f"q{n}", seed=n))
        await index.use([(identity.id, "note")])
    receipt = await index.forget("clinic", "patient 7")
    assert (receipt.identities, receipt.keys, receipt.reservations, receipt.usages) == (3, 6, 3, 3)
    assert "patient" not in repr(receipt)
    assert await index.lookup(PLACE, ["p0", "q1"]) == ()
    assert await index.lookup(replace(PLACE, scope="patient 8"), ["a"]) == (other,)
    assert (await index.forget("clinic", "patient 7")).identities == 0
    assert (await given(index, propose("p0", "q0", whole="New"))).whole == "New"


async def test_another_key_is_refused_before_the_first_read(
    make: Make, vendor: str, propose: Propose, other_key: Keyring
) -> None:
    index = await make(vendor)
    await given(index, propose("a"))
    with pytest.raises(WrongKey):
        await make(vendor, key=other_key, url=index.url)


@pytest.mark.parametrize("to", ["memory", "sqlite", "opensearch"])
async def test_what_one_exports_another_imports_and_answers_alike(
    make: Make, vendor: str, to: str, propose: Propose, tmp_path: Path
) -> None:
    one = await make(vendor)
    batch = [propose(f"p{n}", f"q{n}", seed=n, attributes={"gender": "fm"[n % 2]}) for n in range(12)]
    outcomes = await one.claim_all(batch)
    await one.use([(outcomes[5].identity.id, "note 5")])
    await one.merge([outcomes[4].identity.id, outcomes[5].identity.id])
    path = tmp_path / "index.export"
    count = await one.export(path)
    assert path.stat().st_mode & 0o777 == 0o600
    text = path.read_text()
    assert not any(word in text for word in ("Surrogate", "patient 7", "clinic", "gender"))
    two = await make(to)
    assert await two.take_in(path) == count
    asked = [(PLACE, [f"q{n}"]) for n in range(12)]
    assert await two.lookup_all(asked) == await one.lookup_all(asked)
    await one.refresh()
    query = Query("clinic", "PERSON", attributes={"gender": "m"})
    near = [await each.nearest(batch[0].vector, query, 4) for each in (one, two)]
    assert [hit.identity for hit in near[0]] == [hit.identity for hit in near[1]]
    assert [hit.score for hit in near[0]] == pytest.approx([hit.score for hit in near[1]], abs=1e-4)
    told = [await each.stats() for each in (one, two)]
    assert replace(told[0], vendor="", id="") == replace(told[1], vendor="", id="")
    with pytest.raises(UsageError, match="empty index"):
        await two.take_in(path)


async def test_an_export_that_is_cut_or_of_another_key_is_refused(
    make: Make, propose: Propose, tmp_path: Path, other_key: Keyring
) -> None:
    index = await make("memory")
    await given(index, propose("a"))
    await index.export(tmp_path / "whole")
    lines = (tmp_path / "whole").read_text().splitlines(keepends=True)
    (tmp_path / "cut").write_text("".join(lines[:-1]))
    (tmp_path / "short").write_text("".join(lines[:2] + lines[-1:]))
    (tmp_path / "none").write_text("something\n")
    new = await make("memory")
    for name in ("cut", "short", "none"):
        with pytest.raises(UsageError):
            await new.take_in(tmp_path / name)
    with pytest.raises(WrongKey):
        await (await make("memory", key=other_key)).take_in(tmp_path / "whole")
    with pytest.raises(UsageError, match="originals"):
        await (await make("memory", originals="off")).take_in(tmp_path / "whole")
    with pytest.raises(UsageError, match="cannot be written"):
        await index.export(tmp_path / "whole")
    assert await new.take_in(tmp_path / "whole") == 3


async def test_an_import_that_was_broken_off_shuts_the_index_until_it_is_done(
    make: Make, vendor: str, propose: Propose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = await make(vendor)
    await one.claim_all([propose(f"p{n}") for n in range(4)])
    await one.export(tmp_path / "e")
    two = await make(vendor)
    with monkeypatch.context() as patch:
        patch.setattr(moving, "end", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            await two.take_in(tmp_path / "e")
    with pytest.raises(IndexBusy, match="import"):
        await two.claim(propose("p1"))
    assert await two.take_in(tmp_path / "e") == 0
    assert await two.lookup(PLACE, ["p1"]) == await one.lookup(PLACE, ["p1"])


async def all_docs(index: Index) -> list[Any]:
    def program() -> Any:
        page = yield Scan({}, {"kind": "meta"}, vectors=True)
        return page.docs

    found: list[Any] = await index._run(program())
    return found


async def test_a_new_key_changes_every_document_and_no_answer(
    make: Make, vendor: str, propose: Propose, key: Keyring, other_key: Keyring
) -> None:
    index = await make(vendor)
    batch = [propose(f"p{n}", f"q{n}", seed=n, attributes={"gender": "f"}) for n in range(4)]
    outcomes = await index.claim_all(batch)
    await index.use([(outcomes[0].identity.id, "note 1")])
    before = {doc.id for doc in await all_docs(index) if doc.kind != "identity"}
    assert await index.rekey(other_key) == 4 + 8 + 4 + 1
    after = await all_docs(index)
    assert {doc.key for doc in after} == {other_key.id}
    assert not before & {doc.id for doc in after}
    for door in (index, await make(vendor, key=other_key, url=index.url)):
        assert await door.lookup(PLACE, ["q2"]) == (outcomes[2].identity,)
        await door.refresh()
        query = Query("clinic", "PERSON", "patient 7", attributes={"gender": "f"})
        (hit,) = await door.nearest(batch[1].vector, query, 1)
        assert hit.identity == outcomes[1].identity
        assert await door.holder("clinic", "patient 7", "Surrogate of p3") == outcomes[3].identity
        assert await door.claim(propose("p0", "q0", "new", whole="Other")) == Claimed(outcomes[0].identity, False)
    assert (await index.merge([one.identity.id for one in outcomes[:2]])).outputs == ()
    with pytest.raises(WrongKey):
        await make(vendor, url=index.url)


@pytest.mark.parametrize("vendor", ["sqlite", "opensearch"])
async def test_a_change_of_the_key_that_was_broken_off_is_ended_later(
    make: Make, vendor: str, propose: Propose, key: Keyring, other_key: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = await make(vendor)
    outcomes = await index.claim_all([propose(f"p{n}", seed=n) for n in range(6)])
    working = await make(vendor, url=index.url)
    real, seen = Desk.rekeyed, []

    def dies(self: Desk, doc: Any, old: Desk) -> Any:
        seen.append(doc)
        if len(seen) > 7:
            raise KeyboardInterrupt
        return real(self, doc, old)

    def small(new: Desk, old: Desk, after: Any) -> Any:
        """Two documents a page, so that some are done when it dies."""
        yield from new.fetch(during="rekeying")
        page = yield Scan({"key": old.keyring.id}, {"kind": "meta"}, vectors=True, after=after)
        inner = moving_rekey(new, old, after)
        result = None
        while True:
            try:
                op = inner.send(result)
            except StopIteration as stop:
                return stop.value
            result = replace(page, docs=page.docs[:2], next=None) if isinstance(op, Scan) else (yield op)

    moving_rekey = moving.rekey
    with monkeypatch.context() as patch:
        patch.setattr(Desk, "rekeyed", dies)
        patch.setattr(moving, "rekey", small)
        with pytest.raises(KeyboardInterrupt):
            await index.rekey(other_key)
    assert 0 < len({doc.id for doc in await all_docs(working) if doc.key == other_key.id}) < 18
    with pytest.raises(WrongKey):
        await working.claim(propose("p1"))
    for wrong in (key, other_key):
        with pytest.raises((WrongKey, IndexBusy)):
            await make(vendor, key=wrong, url=index.url)
    with pytest.raises(IndexBusy):
        await rekey(index.url, Keyring(b"a third key, which nobody used.." * 2), other_key)
    assert await rekey(index.url, key, other_key) > 0
    assert await rekey(index.url, key, other_key) == 0
    done = await make(vendor, key=other_key, url=index.url)
    found = await done.lookup_all([(PLACE, [f"p{n}"]) for n in range(6)])
    assert found == [(outcome.identity,) for outcome in outcomes]


async def test_an_index_without_originals_gives_surrogates_and_cannot_be_rekeyed(
    make: Make, vendor: str, propose: Propose, other_key: Keyring
) -> None:
    index = await make(vendor, originals="off")
    identity = await given(index, propose("adam wilson", "wilson"))
    assert identity.original is None
    assert await index.lookup(PLACE, ["wilson"]) == (identity,)
    opened = [index.desk.open(doc) for doc in await all_docs(index)]
    assert "wilson" not in str(opened).replace("Surrogate of adam wilson", "")
    with pytest.raises(UsageError, match="originals"):
        await index.rekey(other_key)


async def test_nothing_of_an_original_shows_in_a_repr(index: Index, propose: Propose) -> None:
    one = propose("adam wilson", attributes={"role": "surgeon"})
    outcome = await index.claim(one)
    found = await all_docs(index)
    shown = repr([one, outcome, Query("clinic", "PERSON", "patient 7"), found, Conflict((outcome.identity,))])
    assert not any(word in shown for word in ("wilson", "patient 7", "surgeon", "Surrogate of"))


async def test_an_output_cannot_use_what_is_not_there(index: Index) -> None:
    with pytest.raises(UsageError, match="no identity"):
        await index.use([("0" * 32, "note 1")])
