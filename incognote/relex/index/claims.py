"""One surrogate for each identity, for any order and number of concurrent callers.

A claim consists of several documents, but only single documents are atomic everywhere. So a claim goes in steps that
any caller can continue, and hands nothing out before the last step:

1. Reserve the surrogate for the identity's id, which follows from its keys. Another identity's reservation refuses the
   draw.
2. Create the identity, pending, with everything that the claim needs. A second caller uses the first's.
3. Create the keys that point to it.
4. If every key does, the identity becomes active. If a key points to another identity, both are one. A pending identity
   is merged into an active one, and of two pending ones the greater id into the smaller. The merged one was never
   handed out, and its keys lead on to the other.

Any caller that meets a pending identity performs steps 3 and 4 itself. So a claimant that dies midway blocks no other.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import replace
from typing import Any

from incognote.errors import IndexBusy, UsageError
from incognote.nouns import subject_form
from incognote.relex.index.docs import Create, Delete, Doc, Get, Op, Program, Swap, reserve
from incognote.relex.index.nouns import (
    ClaimOutcome,
    Conflict,
    IdentityPlace,
    IndexedIdentity,
    SurrogateClaimed,
    SurrogateProposal,
    SurrogateTaken,
)
from incognote.relex.index.sealing import Sealer, rank

Step = Generator[Op, Any, None]
_ROUNDS = 100  # each round after the first reacts to a change by another caller


def claim(sealer: Sealer, proposal: SurrogateProposal) -> Program[ClaimOutcome]:
    """The identity under the proposal's keys, or the proposed one if there is none.

    Raises:
        IndexBusy: the scope is being forgotten, or forgetting it was interrupted.
    """
    variants = sealer.variants(proposal)
    own = sealer.identity_id(variants)
    place = proposal.place
    for _ in range(_ROUNDS):
        found = yield from sealer.fetch(*variants)
        owners = yield from settled({doc.into for doc in found.values()}, sealer)
        if not owners:
            reservation = sealer.reservation(place.domain, place.scope, proposal.whole, own)
            reserved, taken = yield from reserve(reservation)
            if taken:
                return SurrogateTaken()
            proposed = sealer.proposed(own, proposal, variants)
            (made,) = yield Create((proposed,))
            if not made and reserved:
                yield from _release(sealer, own, reservation.id)
            if made:  # the common case; it need not read what it wrote
                ended = yield from _carry_on(sealer, replace(proposed, version=made))
                if ended is not None:
                    return SurrogateClaimed(sealer.identity(ended), created=True)
            owners = yield from settled({own}, sealer)
        elif len(found) == len(variants) and {doc.into for doc in found.values()} == {owners[0].id}:
            return SurrogateClaimed(sealer.identity(owners[0]), created=False)
        outcome = yield from attach(sealer, owners, variants, place.scope)
        if outcome is not None:
            return outcome
    raise IndexBusy("this scope is being deleted. Wait, or finish it with `incognote index forget`")


def lookup(sealer: Sealer, place: IdentityPlace, variants: Iterable[str]) -> Program[tuple[IndexedIdentity, ...]]:
    """The identities under these variants, oldest first. More than one is what `claim` calls a conflict."""
    found = yield from sealer.fetch(*dict.fromkeys(sealer.key_id(place, variant) for variant in variants))
    roots = yield from followed({doc.into for doc in found.values()})
    return sealer.identities(doc for doc in roots if doc.state == "active")


def get(sealer: Sealer, ids: Iterable[str]) -> Program[dict[str, IndexedIdentity]]:
    """Identities by id. A merged one is returned as the identity it became."""
    wanted = tuple(dict.fromkeys(ids))
    yield from sealer.fetch()
    found: dict[str, IndexedIdentity] = {}
    for one in wanted:
        roots = yield from followed({one})
        if roots and roots[0].state == "active":
            found[one] = sealer.identity(roots[0])
    return found


def holder(sealer: Sealer, domain: str, scope: str, whole: str) -> Program[IndexedIdentity | None]:
    """The identity that has a surrogate."""
    found = yield from sealer.fetch(sealer.reservation_id(domain, scope, whole))
    roots = yield from followed({doc.into for doc in found.values()})
    return sealer.identity(roots[0]) if roots and roots[0].state == "active" else None


def extend(sealer: Sealer, id: str, variants: Iterable[str]) -> Program[SurrogateClaimed | Conflict]:
    """Add variants to an identity.

    Raises:
        UsageError: there is no identity with that id.
    """
    yield from sealer.fetch()
    owners = yield from settled({id}, sealer)
    if owners:
        place = sealer.identity(owners[0]).place
        wanted = {sealer.key_id(place, variant): subject_form(variant) for variant in variants}
        outcome = yield from attach(sealer, owners, wanted, place.scope)
        if outcome is not None:
            return outcome
    raise UsageError("there is no identity with that id")


def attach(
    sealer: Sealer, owners: Iterable[Doc], variants: Mapping[str, str], scope: str
) -> Generator[Op, Any, SurrogateClaimed | Conflict | None]:
    """Add variants to an active identity. Return a conflict if there are several owners, or another one has a variant.

    None if the owner was forgotten.
    """
    known = {doc.id: doc for doc in owners}
    while len(known) == 1:
        (owner,) = known.values()
        found = yield Get(tuple(variants))
        dead = yield from _dead(found.values())
        missing = tuple(sealer.key(key, variants[key], owner, scope) for key in variants if key not in found)
        made = yield Create(missing)
        yield Swap(tuple((doc, {"into": owner.id}) for doc in dead))
        if dead or not all(made):
            continue
        roots = yield from settled({doc.into for doc in found.values()} | {owner.id}, sealer)
        if [doc.id for doc in roots] == [owner.id]:
            return SurrogateClaimed(sealer.identity(owner), created=False)
        known = {doc.id: doc for doc in roots}
    return Conflict(sealer.identities(known.values())) if known else None


def settled(ids: Iterable[str], sealer: Sealer) -> Generator[Op, Any, list[Doc]]:
    """The active identities that these ids lead to, after every claim among them has ended; oldest first."""
    while True:
        roots = yield from followed(ids)
        pending = [doc for doc in roots if doc.state == "pending"]
        if not pending:
            return roots
        for doc in pending:
            yield from _carry_on(sealer, doc)


def followed(ids: Iterable[str]) -> Generator[Op, Any, list[Doc]]:
    """The identities that these ids lead to, following merged ones; oldest first."""
    roots: dict[str, Doc] = {}
    wanted = set(ids)
    while wanted:
        found = yield Get(tuple(sorted(wanted)))
        roots |= {doc.id: doc for doc in found.values() if doc.state != "merged"}
        wanted = {doc.into for doc in found.values() if doc.state == "merged"} - roots.keys()
    return sorted(roots.values(), key=rank)


def _carry_on(sealer: Sealer, doc: Doc) -> Generator[Op, Any, Doc | None]:
    """Perform steps 3 and 4 of a pending identity once, no matter who began it.

    Return the identity if this made it active; None if the result must be read again.
    """
    body = sealer.open(doc)
    keys = body["keys"]
    made = yield Create(tuple(sealer.key(key, variant, doc, body["scope"]) for key, variant in keys.items()))
    if not all(made):
        stand = tuple(key for key, new in zip(keys, made, strict=True) if not new)
        found = yield Get(stand)
        if len(found) < len(stand):
            return None  # it was forgotten in the meantime
        dead = yield from _dead(found.values())
        yield Swap(tuple((key, {"into": doc.id}) for key in dead))
        others = yield from followed({one.into for one in found.values()})
        others = [other for other in others if other.id != doc.id]
        active = [other for other in others if other.state == "active"]
        if active:
            yield from _give_way(sealer, doc, active[0].id)
            return None
        least = min([doc, *others], key=lambda one: one.id)
        for other in [doc, *others]:
            if other is not least:
                yield from _give_way(sealer, other, least.id)
        if others:
            return None
    fields = sealer.active(doc.id, body)
    (swapped,) = yield Swap(((doc, fields),))
    return replace(doc, **fields) if swapped else None


def _give_way(sealer: Sealer, doc: Doc, to: str) -> Step:
    """Merge a pending identity into another, and free its surrogate."""
    body = sealer.open(doc)
    (gave,) = yield Swap(((doc, {"state": "merged", "into": to, "body": sealer.ended(doc.id, body)}),))
    if gave:
        yield from _release(sealer, doc.id, sealer.reservation_id(doc.domain, body["scope"], body["whole"]))


def _release(sealer: Sealer, id: str, reservation: str) -> Step:
    """Free a surrogate that was reserved for an identity, unless the identity has it."""
    found = yield Get((id, reservation))
    if reservation not in found or found[reservation].into != id:
        return
    owner = found.get(id)
    if owner is not None and owner.state != "merged":
        body = sealer.open(owner)
        if sealer.reservation_id(owner.domain, body["scope"], body["whole"]) == reservation:
            return
    yield Delete((found[reservation],))


def _dead(keys: Iterable[Doc]) -> Generator[Op, Any, list[Doc]]:
    """The keys that lead nowhere because their identity was forgotten during a claim."""
    docs = list(keys)
    found = yield Get(tuple({doc.into for doc in docs}))
    return [doc for doc in docs if doc.into not in found]
