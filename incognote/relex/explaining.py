"""Explain why the mentions of an identity are together, by clustering again what the index remembers."""

from __future__ import annotations

from dataclasses import dataclass, field

from incognote.relex import partition
from incognote.relex.agents.base import mention_of
from incognote.relex.cluster import cluster
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.nouns import IndexedIdentity
from incognote.relex.memory import recalled
from incognote.relex.nouns import Join, MentionVariant


@dataclass(frozen=True, slots=True)
class Explanation:
    """The mentions of an identity and the joins between them.

    Args:
        mentions: sorted by record and place.
        joins: why they are together. Empty if only a normal form decides, or if the mentions now belong elsewhere.
    """

    mentions: tuple[MentionVariant, ...] = field(repr=False)
    joins: tuple[Join, ...] = field(repr=False)


async def explained(index: SurrogateIndex, entry: IndexedIdentity) -> Explanation:
    """Explain an identity of the index with the embedded clusterer.

    The answer is for the mentions that the index holds now. An identity that a language model or a person put together
    can have mentions without a join.

    Raises:
        IndexProblem: the index does not respond.
    """
    start = mention_of(entry, 0)
    if start is None:
        return Explanation((), ())
    seen = sorted(await recalled(index, [start]) - {start})
    found = await partition.led(index, seen)
    own = {one for one, entries in found.items() if entry in entries.values()}
    joins = {join for one in cluster(seen) for join in one.joins if {join.mention, join.other} <= own}
    place = sorted(own, key=lambda v: (v.record, v.field, v.start, v))
    return Explanation(tuple(place), tuple(sorted(joins)))
