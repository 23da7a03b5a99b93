"""What the index remembers besides identities: the mentions found, the parts drawn, and all originals.

Mentions are stored so that earlier decisions about persons can be reviewed when more is known. Parts (a surname, a
town) are stored so that concurrent draws give one surname one surrogate. Originals are stored so that no surrogate is
one.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import Any

from incognote.nouns import subject_form
from incognote.relex.index.claims import followed
from incognote.relex.index.docs import Create, Delete, Doc, Get, Op, Program, Swap, reserve, scan_all
from incognote.relex.index.nouns import IdentityPlace, IndexedIdentity, Sighting, SurrogatePart, SurrogateTaken
from incognote.relex.index.sealing import Sealer

_BLOCKS = 500  # blocks per search


def note(sealer: Sealer, sightings: Sequence[Sighting]) -> Program[None]:
    """Remember mentions. They replace earlier ones of the same record in the same block."""
    wanted = {sealer.mention_id(one): one for one in sightings}
    found = yield from sealer.fetch(*wanted)
    fresh = [sealer.mention(own, one) for own, one in wanted.items() if own not in found]
    made = yield Create(tuple(fresh))
    changed = [doc for doc in found.values() if sealer.open(doc)["said"] != list(wanted[doc.id].said)]
    swapped = yield Swap(tuple((doc, {"body": sealer.mention(doc.id, wanted[doc.id]).body}) for doc in changed))
    again = [wanted[doc.id] for doc, done in zip([*fresh, *changed], [*made, *swapped], strict=True) if not done]
    if again:  # another caller writes the same record
        yield from note(sealer, again)


def noted(sealer: Sealer, domain: str, blocks: Iterable[str]) -> Program[list[Sighting]]:
    """All mentions in these blocks."""
    yield from sealer.fetch()
    some = sorted({sealer.block_id(domain, block) for block in blocks})
    sightings: list[Sighting] = []
    for start in range(0, len(some), _BLOCKS):
        docs = yield from scan_all({"kind": "mention", "into": tuple(some[start : start + _BLOCKS])})
        for doc in docs:
            body = sealer.open(doc)
            said = tuple(body["said"])
            sightings.append(Sighting(doc.domain, body["scope"], body["shelf"], body["record"], said, doc.group))
    return sightings


def blocks(sealer: Sealer, domain: str, scope: str, group: str) -> Program[tuple[str, ...]]:
    """The blocks in which a scope has mentions of a group."""
    yield from sealer.fetch()
    where = {"domain": domain, "scope": sealer.scope_id(domain, scope), "kind": "mention", "group": group}
    docs = yield from scan_all(where)
    return tuple(sorted({sealer.open(doc)["shelf"] for doc in docs}))


def drop(sealer: Sealer, domain: str, block: str) -> Program[int]:
    """Delete all mentions in a block -> how many."""
    yield from sealer.fetch()
    docs = yield from scan_all({"kind": "mention", "into": sealer.block_id(domain, block)})
    deleted: int = yield Delete(tuple(docs))
    return deleted


def bearers(sealer: Sealer, asked: Sequence[tuple[IdentityPlace, str]]) -> Program[list[IndexedIdentity | None]]:
    """The identity that each key leads to."""
    keys = [sealer.key_id(place, variant) for place, variant in asked]
    found = yield from sealer.fetch(*dict.fromkeys(keys))
    roots: dict[str, IndexedIdentity] = {}
    for into in sorted({doc.into for doc in found.values()}):
        for doc in (yield from followed({into})):
            if doc.state == "active":
                roots[into] = sealer.identity(doc)
    return [roots.get(found[key].into) if key in found else None for key in keys]


def move(sealer: Sealer, place: IdentityPlace, variants: Iterable[str], to: str) -> Program[None]:
    """Redirect keys to an identity, no matter where they led."""
    keys = {sealer.key_id(place, variant): subject_form(variant) for variant in variants}
    (owner,) = yield from followed({to})
    while keys:
        found = yield from sealer.fetch(*keys)
        yield Create(tuple(sealer.key(key, keys[key], owner, place.scope) for key in keys if key not in found))
        elsewhere = tuple(doc for doc in found.values() if doc.into != owner.id)
        yield Swap(tuple((doc, {"into": owner.id}) for doc in elsewhere))
        found = yield Get(tuple(keys))
        keys = {key: word for key, word in keys.items() if key not in found or found[key].into != owner.id}


def hold(sealer: Sealer, part: SurrogatePart) -> Program[str | SurrogateTaken]:
    """The value of a part: an earlier one, or else this value from now on. The first writer wins.

    Two parts of one family in a scope never have the same value.
    """
    own = sealer.part_id(part)
    found = yield from sealer.fetch(own)
    if own in found:
        return str(sealer.open(found[own])["value"])
    reservation = sealer.reserved(part, own)
    reserved, taken = yield from reserve(reservation)
    if taken:
        return SurrogateTaken()
    (made,) = yield Create((sealer.part(own, part),))
    if made:
        return part.value
    found = yield Get((own,))
    if own not in found:  # it was forgotten in the meantime
        return part.value
    value = str(sealer.open(found[own])["value"])
    if value != part.value and reserved:
        yield from _free(reservation.id, own)
    return value


def held(sealer: Sealer, parts: Sequence[SurrogatePart]) -> Program[list[str | None]]:
    """The values of parts that have one. The `value` of each argument is ignored."""
    ids = [sealer.part_id(part) for part in parts]
    found = yield from sealer.fetch(*dict.fromkeys(ids))
    return [str(sealer.open(found[own])["value"]) if own in found else None for own in ids]


def amend(sealer: Sealer, id: str, parts: dict[str, str]) -> Program[IndexedIdentity | None]:
    """Add parts to an identity's surrogate; existing parts stay. None if the identity is gone."""
    yield from sealer.fetch()
    while True:
        roots = yield from followed({id})
        if not roots:
            return None
        (doc,) = roots
        body = sealer.open(doc)
        whole = {**parts, **body["surrogate"]}
        if whole == body["surrogate"]:
            return sealer.identity(doc)
        yield Swap(((doc, {"body": sealer.seal(doc.id, {**body, "surrogate": whole})}),))


def remember(sealer: Sealer, originals: Sequence[tuple[str, str, str]]) -> Program[None]:
    """Store (domain, scope, form) of originals, from any scope of the domain."""
    yield from sealer.fetch()
    yield Create(tuple(sealer.original(*one) for one in originals))


def originals(sealer: Sealer, asked: Sequence[tuple[str, str]]) -> Program[list[bool]]:
    """Whether (domain, form) is an original anywhere in the domain."""
    ids = [sealer.original_id(*one) for one in asked]
    found = yield from sealer.fetch(*dict.fromkeys(ids))
    return [own in found for own in ids]


def _free(reservation: str, owner: str) -> Generator[Op, Any, None]:
    found: dict[str, Doc] = yield Get((reservation,))
    if reservation in found and found[reservation].into == owner:
        yield Delete((found[reservation],))
