"""The group of a type, the scope of its surrogates, grouping of mentions by a key, and identities' ids."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar, cast

from incognote.languages import language
from incognote.relex.names.parsed import parse_user
from incognote.relex.names.reading import parse
from incognote.relex.nouns import Group, Identity, MentionVariant
from incognote.schemas.catalogue import catalogue
from incognote.text.lexicon import fold


@cache
def cluster_data(name: str) -> dict[str, Any]:
    """A data file of the language's `clusters` folder, parsed."""
    return language().table("clusters", name)


@cache
def group_of(type: str) -> Group:
    """The group of an entity type, by its nearest listed ancestor; OTHER if none is listed."""
    listed = {name: group for group, names in cluster_data("groups.toml")["groups"].items() for name in names}
    return cast(Group, next((listed[step] for step in catalogue().lineage_or_self(type) if step in listed), "OTHER"))


@cache
def shared(type: str) -> bool:
    """Return True if identities of the type belong to the domain, not to one patient."""
    types = cluster_data("groups.toml")["domain"]["types"]
    return any(step in types for step in catalogue().lineage_or_self(type))


def scope_of(variant: MentionVariant) -> str:
    """The scope of a variant's identity, by its type only: "" is the whole domain."""
    return "" if shared(variant.type) else variant.owner


Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")


def by_key(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Group variants or mentions by a key."""
    groups: dict[Key, list[Item]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return groups


def attached(
    forms: Mapping[Key, Sequence[MentionVariant]], hosts: Callable[[Key], Iterable[Key]]
) -> list[tuple[Key, list[MentionVariant]]]:
    """Each form with the weaker forms that can mean only this one; a function of the set of variants.

    A form without `hosts` (fuller forms that it may stand for) is separate. If it has several, the variants of one
    record join the only host in that record, or else the only host of their owner. If several remain, they stay
    separate. A host that may itself stand for another host of the form does not count.

    Args:
        forms: normal form → its variants.
        hosts: the forms that a form may stand for, without itself; never a cycle.
    """
    named = {form: {h for h in hosts(form) if h in forms} for form in forms}
    fuller = {form: sorted((h for h in found if not named[h] & found), key=repr) for form, found in named.items()}
    records = {form: {(v.owner, v.record) for v in found} for form, found in forms.items()}
    owners = {form: {v.owner for v in found} for form, found in forms.items()}
    home: dict[Key, list[MentionVariant]] = {form: [] for form in forms}
    for form, found in forms.items():
        for variant in found:
            home[_host(form, variant, fuller, records, owners)].append(variant)
    return [(form, found) for form, found in home.items() if found]


def _host(
    form: Key,
    variant: MentionVariant,
    fuller: Mapping[Key, Sequence[Key]],
    records: Mapping[Key, set[tuple[str, str]]],
    owners: Mapping[Key, set[str]],
) -> Key:
    """The fullest form that the variant stands for."""
    while candidates := fuller[form]:
        near = [h for h in candidates if (variant.owner, variant.record) in records[h]]
        near = near or [h for h in candidates if variant.owner in owners[h]] or list(candidates)
        if len(near) != 1:
            return form
        form = near[0]
    return form


_TYPES = ("EMAIL", "USERNAME")


def front_of(words: str) -> str:
    """The part of an e-mail address before "@", or a user name, which may have an "@" before it (a handle)."""
    return words.removeprefix("@").split("@")[0]


def bearer(account: Identity, people: Sequence[Identity]) -> str:
    """The id of the only person whose name the account contains, by most letters; "" for none or several.

    Persons in the account's own scope have priority over the staff of the domain. If an initial and a surname fit a
    father and a son alike, the account is the patient's.
    """
    if account.attributes["type"] not in _TYPES:
        return ""
    front = front_of(account.variants[0].words)
    for scope in dict.fromkeys((account.scope, "")):
        near = [one for one in people if one.domain == account.domain and one.scope == scope]
        shown = {one.id: found for one in near if (found := _shown(front, one))}
        best = [one for one, found in shown.items() if found == max(shown.values())]
        patients = [one for one in near if one.id in best and one.attributes.get("type") == "PATIENT"]
        patient = max(patients, key=lambda one: (len(one.variants), one.id), default=None)  # others are namesakes
        best = [patient.id] if patient is not None and _has_given(front, near, patient.id) else best
        if len(best) == 1:
            return best[0]
        if best:
            return ""
    return ""


def _has_given(front: str, people: Sequence[Identity], id: str) -> bool:
    """Return True if an account shows the given name or its initial, not only the surname that a family shares."""
    names = [parse(v.words, v.hints.title) for one in people if one.id == id for v in one.variants]
    parsed = parse_user(front, names)
    return parsed is not None and bool(parsed.of("given", "nick"))


def _shown(front: str, person: Identity) -> int:
    """The number of letters of the person's names in the account.

    Letters of whole parts count twice as much as initials.
    """
    names = [parse(words, title) for words, title in sorted({(v.words, v.hints.title) for v in person.variants})]
    parsed = parse_user(front, names)
    if parsed is None:
        return 0
    return sum(2 if piece.style == "plain" else 1 for piece in parsed.pieces if piece.role != "gap" for _ in piece.text)


def named(parts: Sequence[str]) -> str:
    """The id of an identity for use within a process: a hash of its place and normal form.

    It has no key, so never export it.
    """
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def kept(identities: Sequence[Identity], before: Mapping[MentionVariant, str]) -> list[Identity]:
    """Reassign earlier ids to the identities that share most variants with their holders.

    No other identity gets one of them.
    """
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
        while at not in ids and fresh in taken:  # a split-off part with the mention that named its former whole
            fresh = named((one.group, one.domain, one.scope, one.attributes["normal"], fresh))
        ids.setdefault(at, fresh)
    return [replace(one, id=ids[at]) for at, one in enumerate(identities)]


def tied(identities: Sequence[Identity]) -> list[Identity]:
    """Link accounts and addresses to the person and to the institution whose names they contain."""
    people = [one for one in identities if one.group == "PERSON"]
    houses = [one for one in identities if one.group == "ORG"]
    out: list[Identity] = []
    for one in identities:
        owners = {"person": bearer(one, people), "institution": host_of(one, houses)} if one.group == "CONTACT" else {}
        links = {name: owner for name, owner in owners.items() if owner}
        out.append(replace(one, attributes={**one.attributes, **links}) if links else one)
    return out


_HOSTED = ("EMAIL", "URL")
_HOST = re.compile(r"(?:@|://|www\.|\A)((?:[\w-]+\.)+)\w+(?:[/?#]|\Z)")
_SHORTEST = 5  # letters of a name that a host may contain


def host_of(account: Identity, houses: Sequence[Identity]) -> str:
    """The id of the only institution whose name the host of an address contains, by most letters; "" for none."""
    match = _HOST.search(account.variants[0].words) if account.attributes["type"] in _HOSTED else None
    if match is None:
        return ""
    label = re.sub(r"[^a-z0-9.]", "", fold(match.group(1)))
    shown: dict[str, int] = {}
    for one in houses:
        if one.domain == account.domain:
            words = [re.findall(r"[a-z0-9]+", re.sub(r"['’]s\b", "s", fold(v.words))) for v in one.variants]
            starts = {"".join(name[:end]) for name in words for end in range(1, len(name) + 1)}
            shown[one.id] = max((len(s) for s in starts if len(s) >= _SHORTEST and s in label), default=0)
    best = [house for house, letters in shown.items() if letters and letters == max(shown.values())]
    return best[0] if len(best) == 1 else ""
