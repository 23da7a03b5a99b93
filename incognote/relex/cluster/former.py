"""Former names and other names of a person, made one with those of today."""

from __future__ import annotations

from collections.abc import Sequence

from incognote.relex.cluster.mentions import Mention, fits_given
from incognote.relex.cluster.person import Cluster, named_before
from incognote.relex.names.likeness import same_given

_NEAR = 60  # characters between a name and the name of birth that follows it


def names_of_birth(mentions: Sequence[Mention]) -> dict[Mention, Mention]:
    """Mentions said to be a former name, and the mention of the same person right before, where one stands there."""
    found: dict[Mention, Mention] = {}
    for mention in mentions:
        if not mention.variant.hints.maiden:
            continue
        before = [
            other
            for other in named_before(mention, mentions, _NEAR)
            if not (mention.gender and other.gender and mention.gender != other.gender)
            and (mention.kind != "whole" or _one_given(mention, other))
        ]
        if before:
            found[mention] = before[-1]
    return found


def married(clusters: Sequence[Cluster], born: dict[Mention, Mention]) -> dict[Mention, Mention]:
    """Whole names of birth, each with a whole name of the same person: the one it follows, else the only one of that
    given name in the owner's records."""
    found: dict[Mention, Mention] = {}
    for mention in sorted({m for c in clusters for m in c.members if m.variant.hints.maiden}, key=lambda m: m.variant):
        if mention in born and born[mention].kind == "whole":
            found[mention] = born[mention]
            continue
        others = [
            c
            for c in clusters
            if mention.variant.owner in c.owners
            and mention not in c.members
            and c.admits(mention)
            and any(_one_given(mention, face) for face in c.faces.values())
        ]
        if len(others) == 1:
            found[mention] = others[0].members[0]
    return found


def _one_given(a: Mention, b: Mention) -> bool:
    """Their given names agree: in the likeliest readings, or to the letter in another of the first (Nguyen Kim Ly may
    be Kim-Ly, of the family Nguyen)."""
    if b.kind == "single":
        return fits_given(b, a, "loose")
    mine, other = a.names[0], b.names[0]
    return same_given(mine, other) or any(other.joined in (x.given, x.joined) for x in a.names if len(other.joined) > 3)


def wed(clusters: list[Cluster], born: dict[Mention, Mention], doubted: bool = False) -> list[Cluster]:
    """Clusters of a person and of that person's name of birth made one; of an alias only where nothing speaks against
    it (`doubted`)."""
    home = {id(m): cluster for cluster in clusters for m in cluster.members}
    for mention, other in sorted(born.items(), key=lambda pair: (pair[0].variant, pair[1].variant)):
        target = home.get(id(other))
        source = home.get(id(mention))
        if target is None or target is source:
            if target is None and source is None:
                clusters.append(Cluster([mention]))
                home[id(mention)] = clusters[-1]
            continue
        moved = source.members if source else [mention]
        if doubted and not all(target.admits(m) for m in moved):
            continue
        target.add(moved)
        home.update({id(m): target for m in moved})
        if source is not None:
            clusters.remove(source)
    return clusters
