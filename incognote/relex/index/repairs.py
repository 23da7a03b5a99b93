"""Repairs by a person, or after new information: merge two identities, split one, forget a patient."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace
from typing import Any

from incognote.errors import UsageError
from incognote.relex.index.claims import followed, settled
from incognote.relex.index.docs import Create, Delete, Doc, Op, Program, Scan, Swap, reserve, scan_all
from incognote.relex.index.nouns import IndexedIdentity, Repair, SurrogateProposal, SurrogateTaken
from incognote.relex.index.sealing import Sealer

MERGED, SPLIT = "united", "apart"
"""Marks on identities that a person or a deciding model merged, or that a person split. No clusterer undoes either."""
FORGETTING = ("identity", "key", "reservation", "usage", "mention", "part", "original")
"""Identities first, so that no claim depends on a partly deleted one."""


def use(sealer: Sealer, uses: Iterable[tuple[str, str]]) -> Program[None]:
    """Note which outputs show which identities' surrogates.

    Raises:
        UsageError: there is no identity with one of the ids.
    """
    pairs = list(dict.fromkeys(uses))
    found = yield from sealer.fetch(*dict.fromkeys(one for one, _ in pairs))
    if any(one not in found for one, _ in pairs):
        raise UsageError("there is no identity with that id")
    yield Create(tuple(sealer.usage(found[one], output) for one, output in pairs))


def merge(sealer: Sealer, ids: Iterable[str]) -> Program[Repair]:
    """Merge several identities into one. The oldest stays, no matter who calls this and how often.

    Raises:
        UsageError: fewer than two ids, an unknown id, or identities of different domains, scopes or groups.
    """
    wanted = tuple(dict.fromkeys(ids))
    found = yield from sealer.fetch(*wanted)
    if len(wanted) < 2 or len(found) < len(wanted):
        raise UsageError("a merge needs the ids of at least two identities")
    if len({(doc.domain, doc.scope, doc.group) for doc in found.values()}) > 1:
        raise UsageError("identities of different domains, scopes or groups cannot be merged")
    while True:
        roots = yield from settled(wanted, sealer)
        if len(roots) == 1:
            break
        yield Swap(tuple((doc, {"state": "merged", "into": roots[0].id}) for doc in roots[1:]))
    root = yield from _by_hand(sealer, roots[0].id, MERGED)
    gone = tuple(sorted({*wanted} - {root.id}))
    outputs = yield from _outputs(sealer, gone)
    return Repair(sealer.identity(root), gone, outputs)


def unite(sealer: Sealer, id: str) -> Program[IndexedIdentity]:
    """Mark an identity as several in one, as a merge does."""
    yield from sealer.fetch()
    return sealer.identity((yield from _by_hand(sealer, id, MERGED)))


def split(sealer: Sealer, id: str, proposal: SurrogateProposal) -> Program[Repair | SurrogateTaken]:
    """Give some variants of an identity to another with a surrogate of its own.

    If it was interrupted, call it again to finish.

    Raises:
        UsageError: there is no such identity, it is in another place, or a variant belongs to another identity.
    """
    variants = sealer.variants(proposal)
    new = sealer.identity_id(variants, apart_from=id)
    place = proposal.place
    found = yield from sealer.fetch(*variants, id, new)
    old = found.pop(id, None)
    made = found.pop(new, None)
    if old is None or (old.domain, old.scope, old.group) != (
        place.domain,
        sealer.scope_id(place.domain, place.scope),
        place.group,
    ):
        raise UsageError("there is no identity with that id in that domain, scope and group")
    home = {doc.id for doc in (yield from followed({id}))}
    led = {doc.id for doc in (yield from followed({key.into for key in found.values()} - {new}))}
    if len(found) < len(variants) or not led <= home:
        raise UsageError("variants: each must belong to that identity")
    if made is None:
        reservation = sealer.reservation(place.domain, place.scope, proposal.whole, new)
        _, taken = yield from reserve(reservation)
        if taken:
            return SurrogateTaken()
        doc = sealer.proposed(new, proposal, {})
        body = sealer.open(doc) | {"hand": SPLIT}
        yield Create((replace(doc, **sealer.active(new, body)),))
    yield Swap(tuple((key, {"into": new}) for key in found.values() if key.into != new))
    (stands,) = yield from followed({new})
    outputs = yield from _outputs(sealer, (id,))
    return Repair(sealer.identity(stands), (), outputs)


def _by_hand(sealer: Sealer, id: str, what: str) -> Generator[Op, Any, Doc]:
    """Mark an identity with what a person did to it."""
    while True:
        (doc,) = yield from followed({id})
        body = sealer.open(doc)
        if body.get("hand") == what:
            return doc
        yield Swap(((doc, {"body": sealer.seal(doc.id, {**body, "hand": what})}),))


def forget(sealer: Sealer, domain: str, scope: str, kind: str) -> Program[tuple[int, bool]]:
    """Delete a page of documents of one kind in a scope -> how many, and whether it was the last page."""
    yield from sealer.fetch()
    page = yield Scan({"domain": domain, "scope": sealer.scope_id(domain, scope), "kind": kind})
    deleted: int = yield Delete(tuple(page.docs))
    return deleted, not page.docs


def of_scope(sealer: Sealer, domain: str, scope: str) -> Program[tuple[int, tuple[str, ...]]]:
    """The number of documents in a scope, and the surrogates of its identities."""
    yield from sealer.fetch()
    docs = yield from scan_all({"domain": domain, "scope": sealer.scope_id(domain, scope)})
    return len(docs), tuple(sealer.identity(doc).whole for doc in docs if doc.kind == "identity")


def _outputs(sealer: Sealer, ids: tuple[str, ...]) -> Generator[Op, Any, tuple[str, ...]]:
    docs = yield from scan_all({"kind": "usage", "into": ids})
    return tuple(sorted({sealer.open(doc)["output"] for doc in docs}))
