"""Match a partition to the index: find each identity's entry there, and which identities must be served again."""

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

INDEXED: frozenset[Group] = frozenset(("PERSON", "PLACE", "ORG", "CONTACT", "ID"))
"""Groups whose identities the index stores. Dates, ages, occupations and kinship words need parts only."""

Found = Mapping[MentionVariant, Mapping[str, IndexedIdentity]]
"""For each mention, by scope: the index entry that its key leads to."""


async def led(
    index: SurrogateIndex, variants: Sequence[MentionVariant]
) -> dict[MentionVariant, dict[str, IndexedIdentity]]:
    """Look up the exact keys of mentions."""
    asked = [(one, scope) for one in variants if group_of(one.type) in INDEXED for scope in scopes(one)]
    entries = await index.bearers([(IdentityPlace(v.domain, scope, group_of(v.type)), key_of(v)) for v, scope in asked])
    found: dict[MentionVariant, dict[str, IndexedIdentity]] = {one: {} for one in variants}
    for (one, scope), entry in zip(asked, entries, strict=True):
        if entry is not None:
            found[one][scope] = entry
    return found


def latest(found: Mapping[str, IndexedIdentity]) -> IndexedIdentity:
    """The entry of a mention as last known. A person who was recognized as staff remains staff."""
    return found[min(found)]


def earlier(variants: Iterable[MentionVariant], found: Found) -> list[Identity]:
    """The identities given earlier. A mention that no identity claimed yet is an identity of its own."""
    together: dict[tuple[str, str], list[MentionVariant]] = defaultdict(list)
    for one in variants:
        entry = latest(found[one]) if found[one] else None
        together[(entry.id, entry.place.scope) if entry else (f"open {key_of(one)}", one.owner)].append(one)
    return [
        Identity(name, group_of(own[0].type), own[0].domain, scope, tuple(sorted(own)))
        for (name, scope), own in sorted(together.items())
    ]


def check(identities: Sequence[Identity], variants: set[MentionVariant], name: str) -> None:
    """Check that every mention is in exactly one identity and that ids are unique.

    Raises:
        AccountingError: the clusterer did otherwise.
    """
    shared = Counter(one for identity in identities for one in identity.variants)
    if shared.keys() != variants or any(count > 1 for count in shared.values()):
        raise AccountingError(f"{name}: the clusterer must put each mention into exactly one identity")
    if len({one.id for one in identities}) < len(identities):
        raise AccountingError(f"{name}: the clusterer gave two identities the same id")


def divided(identity: Identity, found: Found) -> list[Identity]:
    """The identity, separated from the mentions that a person split off."""
    parts: dict[str, list[MentionVariant]] = defaultdict(list)
    for one in identity.variants:
        entry = found[one].get(identity.scope)
        parts[entry.id if entry is not None and entry.hand == SPLIT else ""].append(one)
    if len(parts) == 1:
        return [identity]
    return [
        replace(identity, id=f"{identity.id} {name}".strip(), variants=tuple(own))
        for name, own in sorted(parts.items())
    ]


def chosen(identities: Sequence[Identity], found: Found) -> dict[str, IndexedIdentity]:
    """Map each identity's id to the entry that most of its mentions lead to; the oldest wins a tie.

    An entry serves one identity, the one with the most of its mentions, unless a person merged several.
    """
    votes = Counter((n, entry.id) for n, one in enumerate(identities) for entry in _leads(one, found))
    entries = {entry.id: entry for one in identities for entry in _leads(one, found)}

    def rank(vote: tuple[int, str]) -> tuple[int, int, str, tuple[MentionVariant, ...]]:
        n, name = vote
        return -votes[vote], entries[name].created, name, identities[n].variants

    picked: dict[int, IndexedIdentity] = {}
    given: set[str] = set()
    for n, name in sorted(votes, key=rank):
        if n not in picked and (name not in given or entries[name].hand == MERGED):
            picked[n] = entries[name]
            given.add(name)
    return {identities[n].id: entry for n, entry in picked.items()}


def touched(
    identity: Identity, own: frozenset[MentionVariant], found: Found, entries: Mapping[str, IndexedIdentity]
) -> bool:
    """Return True if the identity must be served: it has a mention of the batch, or it differs from the index.

    The dates and ages of the batch's patients are always served, because the index stores no surrogate of them.
    """
    if any(one in own for one in identity.variants):
        return True
    if identity.group not in INDEXED:
        return any(one.domain == identity.domain and one.owner == identity.scope for one in own)
    entry = entries.get(identity.id)
    return any(found[one] and found[one].get(identity.scope) != entry for one in identity.variants)


def _leads(identity: Identity, found: Found) -> list[IndexedIdentity]:
    return [entry for one in identity.variants if (entry := found[one].get(identity.scope)) is not None]
