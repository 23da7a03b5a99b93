"""Short names in a chart that mean one of its staff: "Hi Brenda" in a chart with Brenda Kohl, RN.

Such a name follows a person of the staff but changes nothing about who is staff. So the staff of a domain do not
depend on the short names in each chart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from incognote.relex.cluster.attaching import Fits, meant, partly_ways, single_ways
from incognote.relex.cluster.mentions import PersonCluster, PersonMention, is_staff, is_unsure_staff, lone_suffix

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
