"""Short names that mean nobody with a fuller name: they are grouped by their words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from incognote.relex.cluster.mentions import PersonCluster, PersonMention, fits_given
from incognote.relex.names.likeness import mistaken, related
from incognote.relex.names.parsed import roots

Words = tuple[str, ...]
"""What leftover mentions of one person share: patient, gender, suffix, and the words."""


def ungendered(alone: Mapping[Words, list[PersonMention]]) -> dict[Words, list[PersonMention]]:
    """The groups, with each group of unknown gender in the only group of the same words with a known one."""
    groups = {words: list(found) for words, found in alone.items()}
    for words, found in alone.items():
        others = [(words[0], gender, *words[2:]) for gender in ("female", "male")]
        known = [other for other in others if other in alone]
        if not words[1] and len(known) == 1:
            groups[known[0]].extend(found)
            del groups[words]
    return groups


def by_side(mentions: Sequence[PersonMention]) -> list[list[PersonMention]]:
    """Split mentions of one word by generation."""
    sides = sorted({m.side for m in mentions})
    if len(set(sides) - {""}) < 2:
        return [list(mentions)]
    return [[m for m in mentions if m.side == side] for side in sides]


def shortened(clusters: Sequence[PersonCluster], known: Sequence[PersonCluster]) -> list[PersonCluster]:
    """Join two lone names of one chart, such as Concetta and Connie, if each can be a form of only the other.

    A name that a person in `known` may be called by is left out.
    """

    def is_lone(mention: PersonMention) -> bool:
        if mention.kind != "single" or mention.titled or mention.leaning == "staff":
            return False
        chart = (face for c in known if mention.variant.owner in c.owners for face in c.faces.values())
        return not any(fits_given(mention, face, "none") for face in chart)

    lone = [c for c in clusters if all(map(is_lone, c.members))]
    owned: dict[str, list[PersonCluster]] = defaultdict(list)
    for cluster in lone:
        owned[min(cluster.owners)].append(cluster)
    near = {id(c): [d for d in owned[min(c.owners)] if d is not c and _may_be_one(c, d)] for c in lone}
    joined: set[int] = set()
    for cluster in lone:
        other = near[id(cluster)][0] if len(near[id(cluster)]) == 1 else None
        if other is not None and len(near[id(other)]) == 1 and id(cluster) not in joined:
            cluster.absorb(other, "given name")
            joined |= {id(cluster), id(other)}
            clusters = [c for c in clusters if c is not other]
    return list(clusters)


def _may_be_one(a: PersonCluster, b: PersonCluster) -> bool:
    called = [{n.given for names in c.faces for n in names if len(n.given) > 1 and not n.surname} for c in (a, b)]
    alike = any(related(x, y) or mistaken(x, y, "loose", given=True) for x in called[0] for y in called[1])
    return alike and all(b.admits(m) for m in a.members) and all(a.admits(m) for m in b.members)


def stem(mention: PersonMention, nicknames: bool = True) -> tuple[str, ...]:
    """The key that groups leftover mentions: their words in any order and case, with the root of a nickname.

    Without `nicknames`, Maggie and Peggy stay two people, although both may be Margaret.
    """
    words = sorted(
        {
            _rooted(piece.key) if nicknames else piece.key
            for piece in mention.parsed.pieces
            if piece.role in ("given", "nick", "middle", "surname")
        }
    )
    return (mention.kind, *words)


def _rooted(word: str) -> str:
    name_roots = roots().get(word, frozenset())
    return min(name_roots) if len(name_roots) == 1 else word
