"""Requirements for every index."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from incognote.errors import UsageError
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.nouns import (
    Conflict,
    IdentityPlace,
    Query,
    Repair,
    SurrogateClaimed,
    SurrogateProposal,
    SurrogateTaken,
)

from .conftest import PLACE, all_docs, given

Make = Callable[..., Any]
Propose = Callable[..., SurrogateProposal]


async def test_the_first_writer_wins(index: SurrogateIndex, propose: Propose) -> None:
    first = await index.claim(propose("adam wilson", whole="Kevin Chang"))
    again = await index.claim(propose("adam wilson", whole="Someone Else"))
    assert isinstance(first, SurrogateClaimed)
    assert isinstance(again, SurrogateClaimed)
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
async def test_case_space_and_width_do_not_tell_variants_apart(
    index: SurrogateIndex, propose: Propose, variant: str
) -> None:
    identity = await given(index, propose("adam wilson"))
    assert await index.lookup(PLACE, [variant]) == (identity,)


async def test_domains_scopes_and_groups_are_apart(index: SurrogateIndex, propose: Propose) -> None:
    places = [PLACE, replace(PLACE, domain="x"), replace(PLACE, scope=""), replace(PLACE, group="LOCATION")]
    found = [await given(index, propose("wilson", whole=f"S {n}", place=place)) for n, place in enumerate(places)]
    assert len({identity.id for identity in found}) == 4
    assert [await index.lookup(place, ["wilson"]) for place in places] == [(one,) for one in found]


async def test_words_do_not_run_into_each_other(index: SurrogateIndex, propose: Propose) -> None:
    await given(index, propose("b c", place=IdentityPlace("d", "a", "PERSON")))
    assert await index.lookup(IdentityPlace("d", "a b", "PERSON"), ["c"]) == ()
    assert await index.lookup(IdentityPlace("d a", "", "PERSON"), ["b c"]) == ()


async def test_variants_join_the_identity_that_has_one_of_them(index: SurrogateIndex, propose: Propose) -> None:
    identity = await given(index, propose("adam wilson", "a. wilson"))
    again = await given(index, propose("a. wilson", "dr. wilson", whole="Other"))
    assert again == identity
    assert await index.lookup(PLACE, ["dr. wilson"]) == (identity,)
    assert await index.add_keys(identity.id, ["AW"]) == SurrogateClaimed(identity, created=False)
    assert await index.lookup(PLACE, ["aw"]) == (identity,)
    with pytest.raises(UsageError, match="no identity"):
        await index.add_keys("0" * 32, ["x"])


async def test_variants_of_two_identities_are_a_conflict_until_they_are_merged(
    index: SurrogateIndex, propose: Propose
) -> None:
    old, new = await given(index, propose("adam wilson")), await given(index, propose("wilson"))
    both = propose("wilson", "adam wilson", "w", whole="Third")
    assert await index.claim(both) == Conflict((old, new))
    assert await index.lookup(PLACE, ["wilson", "adam wilson"]) == (old, new)
    assert await index.add_keys(old.id, ["wilson"]) == Conflict((old, new))
    await index.use([(new.id, "note 1"), (new.id, "note 2"), (old.id, "note 3"), (new.id, "note 1")])
    done = await index.merge([new.id, old.id])
    assert done == Repair(old, (new.id,), ("note 1", "note 2"))
    assert await index.merge([new.id, old.id]) == done
    assert await index.claim(both) == SurrogateClaimed(old, created=False)
    assert await index.get([new.id]) == {new.id: old}


async def test_only_identities_of_one_place_are_merged(index: SurrogateIndex, propose: Propose) -> None:
    one = await given(index, propose("wilson"))
    two = await given(index, propose("wilson", place=replace(PLACE, scope="patient 8")))
    for ids, words in (([one.id, two.id], "different domains"), ([one.id], "two"), ([one.id, "0" * 32], "two")):
        with pytest.raises(UsageError, match=words):
            await index.merge(ids)


async def test_a_surrogate_is_given_once_in_a_scope_and_moved_draws_are_counted(
    index: SurrogateIndex, propose: Propose
) -> None:
    bearer = await given(index, propose("wilson", whole="Kevin Chang"))
    assert await index.claim(propose("miller", whole="kevin  CHANG")) == SurrogateTaken()
    assert await index.lookup(PLACE, ["miller"]) == ()
    moved = await given(index, propose("miller", whole="Mia Li", draws=1))
    await given(index, propose("miller", whole="Kevin Chang", place=replace(PLACE, scope="patient 8")))
    assert await index.holder("clinic", "patient 7", "Kevin Chang") == bearer
    assert await index.holder("clinic", "patient 7", "Mia Li") == moved
    assert await index.holder("clinic", "patient 7", "Nobody") is None
    stats = await index.stats()
    assert (stats.moved, stats.draws, stats.identities) == (1, 1, {("clinic", "PERSON"): 3})


async def test_a_batch_answers_in_its_order_and_gives_each_identity_one_surrogate(
    index: SurrogateIndex, propose: Propose
) -> None:
    batch = [propose(f"p{n % 5}", f"q{n % 5}", whole=f"S {n}") for n in range(20)]
    outcomes = await index.claim_all(batch)
    ids = [outcome.identity.id for outcome in outcomes if isinstance(outcome, SurrogateClaimed)]
    assert len(ids) == 20
    assert ids == ids[:5] * 4
    found = [await index.lookup(PLACE, [f"q{n}"]) for n in range(6)]
    assert [[identity.id for identity in some] for some in found] == [[one] for one in ids[:5]] + [[]]
    stats = await index.stats()
    assert (stats.keys, stats.reservations, stats.pending, stats.usages) == (10, 5, 0, 0)


async def test_claims_at_the_same_time_that_overlap_end_in_one_identity(
    index: SurrogateIndex, propose: Propose
) -> None:
    claims = [propose("wilson", f"w{n % 3}", whole=f"S {n}") for n in range(12)]
    outcomes = await asyncio.gather(*map(index.claim, claims))
    ids = {outcome.identity.id for outcome in outcomes if isinstance(outcome, SurrogateClaimed)}
    assert len(ids) == 1
    assert not any(isinstance(outcome, Conflict | SurrogateTaken) for outcome in outcomes)
    found = await index.lookup(PLACE, ["wilson", "w0", "w1", "w2"])
    assert {identity.id for identity in found} == ids


async def test_the_nearest_are_taken_from_what_the_filter_leaves(index: SurrogateIndex, propose: Propose) -> None:
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
                assert isinstance(outcome, SurrogateClaimed)
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


async def test_vectors_follow_what_becomes_of_their_identities(index: SurrogateIndex, propose: Propose) -> None:
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
async def test_a_vector_that_does_not_fit_is_refused(index: SurrogateIndex, propose: Propose, vector: Any) -> None:
    with pytest.raises(UsageError, match="16 finite numbers"):
        await index.claim(propose("a", vector=vector))
    with pytest.raises(UsageError, match="16 finite numbers"):
        await index.nearest(vector, Query("clinic", "PERSON"), 1)


async def test_a_split_gives_variants_to_another_and_names_the_outputs(index: SurrogateIndex, propose: Propose) -> None:
    whole = await given(index, propose("adam wilson", "wilson", "eve wilson"))
    await index.use([(whole.id, "note 1")])
    part = propose("eve wilson", whole="Mia Li")
    assert await index.split(whole.id, replace(part, whole=whole.whole)) == SurrogateTaken()
    done = await index.split(whole.id, part)
    assert isinstance(done, Repair)
    assert done.outputs == ("note 1",)
    assert await index.lookup(PLACE, ["eve wilson"]) == (done.identity,)
    assert await index.lookup(PLACE, ["adam wilson", "wilson"]) == (whole,)
    assert await index.split(whole.id, part) == done
    for wrong in (propose("nobody", whole="N"), propose("eve wilson", place=replace(PLACE, scope="x"))):
        with pytest.raises(UsageError):
            await index.split(whole.id, wrong)


async def test_a_merge_is_undone_by_a_split(index: SurrogateIndex, propose: Propose) -> None:
    one, two = await given(index, propose("a")), await given(index, propose("b"))
    await index.merge([one.id, two.id])
    done = await index.split(one.id, propose("b", whole="New"))
    assert isinstance(done, Repair)
    assert await index.lookup(PLACE, ["b"]) == (done.identity,)
    assert await index.lookup(PLACE, ["a"]) == (one,)


async def test_a_scope_is_forgotten_whole_and_the_receipt_holds_numbers(
    index: SurrogateIndex, propose: Propose
) -> None:
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


async def test_nothing_of_an_original_shows_in_a_repr(index: SurrogateIndex, propose: Propose) -> None:
    one = propose("adam wilson", attributes={"role": "surgeon"})
    outcome = await index.claim(one)
    found = await all_docs(index)
    shown = repr([one, outcome, Query("clinic", "PERSON", "patient 7"), found, Conflict((outcome.identity,))])
    assert not any(word in shown for word in ("wilson", "patient 7", "surgeon", "Surrogate of"))


async def test_an_output_cannot_use_what_is_not_there(index: SurrogateIndex) -> None:
    with pytest.raises(UsageError, match="no identity"):
        await index.use([("0" * 32, "note 1")])
