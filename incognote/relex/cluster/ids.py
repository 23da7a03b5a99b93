"""The ids of identities: made, kept when given before; and who owns an account."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from incognote.relex.names.parsed import parse_user
from incognote.relex.names.reading import parse
from incognote.relex.nouns import Identity, MentionVariant

_TYPES = ("EMAIL", "USERNAME")


def bearer(account: Identity, people: Sequence[Identity]) -> str:
    """The id of the only person whose name the account holds, most letters of it; "" for none or several.

    Persons of the account's own scope go before the staff of the domain.
    """
    if account.attributes["type"] not in _TYPES:
        return ""
    front = account.variants[0].words.split("@")[0]
    for scope in dict.fromkeys((account.scope, "")):
        near = [one for one in people if one.domain == account.domain and one.scope == scope]
        shown = {one.id: found for one in near if (found := _shown(front, one))}
        best = [one for one, found in shown.items() if found == max(shown.values())]
        if len(best) == 1:
            return best[0]
        if best:
            return ""
    return ""


def _shown(front: str, person: Identity) -> int:
    """How many letters of the person's names stand in the account, whole parts counting before initials."""
    names = [parse(words, title) for words, title in sorted({(v.words, v.hints.title) for v in person.variants})]
    found = parse_user(front, names)
    if found is None:
        return 0
    return sum(2 if piece.style == "plain" else 1 for piece in found.pieces if piece.role != "gap" for _ in piece.text)


def named(parts: Sequence[str]) -> str:
    """The id of an identity for use within a process: a hash of its place and normal form. Not to leave it: no key."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def kept(identities: Sequence[Identity], before: Mapping[MentionVariant, str]) -> list[Identity]:
    """Ids given before, kept by those who share most variants with their bearers; nobody else gets one of them."""
    shares = [
        (-shared, old, at)
        for at, identity in enumerate(identities)
        for old, shared in Counter(before[v] for v in identity.variants if v in before).items()
    ]
    ids: dict[int, str] = {}
    taken = set(before.values())
    used: set[str] = set()
    for _, old, at in sorted(shares):
        if at not in ids and old not in used:
            ids[at] = old
            used.add(old)
    for at, one in enumerate(identities):
        fresh = one.id
        while at not in ids and fresh in taken:  # a part split off that holds the mention its former whole was named by
            fresh = named((one.group, one.domain, one.scope, one.attributes["normal"], fresh))
        ids.setdefault(at, fresh)
    return [replace(one, id=ids[at]) for at, one in enumerate(identities)]


def tied(identities: Sequence[Identity]) -> list[Identity]:
    """E-mails and user names with the person whose name they hold, as `person`."""
    people = [one for one in identities if one.group == "PERSON"]
    return [
        replace(one, attributes={**one.attributes, "person": owner})
        if one.group == "CONTACT" and (owner := bearer(one, people))
        else one
        for one in identities
    ]
