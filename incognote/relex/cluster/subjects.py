"""The patient among the people of one chart, when a detector chose the types.

A detector may call a spouse, a donor, or a namesake PATIENT. So the patient is the person whom field labels and most
records name. A person with another name is somebody else, whatever the type says.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from incognote.relex.cluster.mentions import PersonCluster, PersonMention, record_of
from incognote.relex.names.likeness import SAME, ComparedName, one_person, same_given, same_surname

_LABELLED, _AGAINST = 4, 2
"""Weights, in records: a field label names the patient, and a kinship word names somebody else."""


def selves(mentions: Sequence[PersonMention]) -> list[PersonMention]:
    """The mentions, with the patient marked as "self" and annotated relatives as "kin".

    A whole name that a label gives to the patient is the patient's wherever the type says so too.
    """
    labelled = {m.names for m in mentions if m.role == "patient" and m.kind == "whole"}
    return [replace(m, side=side) if (side := _side(m, labelled)) != m.side else m for m in mentions]


def _side(mention: PersonMention, labelled: Collection[tuple[ComparedName, ...]]) -> str:
    if mention.guessed and not mention.side and mention.leaning == "patient" and mention.kind == "whole":
        said = mention.role or mention.kin or mention.variant.hints.another
        same = not said and any(one_person(mention.names, names) >= SAME for names in labelled)
        return "self" if same else ""
    if mention.guessed or mention.role not in ("patient", "relative"):
        return mention.side
    return "self" if mention.role == "patient" else mention.side or "kin"


def centered(clusters: list[PersonCluster], weak: Sequence[PersonMention]) -> PersonCluster | None:
    """Find the patient among persons with whole names, and join to it what the text calls the patient.

    Args:
        clusters: persons with whole names. The patient is moved to the front. It absorbs the others that are the
            patient under another name.
        weak: mentions without a whole name. Those that the text calls the patient are added to it.

    Returns:
        The patient; None if neither a label nor a type names one.
    """
    called = [m for m in weak if m.role == "patient"]
    subject = max(clusters, key=_rank, default=None)
    if subject is None or _score(subject) <= 0:
        if not called:
            return None
        subject = PersonCluster([])
    others = [c for c in clusters if c is not subject]
    absorbed = [c for c in others if _same(subject, c)]
    for cluster in absorbed:
        subject.add(cluster.members)
    subject.add(m for m in called if subject.admits(m))
    subject.sides = {"self"}
    clusters[:] = [subject, *(c for c in others if c not in absorbed)]
    return subject


def _rank(cluster: PersonCluster) -> tuple[int, int, int]:
    return _score(cluster), len(cluster.records), len(cluster.members)


def _score(cluster: PersonCluster) -> int:
    """The weight of the records that call a person the patient."""
    annotated = any(m.role == "patient" and not m.guessed for m in cluster.members)
    labelled = {record_of(m) for m in cluster.members if m.role == "patient"}
    typed = {record_of(m) for m in cluster.members if m.leaning == "patient" and not m.role}
    against = {record_of(m) for m in cluster.members if m.role not in ("", "patient")}
    return 1000 * annotated + _LABELLED * len(labelled) + len(typed) - _AGAINST * len(against)


def _same(subject: PersonCluster, other: PersonCluster) -> bool:
    """Return True if another whole name is the patient's: annotated, labelled, or typed with the same given name."""
    if not all(subject.admits(m) for m in other.members) or any(m.role not in ("", "patient") for m in other.members):
        return False
    mine, theirs = _names(subject), _names(other)
    given = any(same_given(a, b) for a in mine for b in theirs)
    if any(m.role == "patient" and not m.guessed for m in other.members):
        return True
    if any(m.role == "patient" for m in other.members):
        named = {record_of(m) for m in subject.members if m.role == "patient"}
        return given or not other.records & named
    typed = sum(m.leaning == "patient" for m in other.members)
    surname = any(same_surname(a, b) for a in mine for b in theirs)
    return given and not surname and 2 * typed > len(other.members)


def _names(cluster: PersonCluster) -> list[ComparedName]:
    return [m.names[0] for m in cluster.faces.values()]
