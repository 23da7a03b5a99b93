"""Which hits of the vector search may be the same person or institution. The others are not worth a question."""

from __future__ import annotations

from collections.abc import Iterable

from rapidfuzz.distance import OSA

from incognote.relex.cluster.institutions import form_of, listed
from incognote.relex.cluster.kinship import kin_alike
from incognote.relex.index.nouns import IndexHit
from incognote.relex.names.likeness import ComparedName, compared, related
from incognote.relex.names.sound import heard_alike
from incognote.relex.nouns import Identity

FLOOR = 0.25
"""The lowest cosine. No correct hit scored less in docs/measured/agent_tokens.json (38 correct hits of 60 searches)."""
ALIKE = 0.6
"""The lowest share of letters that two words have in common in order. Correct hits had 0.7 and more."""


def plausible(identity: Identity, hit: IndexHit) -> bool:
    """Return False for a hit that is too far away, or that gender, kinship, suffix, or all words rule out."""
    entry = hit.identity
    if hit.score < FLOOR or not entry.original:
        return False
    mine, theirs = identity.attributes, entry.attributes
    if mine.get("gender") and theirs.get("gender") and mine["gender"] != theirs["gender"]:
        return False
    if mine.get("kin") and theirs.get("kin") and not kin_alike(mine["kin"], theirs["kin"]):
        return False
    if identity.group != "PERSON":
        return _institutions(identity.fullest, entry.original)
    return any(_persons(a, b) for a in _readings(identity.fullest) for b in _readings(entry.original))


def _readings(name: str) -> tuple[ComparedName, ...]:
    """The likeliest reading, or every reading of a lone word: it may be a given name or a surname."""
    found = compared(name)
    return found if not (found[0].given and found[0].surname) else found[:1]


def _persons(a: ComparedName, b: ComparedName) -> bool:
    """Return True if no part that both names show differs, and one part is near."""
    if a.suffix and b.suffix and a.suffix != b.suffix:
        return False
    if a.surname and b.surname and not _near(a.surname, b.surname):
        return False
    if a.given and b.given:
        if 1 in (len(a.given), len(b.given)):
            return a.given[0] == b.given[0]
        return related(a.given, b.given) or _near((a.given, a.joined), (b.given, b.joined))
    return bool(a.surname and b.surname) or _near((a.given, *a.surname), (b.given, *b.surname))


def _institutions(a: str, b: str) -> bool:
    """Return True if a word that is not only a kind is near, or if one is an acronym of the other's words."""
    ones, others = form_of(a), form_of(b)
    for short, long in ((ones, others), (others, ones)):
        if short[0].startswith("="):
            rest = iter("".join(word[0] for word in long))
            return all(letter in rest for letter in short[0][1:])
    return _near((w for w in ones if w not in listed("kind")), (w for w in others if w not in listed("kind")))


def _near(ones: Iterable[str], others: Iterable[str]) -> bool:
    seen = [word for word in others if len(word) > 1]
    return any(
        OSA.normalized_similarity(x, y) >= ALIKE or heard_alike(x, y) for x in ones if len(x) > 1 for y in seen
    )
