"""The patient among the people of one chart, when a detector chose the types.

A detector may call a spouse, a donor, or a namesake PATIENT. So the patient is the person whom field labels and most
records name. A person with another name is somebody else, whatever the type says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from incognote.relex.cluster.mentions import PersonCluster, PersonMention, named_before, record_of
from incognote.relex.cluster.strangers import contradict, differs, facts
from incognote.relex.names.likeness import NEWBORN, SAME, ComparedName, one_person, same_given, same_surname

_LABELED, _AGAINST = 4, 2
"""Weights, in records: a field label names the patient, and a kinship word names somebody else."""


_Names = tuple[ComparedName, ...]


def selves(mentions: Sequence[PersonMention]) -> list[PersonMention]:
    """The mentions, with the patient marked as "self" and annotated relatives as "kin".

    A whole name that a label gives to the patient is the patient's wherever the type says so too.
    """
    labeled, known = _known(mentions)
    sided = [replace(m, side=side) if (side := _side(m, labeled, known)) != m.side else m for m in mentions]
    return _contradicted(sided)


def _known(mentions: Sequence[PersonMention]) -> tuple[set[_Names], set[_Names]]:
    """The whole names that labels give to the patient, and these with those that the most records type PATIENT."""
    labeled = {m.names for m in mentions if m.role == "patient" and m.kind == "whole"}
    presumed = _presumed(mentions)
    labeled = labeled or presumed
    return labeled, {names for names in presumed if any(one_person(names, label) for label in labeled)} | labeled


def _contradicted(mentions: Sequence[PersonMention]) -> list[PersonMention]:
    """Mark the names beside which a record gives another birth date, record number, or age than beside its first."""
    heads: dict[str, PersonMention] = {}
    for mention in sorted(mentions, key=lambda m: (m.role != "patient", m.variant.field, m.variant.start, m.variant)):
        if mention.kind == "whole" and mention.side == "self" and mention.variant.hints.facts:
            heads.setdefault(record_of(mention), mention)
    born = Counter(day for m in heads.values() if (day := facts(m.variant.hints.facts).get("born", "")))
    usual = min(born, key=lambda day: (-born[day], day), default="")

    def other(mention: PersonMention) -> bool:
        said = mention.variant.hints.facts
        if mention.role or not mention.guessed or mention.kind != "whole" or not said:
            return False
        head = heads.get(record_of(mention), mention)
        return contradict(head.variant.hints.facts, said) or differs(f"born={usual}", said)

    return [replace(m, side="kin") if other(m) else m for m in mentions]


_NEAR = 120  # characters between the name of a member of staff and a title with the same surname


def separated(mentions: Sequence[PersonMention]) -> list[PersonMention]:
    """Mark as "kin" each title with a surname right after a member of staff of that surname.

    In "Leticia Garza, LCSW. Ms. Garza agreed", Ms. Garza may be the patient or the social worker.
    """
    hired = [m for m in mentions if m.kind == "whole" and m.guessed]
    staff = {m for m in hired if m.role == "staff" or (m.role == "relative" and m.grades)}
    families = {s for m in staff for s in _family(m)}

    def doubtful(mention: PersonMention) -> bool:
        if not (mention.guessed and mention.kind == "single" and mention.titled and _family(mention) & families):
            return False
        if mention.role or mention.kin or mention.leaning == "staff":
            return False
        before = named_before(mention, [m for m in mentions if _family(m) & _family(mention)], _NEAR)
        return bool(before) and before[-1] in staff

    return [replace(m, side="kin") if doubtful(m) else m for m in mentions]


def _family(mention: PersonMention) -> set[str]:
    name = mention.names[0]
    return {word for word in name.surname or (name.given,) if len(word) > 1}


def _presumed(mentions: Sequence[PersonMention]) -> set[tuple[ComparedName, ...]]:
    """The whole name that the most records type PATIENT; none if two names tie."""
    named = {m.names: {m.names} for m in mentions if _unsaid(m)}
    records = {
        names: {record_of(m) for m in mentions if _unsaid(m) and one_person(m.names, names) >= SAME} for names in named
    }
    best = max(map(len, records.values()), default=0)
    leading = sorted(names for names, found in records.items() if len(found) == best)
    return set(leading) if all(one_person(leading[0], names) >= SAME for names in leading) else set()


def _unsaid(mention: PersonMention) -> bool:
    """Return True for a whole name of which only a guessed type says that it is the patient's."""
    return (
        (mention.guessed and mention.leaning == "patient" and mention.kind == "whole")
        and not (mention.role or mention.kin or mention.side)
        and not mention.variant.hints.another
    )


def _side(
    mention: PersonMention,
    labeled: Collection[tuple[ComparedName, ...]],
    known: Collection[tuple[ComparedName, ...]],
) -> str:
    named = [names[0] for names in labeled if one_person(mention.names, names)]
    plain = named and not any(name.suffix for name in named)
    if mention.guessed and mention.suffix and not mention.role and plain:
        return mention.side or "kin"  # the labels name a patient without a suffix, so this is a namesake
    if _unsaid(mention):
        return "self" if any(one_person(mention.names, names) >= SAME for names in known) else ""
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
        subject = PersonCluster([], "label")
    others = [c for c in clusters if c is not subject]
    heads: dict[str, int] = {}
    for mention in (*(m for c in clusters for m in c.members), *weak):
        heads[record_of(mention)] = min(mention.variant.start, heads.get(record_of(mention), mention.variant.start))
    absorbed = [(c, reason) for c in others if (reason := _same(subject, c) or _newborn(subject, c, heads))]
    for cluster, reason in absorbed:
        subject.absorb(cluster, reason)
    subject.add((m for m in called if subject.admits(m)), "label")
    subject.sides = {"self"}
    clusters[:] = [subject, *(c for c in others if all(c is not one for one, _ in absorbed))]
    return subject


def _rank(cluster: PersonCluster) -> tuple[int, int, int]:
    return _score(cluster), len(cluster.records), len(cluster.members)


def _score(cluster: PersonCluster) -> int:
    """The weight of the records that call a person the patient."""
    annotated = any(m.role == "patient" and not m.guessed for m in cluster.members)
    labeled = {record_of(m) for m in cluster.members if m.role == "patient"}
    typed = {record_of(m) for m in cluster.members if m.leaning == "patient" and not m.role}
    against = {record_of(m) for m in cluster.members if m.role not in ("", "patient")}
    return 1000 * annotated + _LABELED * len(labeled) + len(typed) - _AGAINST * len(against)


def _same(subject: PersonCluster, other: PersonCluster) -> str:
    """The reason why another whole name is the patient's: annotated, labeled, or typed with the same given name."""
    if not all(subject.admits(m) for m in other.members) or any(m.role not in ("", "patient") for m in other.members):
        return ""
    mine, theirs = _names(subject), _names(other)
    given = any(same_given(a, b) for a in mine for b in theirs)
    if any(m.role == "patient" and not m.guessed for m in other.members):
        return "annotated"
    if any(m.role == "patient" for m in other.members):
        named = {record_of(m) for m in subject.members if m.role == "patient"}
        return "label" if given or not other.records & named else ""
    typed = sum(m.leaning == "patient" for m in other.members)
    surname = any(same_surname(a, b) for a in mine for b in theirs)
    return "new surname" if given and not surname and 2 * typed > len(other.members) else ""


def _newborn(subject: PersonCluster, other: PersonCluster, heads: Mapping[str, int]) -> str:
    """The reason if the other is the patient before the name was given: a record begins with Baby Boy Xiong."""
    unnamed = all(name.given.startswith(NEWBORN) for m in other.members for name in m.names[:1])
    if not unnamed or (subject.genders and other.genders and subject.genders != other.genders):
        return ""
    own = {record_of(m) for m in other.members if m.leaning == "patient" and heads[record_of(m)] == m.variant.start}
    return "role" if own and not own & subject.records else ""


def _names(cluster: PersonCluster) -> list[ComparedName]:
    return [m.names[0] for m in cluster.faces.values()]
