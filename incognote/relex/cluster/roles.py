"""Who is meant by a role that one person alone can have: a patient has one wife, one mother, one twin.

What names leave apart is united here: Mrs. Ruiz and his wife Carmen; wife Lucha and wife María; Baby Boy B and the twin
Asante. Only what no name has placed is moved, and only where a single person has the role.
"""

from __future__ import annotations

from collections.abc import Sequence

from incognote.relex.cluster.attaching import GROWN, PARENTS, SPOUSES
from incognote.relex.cluster.mentions import Mention
from incognote.relex.cluster.person import Cluster

_FATHER = frozenset("father dad daddy padre papa".split())
_MOTHER = PARENTS - _FATHER - {"parent"}
_ROLES = (SPOUSES, _MOTHER, _FATHER)
_TWIN = frozenset(("twin",))
_SIBLING = frozenset(("twin", "brother", "sister", "sibling"))
_CHILDHOOD = "*baby"


def by_role(clusters: Sequence[Cluster], subject: Cluster) -> list[Cluster]:
    """The clusters of one patient's records, those united whom one role tells to be one; the patient's own first."""
    others = [cluster for cluster in clusters if cluster is not subject]
    for ways in (_newborns, _nicknames, _spoken_to):
        for lost, found in ways(others, subject):
            if lost in others and found in others:
                found.add(lost.members)
                others.remove(lost)
    return [subject, *others]


def _newborns(others: Sequence[Cluster], subject: Cluster) -> list[tuple[Cluster, Cluster]]:
    """A twin before it was named, with the twin that has a name."""
    unnamed = [c for c in others if _kin(c, _SIBLING) and all(_nameless(m) for m in c.members)]
    named = [c for c in others if _kin(c, _TWIN) and not any(_nameless(m) for m in c.members)]
    return [(unnamed[0], named[0])] if len(unnamed) == len(named) == 1 and _agree(unnamed[0], named[0]) else []


def _nicknames(others: Sequence[Cluster], subject: Cluster) -> list[tuple[Cluster, Cluster]]:
    """A wife called by one given name, with the wife known by another."""
    found: list[tuple[Cluster, Cluster]] = []
    for role in _ROLES:
        having = [c for c in others if _kin(c, role)]
        if any(_kin(c, other) for c in having for other in _ROLES if other is not role):
            continue  # the patient's wife is a mother too, to her children
        lone = [c for c in having if all(m.kind == "single" and not m.titled for m in c.members)]
        if len(having) == 2 and lone and _agree(*having):
            lost = lone[0]
            found.append((lost, next(c for c in having if c is not lost)))
    return found


def _spoken_to(others: Sequence[Cluster], subject: Cluster) -> list[tuple[Cluster, Cluster]]:
    """Mrs. Ruiz, where the patient is a Ruiz and nobody else is called so: the spouse, else a parent."""
    families = {s for m in subject.members for name in m.names[:1] for s in name.surname if len(s) > 1}
    found: list[tuple[Cluster, Cluster]] = []
    for lost in others:
        if not all(m.kind == "single" and m.title in GROWN and _family(m) & families for m in lost.members):
            continue
        for role in (SPOUSES, PARENTS):
            having = [c for c in others if c is not lost and _kin(c, role) and _agree(c, lost)]
            if having:
                found.extend((lost, c) for c in having if len(having) == 1)
                break
    return found


def _kin(cluster: Cluster, role: frozenset[str]) -> bool:
    return any(m.kin in role for m in cluster.members)


def _agree(a: Cluster, b: Cluster) -> bool:
    return all(b.admits(m) for m in a.members)


def _family(mention: Mention) -> set[str]:
    return {s for name in mention.names for s in name.surname}


def _nameless(mention: Mention) -> bool:
    return any(name.given.startswith(_CHILDHOOD) for name in mention.names)
