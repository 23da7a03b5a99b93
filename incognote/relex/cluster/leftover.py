"""Short names that mean nobody with a fuller name: they are grouped by their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from incognote.relex.cluster.mentions import PersonMention
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
