"""Mentions taken for one person."""

from __future__ import annotations

from collections.abc import Iterable

from incognote.relex.cluster.mentions import Mention, apart, at_odds
from incognote.relex.names.likeness import Name
from incognote.relex.nouns import Variant


class Cluster:
    """Mentions taken for one person. Grows in place; never compared."""

    def __init__(self, members: Iterable[Mention]) -> None:
        self.members: list[Mention] = []
        self.records: set[str] = set()
        self.owners: set[str] = set()
        self.genders: set[str] = set()
        self.grades: set[frozenset[str]] = set()
        self.sides: set[str] = set()
        self.suffixes: set[str] = set()
        self.works: set[str] = set()
        self.variants: set[Variant] = set()
        self.faces: dict[tuple[Name, ...], Mention] = {}  # one member per way of writing
        self.add(members)

    def add(self, members: Iterable[Mention]) -> None:
        for mention in members:
            self.members.append(mention)
            self.records.add(record_of(mention))
            self.owners.add(mention.variant.owner)
            self.genders |= {mention.gender} - {""}
            self.grades.add(mention.grades)
            self.sides |= {mention.side} - {""}
            self.suffixes |= {mention.suffix} - {""}
            self.works |= {mention.variant.hints.work} - {""}
            self.variants.add(mention.variant)
            self.faces.setdefault(mention.names, mention)

    def admits(self, mention: Mention) -> bool:
        """Neither gender nor generation nor degrees speak against it, nor that it is said to be another."""
        return not (
            (mention.gender and self.genders and mention.gender not in self.genders)
            or any(apart(mention.side, side) for side in self.sides)
            or (mention.suffix and self.suffixes and mention.suffix not in self.suffixes)
            or (mention.variant.hints.another and record_of(mention) in self.records)
            or not self.variants.isdisjoint(mention.unlike)
            or at_odds(self.grades, mention.grades)
        )


def named_before(mention: Mention, mentions: Iterable[Mention], near: int) -> list[Mention]:
    """Mentions in the same field of the same record that end at most so many characters before it begins, the nearest
    last."""
    before = [
        other
        for other in mentions
        if record_of(other) == record_of(mention)
        and other.variant.field == mention.variant.field
        and 0 <= mention.variant.start - other.variant.end <= near
    ]
    return sorted(before, key=lambda other: (other.variant.end, other.variant))


def record_of(mention: Mention) -> str:
    """The record of a mention, of whatever patient."""
    return f"{mention.variant.owner}\0{mention.variant.record}"
