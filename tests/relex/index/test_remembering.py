"""What an index stores besides identities: mentions, parts, and originals, for each vendor and after rekeying."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from incognote.keys import Keyring
from incognote.relex.index import moving
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.nouns import (
    CUT_OUT,
    IMAGE,
    IdentityPlace,
    Sighting,
    SurrogateClaimed,
    SurrogatePart,
    SurrogateProposal,
    SurrogateTaken,
)

Make = Callable[..., Any]
Propose = Callable[..., SurrogateProposal]
PLACE = IdentityPlace("clinic", "patient 7", "PERSON")
SCOPE = ("clinic", "patient 7")


def said(record: str, *words: str, block: str = "own patient 7") -> Sighting:
    return Sighting(*SCOPE, block, record, words)


def part(value: str, normal: str = "wilson", type: str = "surname") -> SurrogatePart:
    return SurrogatePart(*SCOPE, type, normal, value)


async def test_mentions_are_found_by_their_shelf_and_a_record_said_anew_takes_its_place(index: SurrogateIndex) -> None:
    one, two, staff = said("1", "a"), said("2", "b", "c"), said("1", "d", block="whole wilson")
    await index.note([one, two, staff])
    await index.note([one])
    found = await index.noted("clinic", ["own patient 7"])
    assert sorted(found, key=lambda s: s.record) == [one, two]
    assert await index.noted("clinic", ["whole wilson", "whole nobody"]) == [staff]
    assert await index.noted("elsewhere", ["whole wilson"]) == []
    await index.note([said("2", "e")])
    assert {s.said for s in await index.noted("clinic", ["own patient 7"])} == {("a",), ("e",)}


async def test_keys_lead_where_they_are_moved(index: SurrogateIndex, propose: Propose) -> None:
    one, two = [await index.claim(propose(name)) for name in ("wilson", "marin")]
    assert isinstance(one, SurrogateClaimed)
    assert isinstance(two, SurrogateClaimed)
    await index.move(PLACE, ["marin", "new"], one.identity.id)
    asked = [(PLACE, name) for name in ("wilson", "marin", "new", "nobody")]
    assert await index.bearers(asked) == [one.identity, one.identity, one.identity, None]
    await index.move(PLACE, ["marin"], two.identity.id)
    assert await index.bearers(asked[:2]) == [one.identity, two.identity]


async def test_a_part_has_one_value_and_a_value_one_part(index: SurrogateIndex) -> None:
    assert await index.held([part("")]) == [None]
    assert await index.hold_all([part("Chang")]) == ["Chang"]
    assert await index.hold_all([part("Reed"), part("Chang", "marin")]) == ["Chang", SurrogateTaken()]
    assert await index.hold_all([part("Reed", "marin"), part("Chang", "wilson", "given:male")]) == ["Reed", "Chang"]
    assert await index.held([part(""), part("", "marin")]) == ["Chang", "Reed"]


async def test_parts_asked_for_at_once_have_one_value(index: SurrogateIndex) -> None:
    told = await asyncio.gather(*(index.hold_all([part(f"Name {n}")]) for n in range(8)))
    assert len({value for (value,) in told}) == 1


async def test_a_surrogate_gains_parts_and_loses_none(index: SurrogateIndex, propose: Propose) -> None:
    made = await index.claim(propose("wilson"))
    assert isinstance(made, SurrogateClaimed)
    told = await index.amend(made.identity.id, {"full": "Another", "middle": "Lee"})
    assert told is not None
    assert told.surrogate == {**made.identity.surrogate, "middle": "Lee"}
    assert await index.amend("0" * 32, {"middle": "Lee"}) is None


async def test_originals_are_known_in_the_whole_domain(index: SurrogateIndex) -> None:
    await index.remember([(*SCOPE, "adamwilson"), (*SCOPE, "adamwilson")])
    asked = [("clinic", "adamwilson"), ("clinic", "adam"), ("elsewhere", "adamwilson")]
    assert await index.originals(asked) == [True, False, False]


async def test_what_is_remembered_is_forgotten_with_its_scope(index: SurrogateIndex) -> None:
    await index.note([said("1", "a")])
    await index.hold_all([part("Chang")])
    await index.remember([(*SCOPE, "adamwilson")])
    receipt = await index.forget(*SCOPE)
    assert (receipt.mentions, receipt.parts, receipt.originals, receipt.reservations) == (1, 1, 1, 1)
    assert await index.noted("clinic", ["own patient 7"]) == []
    assert await index.hold_all([part("Reed")]) == ["Reed"]
    assert await index.originals([("clinic", "adamwilson")]) == [False]


async def test_mentions_of_a_group_are_found_by_their_scope_and_counted_apart(index: SurrogateIndex) -> None:
    image, cut = (replace(said("1", "a", block=f"image {name}"), group=name) for name in (IMAGE, CUT_OUT))
    await index.note([said("1", "a"), image, cut])
    assert await index.noted("clinic", ["image IMAGE"]) == [image]
    assert await index.blocks(*SCOPE, IMAGE) == ("image IMAGE",)
    assert await index.blocks("clinic", "patient 8", IMAGE) == ()
    stats = await index.stats()
    assert (stats.mentions, stats.images) == (1, 1)


async def test_a_block_is_dropped_without_the_others(index: SurrogateIndex) -> None:
    other = replace(said("1", "a"), scope="patient 8")
    elsewhere = replace(said("1", "a"), domain="elsewhere")
    await index.note([said("1", "a"), said("2", "b"), other, said("1", "c", block="whole wilson"), elsewhere])
    assert await index.drop("clinic", "own patient 7") == 3
    assert await index.drop("clinic", "own patient 7") == 0
    assert await index.noted("clinic", ["own patient 7"]) == []
    assert await index.noted("clinic", ["whole wilson"]) == [said("1", "c", block="whole wilson")]
    assert await index.noted("elsewhere", ["own patient 7"]) == [elsewhere]


async def test_another_key_changes_nothing_that_is_remembered(make: Make, vendor: str, other_key: Keyring) -> None:
    index = await make(vendor)
    await index.note([said("1", "a")])
    await index.hold_all([part("Chang")])
    await index.remember([(*SCOPE, "adamwilson")])
    await moving.rekey(index, other_key)
    again = await make(vendor, key=other_key, url=index.url)
    assert await again.noted("clinic", ["own patient 7"]) == [said("1", "a")]
    assert await again.hold_all([part("Reed"), part("Chang", "marin")]) == ["Chang", SurrogateTaken()]
    assert await again.hold_all([part("Reed", "marin")]) == ["Reed"]
    assert await again.originals([("clinic", "adamwilson")]) == [True]
