"""Merge the spans of any number of finders into one disjoint set per text.

Overlapping spans are merged to the union of their boundaries, for recall. A span that bridges two others merges all
three. The type follows `priority.toml`, which gives the rules and the reasons (the idea of priorities per type is from
the Arabic de-identification paper, §4.1.4). The result does not depend on the order of the spans.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import groupby

from incognote.nouns import PACK, Span, Text
from incognote.schemas.catalogue import catalogue


@dataclass(frozen=True, slots=True)
class Standing:
    """The entry of a type in the table: its tier (0 is the strongest), its place in the tier, and what it overrides.

    A `soft` type never overrides a span inside it.
    """

    tier: int
    place: int
    soft: bool
    refines: frozenset[str]
    """The more general types that give way to this one."""


def merge(spans: Iterable[Span], priority: Sequence[str] = ()) -> list[Span]:
    """Merge spans into one disjoint set per text, sorted by field, then position.

    A merged span has the union of the boundaries, the highest score and all sources, sorted. Adjacent spans stay
    separate unless they have the same type and no character is between them.

    Args:
        priority: types, with their subtypes, that win over all others, the strongest first (a policy's `priority`).

    Raises:
        UnknownName: a type is not in the catalogue.
    """
    texts: defaultdict[Text, list[Span]] = defaultdict(list)
    for span in spans:
        texts[span.source].append(span)
    merged: list[Span] = []
    for text in sorted(texts, key=lambda t: (t.field, t.content)):
        same: dict[tuple[str, ...], tuple[str, ...]] = {}  # a text has many spans and few sets of sources
        merged.extend(_glued(_united(cluster, same, priority) for cluster in _clusters(texts[text])))
    return merged


class _Standings(dict[str, Standing]):
    """Entries by type. A user's own type takes the entry of its nearest listed ancestor, or else comes last."""

    def __missing__(self, name: str) -> Standing:
        listed = next((step for step in catalogue().lineage(name) if step in self), None)
        self[name] = self[listed] if listed else Standing(len(self), 0, False, frozenset())
        return self[name]


@cache
def standings() -> dict[str, Standing]:
    """Return the table of `priority.toml` by type."""
    written = tomllib.loads(files("incognote.align").joinpath("priority.toml").read_text(encoding="utf-8"))
    families = set(written["refine"])
    types = catalogue()
    table = _Standings()
    for tier, row in enumerate(written["tier"]):
        for place, name in enumerate(row["types"]):
            lineage = types.lineage(name)
            coarser = frozenset(lineage[1:]) if families.intersection(lineage) else frozenset()
            table[name] = Standing(tier, place, row.get("soft", False), coarser)
    return table


def _clusters(spans: list[Span]) -> Iterator[list[Span]]:
    """Yield groups of spans of one text that are connected by overlaps."""
    spans.sort(key=lambda s: (s.start, -s.end))
    cluster: list[Span] = []
    end = -1
    for span in spans:
        if cluster and span.start >= end:
            yield cluster
            cluster, end = [], -1
        cluster.append(span)
        end = max(end, span.end)
    if cluster:
        yield cluster


def _united(cluster: Sequence[Span], same: dict[tuple[str, ...], tuple[str, ...]], priority: Sequence[str]) -> Span:
    """Return one span for a cluster. The cluster is sorted by start, and longest first for the same start."""
    first = cluster[0]
    if len(cluster) == 1:
        catalogue()[first.type]  # an unknown type is an error even without an overlap
        sources = tuple(sorted(set(first.sources)))
        return first if sources == first.sources else replace(first, sources=same.setdefault(sources, sources))
    sources = tuple(sorted({source for s in cluster for source in s.sources}))
    return Span(
        first.source,
        first.start,
        max(s.end for s in cluster),
        _type(_preferred(cluster, priority)),
        max(s.score for s in cluster),
        same.setdefault(sources, sources),
    )


def _preferred(cluster: Sequence[Span], priority: Sequence[str]) -> Sequence[Span]:
    """Return the spans of a cluster that have the first of these types that any of them has, or all spans."""
    for name in priority:
        if some := [span for span in cluster if name in catalogue().lineage(span.type)]:
            return some
    return cluster


def _type(cluster: Sequence[Span]) -> str:
    """Return the type of a cluster, by the rules at the top of `priority.toml`. Time: O(spans × distinct types)."""
    table = standings()
    reach: dict[str, int] = {}  # the largest end so far, per type: a span that ends before it is inside one
    # The best rank of each type that is eligible. The smallest rank wins.
    ranks: dict[str, tuple[bool, int, int, float, int]] = {}
    for _, alike in groupby(cluster, key=lambda s: (s.start, s.end)):
        same = list(alike)
        for span in same:
            standing = table[catalogue()[span.type].name]
            if not any(
                end >= span.end and not table[holder].soft and holder not in standing.refines
                for holder, end in reach.items()
            ):
                of_pack = any(source.startswith(PACK) for source in span.sources)
                rank = (not of_pack, standing.tier, -len(span), -span.score, standing.place)
                ranks[span.type] = min(rank, ranks.get(span.type, rank))
        for span in same:
            reach[span.type] = max(reach.get(span.type, 0), span.end)
    best = {name: rank for name, rank in ranks.items() if rank[0] == min(ranks.values())[0]}
    refined = {coarser for name in best for coarser in table[name].refines}
    return min((rank, name) for name, rank in best.items() if name not in refined)[1]


def _glued(spans: Iterable[Span]) -> Iterator[Span]:
    """Join adjacent spans of the same type. The input is sorted and disjoint."""
    last: Span | None = None
    for span in spans:
        if last is not None and last.end == span.start and last.type == span.type:
            sources = tuple(sorted({*last.sources, *span.sources}))
            last = Span(span.source, last.start, span.end, span.type, max(last.score, span.score), sources)
            continue
        if last is not None:
            yield last
        last = span
    if last is not None:
        yield last
