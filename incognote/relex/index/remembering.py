"""What the index remembers beside identities: the mentions that were met, the parts that were drawn, all originals.

Mentions, so that what was taken for one person can be looked at again when more is known. Parts (a surname, a town),
so that two who draw at once give one surname one surrogate. Originals, so that no surrogate is one.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import Any

from incognote.nouns import subject_form
from incognote.relex.index.claims import followed
from incognote.relex.index.desk import Desk
from incognote.relex.index.docs import Create, Delete, Doc, Get, Op, Page, Program, Scan, Swap
from incognote.relex.index.nouns import Entry, Part, Place, Sighting, Taken

_SHELVES = 500  # searched at once


def note(desk: Desk, sightings: Sequence[Sighting]) -> Program[None]:
    """Remember mentions; those of the same record on the same shelf take the former ones' place."""
    wanted = {desk.mention_id(one): one for one in sightings}
    found = yield from desk.fetch(*wanted)
    fresh = [desk.mention(own, one) for own, one in wanted.items() if own not in found]
    made = yield Create(tuple(fresh))
    changed = [doc for doc in found.values() if desk.open(doc)["said"] != list(wanted[doc.id].said)]
    swapped = yield Swap(tuple((doc, {"body": desk.mention(doc.id, wanted[doc.id]).body}) for doc in changed))
    again = [wanted[doc.id] for doc, done in zip([*fresh, *changed], [*made, *swapped], strict=True) if not done]
    if again:  # somebody else writes the same record
        yield from note(desk, again)


def noted(desk: Desk, domain: str, shelves: Iterable[str]) -> Program[list[Sighting]]:
    """All mentions on these shelves."""
    yield from desk.fetch()
    ids = {desk.shelf_id(domain, shelf): shelf for shelf in shelves}
    some = sorted(ids)
    told: list[Sighting] = []
    for start in range(0, len(some), _SHELVES):
        where: dict[str, str | tuple[str, ...]] = {"kind": "mention", "into": tuple(some[start : start + _SHELVES])}
        after: Any = None
        while True:
            page: Page = yield Scan(where, after=after)
            for doc in page.docs:
                body = desk.open(doc)
                told.append(Sighting(doc.domain, body["scope"], body["shelf"], body["record"], tuple(body["said"])))
            if page.next is None:
                break
            after = page.next
    return told


def bearers(desk: Desk, asked: Sequence[tuple[Place, str]]) -> Program[list[Entry | None]]:
    """Which identity each key leads to."""
    keys = [desk.key_id(place, variant) for place, variant in asked]
    found = yield from desk.fetch(*dict.fromkeys(keys))
    roots: dict[str, Entry] = {}
    for into in sorted({doc.into for doc in found.values()}):
        for doc in (yield from followed({into})):
            if doc.state == "active":
                roots[into] = desk.identity(doc)
    return [roots.get(found[key].into) if key in found else None for key in keys]


def move(desk: Desk, place: Place, variants: Iterable[str], to: str) -> Program[None]:
    """Let keys lead to an identity, wherever they led."""
    keys = {desk.key_id(place, variant): subject_form(variant) for variant in variants}
    (owner,) = yield from followed({to})
    while keys:
        found = yield from desk.fetch(*keys)
        yield Create(tuple(desk.key(key, keys[key], owner, place.scope) for key in keys if key not in found))
        elsewhere = tuple(doc for doc in found.values() if doc.into != owner.id)
        yield Swap(tuple((doc, {"into": owner.id}) for doc in elsewhere))
        found = yield Get(tuple(keys))
        keys = {key: word for key, word in keys.items() if key not in found or found[key].into != owner.id}


def hold(desk: Desk, part: Part) -> Program[str | Taken]:
    """What a part stands for: what somebody gave it before, else this value from now on. First writer wins.

    Two parts of one family in a scope never have one value.
    """
    own = desk.part_id(part)
    found = yield from desk.fetch(own)
    if own in found:
        return str(desk.open(found[own])["value"])
    reservation = desk.reserved(part, own)
    (reserved,) = yield Create((reservation,))
    if not reserved:
        held = yield Get((reservation.id,))
        if reservation.id in held and held[reservation.id].into != own:
            return Taken()
    (made,) = yield Create((desk.part(own, part),))
    if made:
        return part.value
    found = yield Get((own,))
    if own not in found:  # forgotten this moment
        return part.value
    value = str(desk.open(found[own])["value"])
    if value != part.value and reserved:
        yield from _free(reservation.id, own)
    return value


def held(desk: Desk, parts: Sequence[Part]) -> Program[list[str | None]]:
    """What parts stand for, where that is settled; their values are not looked at."""
    ids = [desk.part_id(part) for part in parts]
    found = yield from desk.fetch(*dict.fromkeys(ids))
    return [str(desk.open(found[own])["value"]) if own in found else None for own in ids]


def amend(desk: Desk, id: str, parts: dict[str, str]) -> Program[Entry | None]:
    """More parts for an identity's surrogate; those it has stay. None where it is gone."""
    yield from desk.fetch()
    while True:
        roots = yield from followed({id})
        if not roots:
            return None
        (doc,) = roots
        body = desk.open(doc)
        whole = {**parts, **body["surrogate"]}
        if whole == body["surrogate"]:
            return desk.identity(doc)
        yield Swap(((doc, {"body": desk.seal(doc.id, {**body, "surrogate": whole})}),))


def remember(desk: Desk, originals: Sequence[tuple[str, str, str]]) -> Program[None]:
    """Keep (domain, scope, form) of originals, of whatever scope of the domain they are."""
    yield from desk.fetch()
    yield Create(tuple(desk.original(*one) for one in originals))


def originals(desk: Desk, asked: Sequence[tuple[str, str]]) -> Program[list[bool]]:
    """Whether (domain, form) is an original anywhere in the domain."""
    ids = [desk.original_id(*one) for one in asked]
    found = yield from desk.fetch(*dict.fromkeys(ids))
    return [own in found for own in ids]


def _free(reservation: str, owner: str) -> Generator[Op, Any, None]:
    found: dict[str, Doc] = yield Get((reservation,))
    if reservation in found and found[reservation].into == owner:
        yield Delete((found[reservation],))
