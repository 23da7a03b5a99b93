"""Choose among the people that a weak mention may mean."""

from __future__ import annotations

from collections.abc import Sequence

from incognote.relex.cluster.kinship import kin_alike
from incognote.relex.cluster.mentions import GROWN, PersonCluster, PersonMention, record_of
from incognote.relex.cluster.strangers import facts
from incognote.relex.names.likeness import NEWBORN

SPOUSES = frozenset("wife husband spouse partner widow widower esposa esposo".split())
PARENTS = frozenset("parent mother mom mum mommy madre mama maman father dad daddy padre papa".split())
SINGLE_KIN = frozenset("wife husband spouse mother father son daughter brother sister child baby twin".split())


def akin(mention: PersonMention, found: Sequence[PersonCluster]) -> list[PersonCluster]:
    """Narrow down by the mention's suffix, then kinship word, then field of work.

    For a title with a surname, then prefer the patient's spouse, a parent, and anyone who is not a child. A criterion
    that no candidate meets is skipped.
    """
    marked = [c for c in found if mention.suffix in c.suffixes] or list(found)
    marked = [c for c in marked if any(kin_alike(mention.kin, m.kin) for m in c.members)] or marked
    if mention.variant.hints.work:
        marked = (
            [c for c in marked if mention.variant.hints.work in c.works] or [c for c in marked if not c.works] or marked
        )
    if len(marked) < 2 or mention.title not in GROWN or mention.variant.type == "CLINICIAN":
        return marked
    for role in (SPOUSES, PARENTS):
        if having := [c for c in marked if any(m.kin in role for m in c.members)]:
            return having
    grown = [c for c in marked if "grandchild" not in c.sides] or marked
    return [c for c in grown if "child" not in c.sides] or grown


def believed(mention: PersonMention, found: list[PersonCluster]) -> list[PersonCluster]:
    """Narrow down for a guessed type.

    A namesake, a newborn, and a given name in another patient's records are left out, because a wrong join puts false
    facts on a person. Then PATIENT means the patient, and RELATIVE means somebody else if the record names one.
    """
    found = [c for c in found if _open(mention, c)]
    if mention.title in GROWN:
        found = [c for c in found if not _is_minor(c)]
    subject = [c for c in found if "self" in c.sides]
    if mention.leaning == "patient" and not mention.kin:
        return subject or found
    if len(found) > 1 and subject and mention.title in GROWN and not mention.kin:
        return []  # Ms. Okafor may be the patient or her mother
    if mention.leaning != "relative" or len(found) < 2:
        return found
    near = [c for c in found if record_of(mention) in c.records] or found
    others = [c for c in near if c not in subject]
    return others or ([] if len(found) > len(near) else near)


def _open(mention: PersonMention, cluster: PersonCluster) -> bool:
    """Return True unless the person is a namesake, a newborn or, for a lone given name, of another chart."""
    if all(m.variant.hints.another for m in cluster.members):
        return False
    if mention.title in GROWN and not mention.kin and cluster.sides & {"child", "grandchild"}:
        return any(m.titled and not m.side for m in cluster.members)
    if any(name.given.startswith(NEWBORN) for m in cluster.members for name in m.names[:1]):
        if mention.title in GROWN or _surnames(mention) & {s for m in cluster.members for s in m.names[0].surname}:
            return False  # a newborn is called by the mother's surname
        return "self" in cluster.sides or not mention.names[0].surname
    called = mention.kind == "single" and not mention.titled and not mention.names[0].surname
    return not called or mention.variant.owner in cluster.owners


def _is_minor(cluster: PersonCluster) -> bool:
    """Return True if every age beside the person's name is a child's."""
    ages = [int(age) for m in cluster.members if (age := facts(m.variant.hints.facts).get("age"))]
    return bool(ages) and max(ages) < _ADULT


_ADULT = 15


def _surnames(mention: PersonMention) -> set[str]:
    return {surname for name in mention.names for surname in name.surname}


def choice(mention: PersonMention, near: Sequence[PersonCluster]) -> PersonCluster | None:
    """The only candidate that shares the mention's degrees, or else its type, unless only a detector says staff."""
    typed = not (mention.guessed and mention.leaning == "staff")
    alike = (
        [c for c in near if any(mention.grades & grades for grades in c.grades)],
        [c for c in near if typed and any(m.variant.type == mention.variant.type for m in c.members)],
    )
    return next((kept[0] for kept in alike if len(kept) == 1), None)
