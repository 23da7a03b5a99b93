"""Persons of one domain: the staff, and for each patient the patient and the people around the patient."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from incognote.relex.cluster.choosing import PARENTS, SPOUSES
from incognote.relex.cluster.following import follow, namesakes, of_chart
from incognote.relex.cluster.gathering import gather
from incognote.relex.cluster.mentions import (
    GROWN,
    PersonCluster,
    PersonMention,
    is_staff,
    is_type,
    lone_suffix,
    may_be_staff,
    read,
)
from incognote.relex.cluster.subjects import centered, selves, separated
from incognote.relex.names.components import fit
from incognote.relex.names.guess import gender, locale
from incognote.relex.names.likeness import NEWBORN, SAME, ComparedName, one_person, whole
from incognote.relex.names.parsed import Parsed, fullest
from incognote.relex.nouns import Identity, Join, MentionVariant

_FATHER = frozenset("father dad daddy padre papa".split())
_MOTHER = PARENTS - _FATHER - {"parent"}
_ROLES = (SPOUSES, _MOTHER, _FATHER)
_TWIN = frozenset(("twin",))
_SIBLING = frozenset(("twin", "brother", "sister", "sibling"))


def by_role(clusters: Sequence[PersonCluster], subject: PersonCluster) -> list[PersonCluster]:
    """Join the clusters of one patient's records that a shared role shows to be one person.

    The patient's own comes first.
    """
    others = [cluster for cluster in clusters if cluster is not subject]
    for ways, reason in ((_newborns, "role"), (_nicknames, "role"), (_titled, "role"), (_suffixed, "suffix")):
        for lost, found in ways(others, subject):
            if lost in others and found in (subject, *others):
                found.absorb(lost, reason)
                others.remove(lost)
    return [subject, *others]


def _newborns(others: Sequence[PersonCluster], subject: PersonCluster) -> list[tuple[PersonCluster, PersonCluster]]:
    """Pair an unnamed newborn twin with the twin that has a name."""
    unnamed = [c for c in others if _kin(c, _SIBLING) and all(_nameless(m) for m in c.members)]
    named = [c for c in others if _kin(c, _TWIN) and not any(_nameless(m) for m in c.members)]
    return [(unnamed[0], named[0])] if len(unnamed) == len(named) == 1 and _agree(unnamed[0], named[0]) else []


def _nicknames(others: Sequence[PersonCluster], subject: PersonCluster) -> list[tuple[PersonCluster, PersonCluster]]:
    """Pair a wife mentioned by one given name with the wife known by another; the same for mother and father."""
    pairs: list[tuple[PersonCluster, PersonCluster]] = []
    for role in _ROLES:
        having = [c for c in others if _kin(c, role, "above")]
        if any(_kin(c, other) for c in having for other in _ROLES if other is not role):
            continue  # the patient's wife is also a mother, to her children
        lone = [c for c in having if all(m.kind == "single" and not m.titled for m in c.members)]
        if len(having) == 2 and lone and _agree(*having):
            lost = lone[0]
            pairs.append((lost, next(c for c in having if c is not lost)))
    return pairs


def _titled(others: Sequence[PersonCluster], subject: PersonCluster) -> list[tuple[PersonCluster, PersonCluster]]:
    """Pair Mrs. Ruiz with the spouse, or else a parent, if the patient is a Ruiz too and only one candidate exists."""
    families = {s for m in subject.members for name in m.names[:1] for s in name.surname if len(s) > 1}
    pairs: list[tuple[PersonCluster, PersonCluster]] = []
    for lost in others:
        if not all(m.kind == "single" and m.title in GROWN and _family(m) & families for m in lost.members):
            continue
        if any(m.guessed and (m.side == "kin" or m.variant.hints.another or subject.admits(m)) for m in lost.members):
            continue  # it may be the patient as well, or a member of staff
        for role in (SPOUSES, PARENTS):
            having = [c for c in others if c is not lost and _kin(c, role) and _agree(c, lost)]
            if having:
                pairs.extend((lost, c) for c in having if len(having) == 1)
                break
    return pairs


def _suffixed(others: Sequence[PersonCluster], subject: PersonCluster) -> list[tuple[PersonCluster, PersonCluster]]:
    """Pair a lone Junior with the only person called that, who may have no surname either: son Hector Jr."""
    pairs: list[tuple[PersonCluster, PersonCluster]] = []
    for lost in others:
        called = {lone_suffix(m) for m in lost.members}
        having = [c for c in (subject, *others) if c.suffixes & called and _agree(lost, c)]
        if "" not in called and len(called) == len(having) == 1:
            pairs.append((lost, having[0]))
    return pairs


def _kin(cluster: PersonCluster, role: frozenset[str], side: str = "") -> bool:
    return any(m.kin in role and side in ("", m.side) for m in cluster.members)


def _agree(a: PersonCluster, b: PersonCluster) -> bool:
    return all(b.admits(m) for m in a.members)


def _family(mention: PersonMention) -> set[str]:
    return {s for name in mention.names for s in name.surname}


def _nameless(mention: PersonMention) -> bool:
    return any(name.given.startswith(NEWBORN) for name in mention.names)


def persons(variants: Sequence[MentionVariant]) -> list[tuple[str, list[MentionVariant], tuple[Join, ...]]]:
    """(scope, variants, joins) of every person; a function of the set of variants.

    A PERSON with a doctor's title, with degrees, or with the whole name of a clinician of the domain is a clinician.
    One with the patient's whole name is the patient. All PATIENT mentions in one patient's records are the patient.
    A clinician with the patient's name is another person, but belongs to the patient's scope in these records.
    """
    mentions = separated([read(variant) for variant in sorted(set(variants))])
    kept = {m.variant for m in of_chart(mentions)}
    staff = [m for m in mentions if is_staff(m) and m.variant not in kept]
    shared = namesakes(staff, mentions)
    local = {m.variant for own in shared.values() for m in own}
    staff = [m for m in staff if m.variant not in local]
    known = _whole_names(staff)
    owned: dict[str, list[PersonMention]] = defaultdict(list)
    for mention in mentions:
        if not is_staff(mention) or mention.variant in kept:
            owned[mention.variant.owner].append(mention)
    households: dict[str, list[PersonCluster]] = {}
    joining: list[PersonMention] = []
    for owner, own in sorted(owned.items()):
        households[owner], strangers = _household(own, known)
        joining.extend(strangers)
    hired = gather(sorted([*staff, *joining], key=lambda m: m.variant), staff=True)
    moved = follow(households, hired)
    scoped = [(owner, c) for owner, clusters in households.items() for c in clusters if id(c) not in moved]
    scoped.extend((owner, c) for owner, own in shared.items() for c in gather(own, staff=True))
    scoped.extend(("", cluster) for cluster in hired)
    return [(scope, sorted(m.variant for m in c.members), tuple(sorted(c.joins))) for scope, c in scoped]


def _household(
    own: Sequence[PersonMention], staff: Mapping[str, Sequence[tuple[ComparedName, ...]]]
) -> tuple[list[PersonCluster], list[PersonMention]]:
    """The persons in one patient's records, and the mentions that are clinicians by their whole names."""
    if any(m.guessed for m in own):
        return _guessed(own, staff)
    patient = [m for m in own if is_type(m.variant, "PATIENT")]
    names = [m.names for m in patient if m.kind == "whole"]
    others: list[PersonMention] = []
    strangers: list[PersonMention] = []
    for mention in own:
        if mention in patient:
            continue
        named = (
            mention.kind == "whole" and not is_type(mention.variant, "RELATIVE") and not mention.variant.hints.another
        )
        if named and not mention.kin and _called(mention, names):
            patient.append(mention)
        elif named and not mention.kin and _called(mention, _near(mention, staff)):
            strangers.append(mention)
        else:
            others.append(mention)
    if not patient:
        return gather(others), strangers
    subject = PersonCluster(sorted(patient, key=lambda m: m.variant), "annotated")
    called = {name.given for m in patient for name in m.names[:1] if len(name.given) > 1}
    relatives = [_of_the_father(m, called) for m in others if is_type(m.variant, "RELATIVE")]
    loose = [m for m in others if not is_type(m.variant, "RELATIVE")]
    return _with_relatives(subject, relatives, loose), strangers


def _guessed(
    own: Sequence[PersonMention], staff: Mapping[str, Sequence[tuple[ComparedName, ...]]]
) -> tuple[list[PersonCluster], list[PersonMention]]:
    """The same for mentions whose types a detector chose."""
    subject: PersonCluster | None = None
    strangers: list[PersonMention] = []

    def settle(clusters: list[PersonCluster], weak: Sequence[PersonMention]) -> None:
        nonlocal subject
        subject = centered(clusters, weak)
        for cluster in [c for c in clusters if c is not subject]:
            if all(may_be_staff(m) and _called(m, _near(m, staff)) for m in cluster.members):
                strangers.extend(cluster.members)
                clusters.remove(cluster)

    clusters = gather(sorted(selves(own), key=lambda m: m.variant), settle=settle)
    return (clusters if subject is None else by_role(clusters, subject)), strangers


def _of_the_father(mention: PersonMention, called: set[str]) -> PersonMention:
    """Make a relative a child of the patient if the surname is the patient's given name.

    In many cultures, a child's second name is the father's given name.
    """
    if mention.kin or mention.side or mention.kind != "whole" or not called & set(mention.names[0].surname):
        return mention
    return replace(mention, kin="child", side="child")


def _with_relatives(
    subject: PersonCluster, relatives: Sequence[PersonMention], loose: Sequence[PersonMention]
) -> list[PersonCluster]:
    """Gather relatives together with whole names.

    A weak PERSON mention may also be the patient; a weak relative never is.
    """
    weak = [m for m in loose if m.kind != "whole"]
    firm = [m for m in loose if m.kind == "whole"]
    theirs = gather(sorted([*relatives, *firm], key=lambda m: m.variant))
    found = gather(weak, [subject, *theirs]) if weak else [subject, *theirs]
    return by_role(found, subject)


def _called(mention: PersonMention, names: Sequence[tuple[ComparedName, ...]]) -> bool:
    return any(one_person(mention.names, other) >= SAME for other in names)


def _whole_names(mentions: Sequence[PersonMention]) -> dict[str, list[tuple[ComparedName, ...]]]:
    """Whole names by each of their surnames."""
    by_surname: dict[str, list[tuple[ComparedName, ...]]] = defaultdict(list)
    for names in dict.fromkeys(m.names for m in mentions if m.kind == "whole"):
        for surname in {s for name in names if whole(name) for s in name.surname}:
            by_surname[surname].append(names)
    return by_surname


def _near(
    mention: PersonMention, table: Mapping[str, Sequence[tuple[ComparedName, ...]]]
) -> list[tuple[ComparedName, ...]]:
    return [names for name in mention.names for s in name.surname for names in table.get(s, ())]


def described(variants: Sequence[MentionVariant]) -> dict[str, str]:
    """What is known of a person: type, name (the fullest form), gender, locale and kin, if anything says it."""
    mentions = [read(variant) for variant in variants]
    name = fullest(m.parsed for m in mentions)
    assert name is not None
    known = {"name": name.words, "type": commonest(v.type for v in variants)}
    hints = [word for v in variants for word in (v.hints.title, v.hints.kin) if word]
    guess = next((g.value for g in (gender(name, hints), gender(name)) if g.value != "unknown"), "")
    if guess:
        known["gender"] = guess
    if (home := locale(name).value) != "unknown":
        known["locale"] = home
    if kin := [v.hints.kin for v in variants if v.hints.kin]:
        known["kin"] = commonest(kin)
    return known


def commonest(words: Iterable[str]) -> str:
    """The most frequent word; the alphabetically first one wins a tie."""
    counts = Counter(words)
    return min(counts, key=lambda word: (-counts[word], word))


def written(identity: Identity) -> dict[MentionVariant, Parsed]:
    """The mentions of a person, each read to agree with the fuller names (in Nguyen Thi Hoa, Hoa is a given name)."""
    mentions = [read(variant) for variant in identity.variants]
    fuller = [m.parsed for m in mentions if m.kind == "whole"]
    return {m.variant: fit(m.variant.words, fuller, m.variant.hints.title) for m in mentions}
