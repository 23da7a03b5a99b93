"""Names that a chart decides about, because only a detector says who they are.

A short name can mean one of the chart's staff: "Hi Brenda" in a chart with Brenda Kohl, RN. It follows that person but
changes nothing about who is staff. A fuller name typed as staff can be the patient's or a relative's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from incognote.relex.cluster.attaching import Fits, meant, partly_ways, single_ways
from incognote.relex.cluster.grouping import by_key
from incognote.relex.cluster.hints import at_odds
from incognote.relex.cluster.mentions import (
    PersonCluster,
    PersonMention,
    fits_partly,
    is_staff,
    is_unsure_staff,
    lone_suffix,
)
from incognote.relex.cluster.strangers import facts
from incognote.relex.names.likeness import SAME, one_person

REASON = "clinician"


def follow(households: Mapping[str, Sequence[PersonCluster]], staff: Sequence[PersonCluster]) -> set[int]:
    """Add the short names that mean staff to the clusters of the staff.

    Args:
        households: patient → the persons in that patient's records.
        staff: the persons of the domain's staff, without any of these mentions. They get the mentions.

    Returns:
        The `id` of each household cluster that has moved.
    """
    beside: dict[str, list[PersonCluster]] = defaultdict(list)
    for cluster in staff:
        for owner in sorted(cluster.owners):
            beside[owner].append(cluster)
    moves = [
        (cluster, target)
        for owner, clusters in households.items()
        for cluster in clusters
        if all(map(may_follow, cluster.members))
        and (target := _target(owner, cluster, [c for c in clusters if c is not cluster], beside[owner], staff))
    ]
    for cluster, target in moves:
        target.absorb(cluster, REASON)
    return {id(cluster) for cluster, _ in moves}


def may_follow(mention: PersonMention) -> bool:
    """Return True for a short name if nothing but a guessed type says who the person is."""
    said = mention.kin or mention.role or mention.side or mention.suffix or lone_suffix(mention)
    hints = mention.variant.hints
    return mention.guessed and mention.kind in ("single", "partly") and not (said or hints.another or hints.maiden)


def is_typed_staff(mention: PersonMention) -> bool:
    """Return True for a fuller name that only a detector calls staff."""
    typed = mention.guessed and mention.leaning == "staff" and not mention.role and not mention.grades
    return typed and mention.kind in ("whole", "partly") and is_staff(mention)


def is_staff_kin(mention: PersonMention) -> bool:
    """Return True for a relative who works in health care: daughter Dr. Hye-Jin Park."""
    return mention.guessed and mention.role == "relative" and bool(mention.grades) and mention.kind != "lettered"


def is_labeled_patient(mention: PersonMention) -> bool:
    """Return True for a whole name that the text gives to the patient."""
    return mention.guessed and mention.role == "patient" and mention.kind == "whole"


def is_known_patient(mention: PersonMention) -> bool:
    """Return True for a whole name that a label, or a birth date or record number after it, gives to the patient."""
    known = {"born", "number"} & facts(mention.variant.hints.facts).keys()
    identified = known and mention.leaning == "patient" and not (mention.role or mention.kin)
    return mention.guessed and mention.kind == "whole" and (mention.role == "patient" or bool(identified))


def is_said_staff(mention: PersonMention) -> bool:
    """Return True for a name of which the text says, after a detector, that it is a member of staff."""
    return mention.guessed and mention.role == "staff" and mention.kind != "lettered" and is_staff(mention)


def of_chart(mentions: Sequence[PersonMention]) -> list[PersonMention]:
    """The names of staff that their chart gives to the patient or a relative.

    These are the names of relatives who are staff as well, and the patient's name with a degree if a detector calls it
    the patient. The others are fuller names that only a detector calls staff. Then the text must say that the person is
    the patient or a relative, or at least as many mentions must be typed so. Nobody of the staff who are named in the
    chart may have the name.
    """
    found: list[PersonMention] = []
    kin, patients = (list(filter(kind, mentions)) for kind in (is_staff_kin, is_labeled_patient))
    for mention in filter(is_said_staff, mentions) if kin or patients else ():
        own = [m for m in kin if _is_kin(mention, m)]
        by_degree = mention.leaning == "patient" and bool(mention.grades) and not mention.titled
        own += [m for m in patients if by_degree and _is_named(mention, m)]
        if any(m.variant.owner == mention.variant.owner for m in own) and not mention.variant.hints.another:
            found.append(mention)
    for mention in filter(is_typed_staff, mentions):
        own = [m for m in mentions if m.variant.owner == mention.variant.owner and m.kind == "whole"]
        named = [m for m in own if _is_named(mention, m)]
        typed = [m for m in named if is_typed_staff(m)]
        theirs = [m for m in named if m.guessed and m.leaning in ("patient", "relative") and not is_staff(m)]
        hired = any(is_staff(m) and not is_typed_staff(m) for m in named)
        said = any(m.role or m.kin for m in theirs)
        if theirs and not hired and (said or len(theirs) >= len(typed)):
            found.append(mention)
    return found


def namesakes(staff: Sequence[PersonMention], mentions: Sequence[PersonMention]) -> dict[str, list[PersonMention]]:
    """By chart, the names of staff who have the patient's whole name there.

    They stay other persons, but within the chart they get the patient's surrogate name. Otherwise an alert such as
    "staff nurse Ana Ruiz, RN is a different person" would show a name that no patient has.

    Args:
        staff: the names of staff.
        mentions: all names.
    """
    patients = by_key(filter(is_known_patient, mentions), lambda m: m.variant.owner)
    named: dict[str, list[PersonMention]] = {}
    for owner, own in by_key(staff, lambda m: m.variant.owner).items() if patients else ():
        whole = [m for m in own if m.kind == "whole"]
        shared = [m for m in filter(is_said_staff, whole) if any(_is_named(m, p) for p in patients.get(owner, ()))]
        others = [m for m in whole if m not in shared]
        short = [
            m
            for m in own
            if is_said_staff(m) and m.kind != "whole"
            if any(_is_kin(m, one) for one in shared) and not any(_is_kin(m, other) for other in others)
        ]
        if shared:
            named[owner] = [*shared, *short]
    return named


def _is_kin(mention: PersonMention, kin: PersonMention) -> bool:
    """Return True for Dr. Park or Hye-Jin Park, MD, in the chart of a patient whose daughter is Dr. Hye-Jin Park."""
    if at_odds((kin.grades,), mention.grades):
        return False
    if mention.kind == "single":
        return mention.titled and bool(_surnames(mention) & _surnames(kin))
    return _is_named(mention, kin)


def _is_named(mention: PersonMention, other: PersonMention) -> bool:
    if other.variant.hints.another:
        return False
    if mention.kind == "partly":
        shared = _surnames(mention) & _surnames(other)
        return bool(shared) and fits_partly(mention, other, "none")
    return one_person(mention.names[:1], other.names[:1]) >= SAME  # Hassan Abdi is no Abdi Hassan


def _surnames(mention: PersonMention) -> set[str]:
    return {word for name in mention.names for word in name.surname if len(word) > 1}


def _target(
    owner: str,
    cluster: PersonCluster,
    others: Sequence[PersonCluster],
    beside: Sequence[PersonCluster],
    staff: Sequence[PersonCluster],
) -> PersonCluster | None:
    """The only person of the chart's staff with this name, or else of the domain's if the type says staff."""
    first = cluster.members[0]
    ways = partly_ways(first) if first.kind == "partly" else single_ways(first)
    if any(_fits(ways, first, m) for other in others for m in other.faces.values()):
        return None
    near = [c for c in beside if c.admits(first) and any(_fits(ways, first, m) for m in _sure(c, owner))]
    if near:
        return near[0] if len(near) == 1 else None
    return meant(first, staff) if all(is_unsure_staff(m) for m in cluster.members) else None


def _sure(cluster: PersonCluster, owner: str) -> list[PersonMention]:
    return [m for m in cluster.members if m.variant.owner == owner and is_staff(m)]


def _fits(ways: Sequence[Fits], weak: PersonMention, other: PersonMention) -> bool:
    return any(fits(weak, other, "none") for fits in ways)
