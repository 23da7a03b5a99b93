"""What of the mentions is remembered where, so that all are found again that could be one with a new one.

The partition is a function of the set of mentions (`cluster`), so whoever clusters must see all that could decide. In a
patient's scope that is everything that patient's records say. A domain's staff and institutions are too many for that:
their mentions are stored in blocks by the words of their names, and a mention is sought in every block where one that
could be the same would be stored. A lone name misspelt by more than a letter is found by likeness only (`graph`,
retrieve).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import NamedTuple

from incognote.detectors.rules.lexicon import fold
from incognote.relex.cluster.grouping import group_of, shared
from incognote.relex.cluster.institutions import form_of, listed
from incognote.relex.cluster.mentions import PersonMention, initials, is_staff, is_type, letters
from incognote.relex.cluster.mentions import read as _read
from incognote.relex.generate.base import plain
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.nouns import Sighting
from incognote.relex.names.parsed import roots
from incognote.relex.nouns import Hints, MentionVariant

_LONG_ENOUGH = 5  # letters from which on a name is believed to be misspelt (`names.likeness.alike`)
_MOST_INITIALS = 4
_FIRST = 4  # letters by which an institution's name is found that is cut short


class Blocks(NamedTuple):
    """The blocks a mention is stored in, and those in which possible matches are sought; `else_sought` if none is."""

    stored: frozenset[str]
    sought: frozenset[str]
    else_sought: frozenset[str] = frozenset()


read = lru_cache(maxsize=1 << 14)(_read)
"""A mention is read once, however often it is sought."""


@lru_cache(maxsize=1 << 14)
def blocks(variant: MentionVariant) -> Blocks:
    """Of one mention."""
    if group_of(variant.type) == "ORG":
        found = _of_an_institution(variant.words)
        return Blocks(found, found)
    own = frozenset((_owned(variant.owner),))
    if group_of(variant.type) != "PERSON":
        return Blocks(own, own)
    mention = read(variant)
    if is_staff(mention):
        return _of_staff(mention)
    if mention.kind == "whole" and not is_type(variant, "RELATIVE", "PATIENT"):  # a clinician's whole name makes it one
        staff = _of_staff(mention)
        names = frozenset(block for block in staff.stored if block.startswith("whole "))
        return Blocks(own | names, own | names)
    return Blocks(own, own)


def scopes(variant: MentionVariant) -> tuple[str, ...]:
    """The scopes that the mention's identity may live in."""
    if _everybodys(variant):
        return ("",)
    if group_of(variant.type) == "PERSON" and not is_type(variant, "RELATIVE", "PATIENT"):
        return ("", variant.owner)
    return (variant.owner,)


def sightings(variants: Iterable[MentionVariant]) -> list[Sighting]:
    """Mentions as an index keeps them."""
    standing: dict[tuple[str, str, str, str], set[str]] = {}
    for one in variants:
        said = json.dumps(_packed(one), ensure_ascii=False)
        for block in blocks(one).stored:
            standing.setdefault((one.domain, one.owner, block, one.record), set()).add(said)
    return [Sighting(*place, tuple(sorted(said))) for place, said in sorted(standing.items())]


async def recalled(index: SurrogateIndex, variants: Sequence[MentionVariant]) -> set[MentionVariant]:
    """The mentions that were remembered and could decide about these, these among them if they were."""
    found: set[MentionVariant] = set()
    for domain in sorted({one.domain for one in variants}):
        own = [one for one in variants if one.domain == domain]
        found |= await _of_a_domain(index, domain, own)
    return found


async def _of_a_domain(index: SurrogateIndex, domain: str, variants: Sequence[MentionVariant]) -> set[MentionVariant]:
    """The staff are followed from block to block; other patients' mentions count where one has a clinician's name."""
    owners = {one.owner for one in variants}
    found: set[MentionVariant] = set(variants)
    seen: set[str] = set()
    for last in (False, True):
        wanted = {block for one in found for block in blocks(one).sought} | {_owned(owner) for owner in owners}
        while wanted - seen:
            told = await index.noted(domain, sorted(wanted - seen))
            seen |= wanted
            fresh = {_unpacked(one, domain, sighting) for sighting in told for one in sighting.said} - found
            found |= fresh
            wanted = {block for one in fresh if _everybodys(one) for block in blocks(one).sought}
            if not wanted - seen:
                wanted = _lone(found)
        foreign = {one.owner for one in found if not _everybodys(one)} - owners
        if last or not foreign:
            break
        owners |= foreign
    return {one for one in found if _everybodys(one) or one.owner in owners}


def _lone(found: Iterable[MentionVariant]) -> set[str]:
    """Where the bearers of a lone name are sought by their given names: it is nobody's surname that was found."""
    standing = [(one, blocks(one)) for one in found if _everybodys(one)]
    whole = {block for _, its in standing for block in its.stored if block.startswith("whole ")}
    return {block for _, its in standing if not its.sought & whole for block in its.else_sought}


def key_of(variant: MentionVariant) -> str:
    """The key of one mention, which leads to its identity."""
    told = (variant.owner, variant.type, variant.record, variant.field, variant.start, variant.end, variant.words)
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def forms(variant: MentionVariant) -> set[str]:
    """The forms of an original that no surrogate may have as a whole."""
    found = {plain(variant.words)}
    if group_of(variant.type) == "PERSON":
        for name in read(variant).names[:1]:
            found |= {f"{name.joined}{surname}" for surname in name.surname if name.given}
            found |= {f"{name.given}{surname}" for surname in name.surname if name.given}
    return {form for form in found if len(form) > 1}


@lru_cache(maxsize=1 << 14)
def _everybodys(variant: MentionVariant) -> bool:
    """Whether the mention is of the domain and not of a patient."""
    return shared(variant.type) or (group_of(variant.type) == "PERSON" and is_staff(read(variant)))


def _owned(owner: str) -> str:
    return f"own {owner}"


def _of_staff(mention: PersonMention) -> Blocks:
    """By surname, also misspelt by one letter, by a lone name, by initials."""
    name = mention.names[0]
    surnames = {word for reading in mention.names for word in reading.surname if len(word) > 1}
    read_as = mention.names if mention.kind == "single" else mention.names[:1]  # Gill may be Gillian, or a Mr. Gill
    words = {word for one in read_as for word in (one.given, *one.nick, *one.middle) if len(word) > 1}
    given = {root for word in words for root in _roots(word)}
    lone = {f"lone {word}" for word in surnames | given}
    short = _short(mention.variant.words)
    if mention.kind == "lettered" or short:
        told = short or letters(name)
        stored = frozenset((f"letters {told}", *(f"lone {word}" for word in surnames | given)))
        return Blocks(stored, stored | ({f"initial {told}"} if len(told) == 1 else set()))
    near = {f"near {rest}" for word in surnames for rest in _cut(word)}
    if mention.kind == "single":
        words = surnames | given
        stored = frozenset(f"lone {word}" for word in words) | near
        return Blocks(
            stored, stored | {f"whole {word}" for word in words}, frozenset(f"given {word}" for word in words)
        )
    whole = frozenset(f"whole {word}" for word in surnames)
    signs = frozenset(f"letters {shown}" for shown in _initials(mention))
    alone = {word[0] for word in surnames | given}
    return Blocks(
        whole | signs | near | {f"given {word}" for word in given} | {f"initial {letter}" for letter in alone},
        whole | lone | signs | near | {f"letters {letter}" for letter in alone},
    )


def _short(words: str) -> str:
    """Letters that may be initials, sorted: H., ARP, K.J.; "" for what is a name written out."""
    found = [c for c in words if c.isalpha()]
    short = 0 < len(found) <= _MOST_INITIALS and all(c.isupper() for c in found)
    return "".join(sorted(fold("".join(found)))) if short else ""


def _cut(word: str) -> set[str]:
    """The word, and the word without each of its letters: two that are one edit apart share one of these."""
    if len(word) < _LONG_ENOUGH:
        return set()
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def _initials(mention: PersonMention) -> set[str]:
    """Those that the clusterer takes for the name (`fits_letters`); single ones are stored in blocks of their own. A
    surname misspelt keeps its first letter, so that these find it too."""
    whole = [name for name in mention.names if name.given and name.surname]
    return {shown for name in whole for shown in initials(name) if len(shown) > 1}


@lru_cache(maxsize=1 << 12)
def _roots(given: str) -> frozenset[str]:
    return frozenset(roots().get(given, frozenset((given,)))) | {given}


@lru_cache(maxsize=1 << 12)
def _of_an_institution(words: str) -> frozenset[str]:
    """By its initials, by how it begins, by each word that does not only say its kind."""
    form = form_of(words)
    if form[0].startswith("="):
        return frozenset((f"org {form[0]}",))
    told = {word for word in form if word not in listed("kind")} | {word for word in form if word in listed("nick")}
    written = [fold(word)[:1] for word in re.findall(r"[^\W\d_]+", words) if fold(word)]
    firsts = {"".join(word[0] for word in form), "".join(written)}
    signs = {f"org ={shown}" for shown in firsts}
    return frozenset((*signs, f"org ~{form[0][:_FIRST]}", *(f"org {word}" for word in told)))


def _packed(variant: MentionVariant) -> list[object]:
    hints = asdict(variant.hints)
    return [variant.type, variant.words, variant.patient, variant.field, variant.start, variant.end, hints]


def _unpacked(said: str, domain: str, sighting: Sighting) -> MentionVariant:
    kind, words, patient, field, start, end, hints = json.loads(said)
    made = Hints(**{**hints, "degrees": tuple(hints["degrees"])})
    return MentionVariant(kind, words, domain, patient, sighting.record, field, start, end, made)
