"""Persons of one domain: the staff, and for each patient the patient and those around."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from incognote.relex.cluster.gathering import gather
from incognote.relex.cluster.mentions import Mention, read
from incognote.relex.cluster.person import Cluster
from incognote.relex.cluster.roles import by_role
from incognote.relex.names.components import fit
from incognote.relex.names.guess import gender, locale
from incognote.relex.names.likeness import Name, one_person, whole
from incognote.relex.names.parsed import Parsed, fullest
from incognote.relex.nouns import Identity, Variant
from incognote.schemas.catalogue import catalogue

_EQUAL = 0.9
"""From this likeness on, names of mentions of different types are the same name."""


def persons(variants: Sequence[Variant]) -> list[tuple[str, list[Variant]]]:
    """(scope, variants) of every person; a function of the set of variants.

    A PERSON with a doctor's title, with degrees, or with the whole name of a clinician of the domain is a clinician;
    with the patient's whole name, the patient. All mentions of PATIENT in one patient's records are the patient.
    """
    mentions = [read(variant) for variant in sorted(set(variants))]
    staff = [m for m in mentions if _of_the_staff(m)]
    known = _whole_names(staff)
    owned: dict[str, list[Mention]] = defaultdict(list)
    for mention in mentions:
        if _of_the_staff(mention):
            continue
        owned[mention.variant.owner].append(mention)
    found: list[tuple[str, list[Variant]]] = []
    joining: list[Mention] = []
    for owner, own in sorted(owned.items()):
        clusters, strangers = _household(own, known)
        joining.extend(strangers)
        found.extend((owner, _variants(cluster)) for cluster in clusters)
    staff = sorted([*staff, *joining], key=lambda m: m.variant)
    found.extend(("", _variants(cluster)) for cluster in gather(staff, staff=True))
    return found


def _household(
    own: Sequence[Mention], staff: Mapping[str, Sequence[tuple[Name, ...]]]
) -> tuple[list[Cluster], list[Mention]]:
    """The persons of one patient's records, and the mentions that are clinicians' by their whole names."""
    patient = [m for m in own if _is(m, "PATIENT")]
    names = [m.names for m in patient if m.kind == "whole"]
    others: list[Mention] = []
    strangers: list[Mention] = []
    for mention in own:
        if mention in patient:
            continue
        named = mention.kind == "whole" and not _is(mention, "RELATIVE") and not mention.variant.hints.another
        if named and not mention.kin and _called(mention, names):
            patient.append(mention)
        elif named and _called(mention, _near(mention, staff)):
            strangers.append(mention)
        else:
            others.append(mention)
    if not patient:
        return gather(others), strangers
    subject = Cluster(sorted(patient, key=lambda m: m.variant))
    called = {name.given for m in patient for name in m.names[:1] if len(name.given) > 1}
    relatives = [_of_the_father(m, called) for m in others if _is(m, "RELATIVE")]
    loose = [m for m in others if not _is(m, "RELATIVE")]
    return _around(subject, relatives, loose), strangers


def _of_the_father(mention: Mention, called: set[str]) -> Mention:
    """A relative with the patient's given name for a family name, as many peoples call a child by its father's, is a
    child of the patient."""
    if mention.kin or mention.side or mention.kind != "whole" or not called & set(mention.names[0].surname):
        return mention
    return replace(mention, kin="child", side="child")


def _around(subject: Cluster, relatives: Sequence[Mention], loose: Sequence[Mention]) -> list[Cluster]:
    """Relatives among themselves; a PERSON may be the patient too, a relative never is by a weak name."""
    weak = [m for m in loose if m.kind != "whole"]
    firm = [m for m in loose if m.kind == "whole"]
    theirs = gather(sorted([*relatives, *firm], key=lambda m: m.variant))
    found = gather(weak, [subject, *theirs]) if weak else [subject, *theirs]
    return by_role(found, subject)


def _called(mention: Mention, names: Sequence[tuple[Name, ...]]) -> bool:
    return any(one_person(mention.names, other) >= _EQUAL for other in names)


def _whole_names(mentions: Sequence[Mention]) -> dict[str, list[tuple[Name, ...]]]:
    """Whole names by each of their surnames."""
    found: dict[str, list[tuple[Name, ...]]] = defaultdict(list)
    for names in dict.fromkeys(m.names for m in mentions if m.kind == "whole"):
        for surname in {s for name in names if whole(name) for s in name.surname}:
            found[surname].append(names)
    return found


def _near(mention: Mention, table: Mapping[str, Sequence[tuple[Name, ...]]]) -> list[tuple[Name, ...]]:
    return [names for name in mention.names for s in name.surname for names in table.get(s, ())]


def _of_the_staff(mention: Mention) -> bool:
    return _is(mention, "CLINICIAN") or (mention.variant.type == "PERSON" and bool(mention.grades))


def _is(mention: Mention, type: str) -> bool:
    return mention.variant.type in catalogue() and type in catalogue().lineage(mention.variant.type)


def _variants(cluster: Cluster) -> list[Variant]:
    return sorted(m.variant for m in cluster.members)


def described(variants: Sequence[Variant]) -> dict[str, str]:
    """What is known of a person: type, name (the fullest way of writing), gender, locale, kin, where anything tells."""
    mentions = [read(variant) for variant in variants]
    name = fullest(m.parsed for m in mentions)
    assert name is not None
    known = {"name": name.words, "type": _commonest(v.type for v in variants)}
    hints = [word for v in variants for word in (v.hints.title, v.hints.kin) if word]
    guess = next((g.value for g in (gender(name, hints), gender(name)) if g.value != "unknown"), "")
    if guess:
        known["gender"] = guess
    if (home := locale(name).value) != "unknown":
        known["locale"] = home
    if kin := [v.hints.kin for v in variants if v.hints.kin]:
        known["kin"] = _commonest(kin)
    return known


def _commonest(words: Iterable[str]) -> str:
    """The word that stands most often; the first by the alphabet among equals."""
    counts = Counter(words)
    return min(counts, key=lambda word: (-counts[word], word))


def written(identity: Identity) -> dict[Variant, Parsed]:
    """The mentions of a person, each read as the fuller names tell (Hoa of Nguyen Thi Hoa is a given name)."""
    mentions = [read(variant) for variant in identity.variants]
    fuller = [m.parsed for m in mentions if m.kind == "whole"]
    return {m.variant: fit(m.variant.words, fuller, m.variant.hints.title) for m in mentions}
