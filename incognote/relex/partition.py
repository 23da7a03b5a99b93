"""Between a partition and the index: which identity there each identity here is, and which must be served anew."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from incognote.errors import AccountingError
from incognote.relex.cluster.grouping import group_of
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.nouns import IdentityPlace, IndexedIdentity
from incognote.relex.index.repairs import MERGED, SPLIT
from incognote.relex.memory import key_of, scopes
from incognote.relex.nouns import Group, Identity, MentionVariant

INDEXED: frozenset[Group] = frozenset(("PERSON", "PLACE", "ORG", "CONTACT", "ID", "OCCUPATION"))
"""Groups whose identities the index keeps. Days, ages and words of family rest on parts alone."""

Found = Mapping[MentionVariant, Mapping[str, IndexedIdentity]]
"""Of each mention, by scope, the identity that its key leads to."""


async def led(
    index: SurrogateIndex, variants: Sequence[MentionVariant]
) -> dict[MentionVariant, dict[str, IndexedIdentity]]:
    """Where the exact keys of mentions lead."""
    asked = [(one, scope) for one in variants if group_of(one.type) in INDEXED for scope in scopes(one)]
    told = await index.bearers([(IdentityPlace(v.domain, scope, group_of(v.type)), key_of(v)) for v, scope in asked])
    found: dict[MentionVariant, dict[str, IndexedIdentity]] = {one: {} for one in variants}
    for (one, scope), entry in zip(asked, told, strict=True):
        if entry is not None:
            found[one][scope] = entry
    return found


def latest(found: Mapping[str, IndexedIdentity]) -> IndexedIdentity:
    """The identity of a mention by what was last known: who turned out to be staff stays so."""
    return found[min(found)]


def earlier(variants: Iterable[MentionVariant], found: Found) -> list[Identity]:
    """Identities given before; a mention that nobody claimed yet is one by itself."""
    together: dict[tuple[str, str], list[MentionVariant]] = defaultdict(list)
    for one in variants:
        entry = latest(found[one]) if found[one] else None
        together[(entry.id, entry.place.scope) if entry else (f"open {key_of(one)}", one.owner)].append(one)
    return [
        Identity(name, group_of(own[0].type), own[0].domain, scope, tuple(sorted(own)))
        for (name, scope), own in sorted(together.items())
    ]


def check(identities: Sequence[Identity], variants: set[MentionVariant], name: str) -> None:
    """Every mention in exactly one identity, and no two of one id.

    Raises:
        AccountingError: the clusterer did otherwise.
    """
    shared = Counter(one for identity in identities for one in identity.variants)
    if shared.keys() != variants or any(count > 1 for count in shared.values()):
        raise AccountingError(f"{name}: a clusterer puts each mention into exactly one identity")
    if len({one.id for one in identities}) < len(identities):
        raise AccountingError(f"{name}: two identities bear one id")


def divided(identity: Identity, found: Found) -> list[Identity]:
    """The identity, without what a person split off."""
    off: dict[str, list[MentionVariant]] = defaultdict(list)
    for one in identity.variants:
        entry = found[one].get(identity.scope)
        off[entry.id if entry is not None and entry.hand == SPLIT else ""].append(one)
    if len(off) == 1:
        return [identity]
    return [
        replace(identity, id=f"{identity.id} {name}".strip(), variants=tuple(own)) for name, own in sorted(off.items())
    ]


def chosen(identities: Sequence[Identity], found: Found) -> dict[str, IndexedIdentity]:
    """Identity's id -> the one of the index that most of its mentions lead to; of equals the oldest.

    One of the index serves one identity, the one with more of its mentions, unless a person united several.
    """
    votes = Counter((n, entry.id) for n, one in enumerate(identities) for entry in _leads(one, found))
    entries = {entry.id: entry for one in identities for entry in _leads(one, found)}

    def rank(vote: tuple[int, str]) -> tuple[int, int, str, tuple[MentionVariant, ...]]:
        n, name = vote
        return -votes[vote], entries[name].created, name, identities[n].variants

    got: dict[int, IndexedIdentity] = {}
    given: set[str] = set()
    for n, name in sorted(votes, key=rank):
        if n not in got and (name not in given or entries[name].hand == MERGED):
            got[n] = entries[name]
            given.add(name)
    return {identities[n].id: entry for n, entry in got.items()}


def touched(
    identity: Identity, own: frozenset[MentionVariant], found: Found, entries: Mapping[str, IndexedIdentity]
) -> bool:
    """Whether it must be served: a mention of the batch is among it, or it is not as the index has it."""
    if any(one in own for one in identity.variants):
        return True
    if identity.group not in INDEXED:
        return False
    entry = entries.get(identity.id)
    return any(found[one] and found[one].get(identity.scope) != entry for one in identity.variants)


def _leads(identity: Identity, found: Found) -> list[IndexedIdentity]:
    return [entry for one in identity.variants if (entry := found[one].get(identity.scope)) is not None]
