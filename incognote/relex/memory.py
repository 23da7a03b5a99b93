"""Which mentions are stored in which blocks, so that all possible matches of a new mention are found again.

The partition is a function of the set of mentions (`cluster`), so the clusterer must see all mentions that could affect
it. In a patient's scope these are all mentions in that patient's records. A domain has too many staff and institutions
for that. Their mentions are stored in blocks by the words of their names. A mention is searched for in every block in
which a possible match would be stored. A lone name that is misspelled by more than a letter is found by likeness only
(`graph`, retrieve).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import NamedTuple

from incognote.relex.cluster.following import (
    is_known_patient,
    is_said_staff,
    is_staff_kin,
    is_typed_staff,
    may_follow,
)
from incognote.relex.cluster.grouping import group_of, shared
from incognote.relex.cluster.institutions import form_of, listed
from incognote.relex.cluster.mentions import (
    PersonMention,
    initials,
    is_staff,
    is_unsure_staff,
    letters,
    may_be_staff,
)
from incognote.relex.cluster.mentions import read as _read
from incognote.relex.generate.base import plain
from incognote.relex.index.base import SurrogateIndex
from incognote.relex.index.nouns import Sighting
from incognote.relex.names.parsed import roots
from incognote.relex.names.sound import sounds
from incognote.relex.nouns import Hints, MentionVariant
from incognote.text.lexicon import fold

_LONG_ENOUGH = 5  # letters from which on a misspelling is assumed (`names.likeness.alike`)
_MOST_INITIALS = 4
_FIRST = 4  # letters by which an abbreviated institution name is found


class Blocks(NamedTuple):
    """The blocks a mention is stored in, and those searched for possible matches; `else_sought` is the fallback."""

    stored: frozenset[str]
    sought: frozenset[str]
    else_sought: frozenset[str] = frozenset()


read = lru_cache(maxsize=1 << 14)(_read)
"""Caches the reading, so that a mention is read only once."""


@lru_cache(maxsize=1 << 14)
def blocks(variant: MentionVariant) -> Blocks:
    """The blocks of one mention."""
    if group_of(variant.type) == "ORG":
        found = _of_an_institution(variant.words)
        return Blocks(found, found)
    own = frozenset((_owned(variant.owner),))
    if group_of(variant.type) != "PERSON":
        return Blocks(own, own)
    mention = read(variant)
    beside = frozenset(f"beside {variant.owner} {word}" for word in _words(mention))
    if is_staff(mention):
        staff = _of_staff(mention)
        charts = _of_chart(mention) if is_typed_staff(mention) else frozenset()
        charts |= _of_chart(mention, "kin") if is_said_staff(mention) else frozenset()
        return staff._replace(stored=staff.stored | beside, sought=staff.sought | charts)
    stored = own | _named(mention) if may_be_staff(mention) else own
    stored |= _of_chart(mention) if mention.kind == "whole" and mention.guessed else frozenset()
    stored |= _of_chart(mention, "kin") if is_staff_kin(mention) or is_known_patient(mention) else frozenset()
    sought = stored | beside if may_follow(mention) or mention.kind == "whole" else stored
    return Blocks(stored, sought | _of_staff(mention).sought if is_unsure_staff(mention) else sought)


def scopes(variant: MentionVariant) -> tuple[str, ...]:
    """The scopes that the mention's identity may belong to."""
    person = read(variant) if group_of(variant.type) == "PERSON" else None
    if person is None:
        return ("",) if _everybodys(variant) else (variant.owner,)
    both = any(may(person) for may in (may_be_staff, may_follow, is_typed_staff, is_said_staff))
    if is_staff(person) and not both:
        return ("",)
    return ("", variant.owner) if both else (variant.owner,)


def sightings(variants: Iterable[MentionVariant]) -> list[Sighting]:
    """The mentions in the form in which an index stores them."""
    places: dict[tuple[str, str, str, str], set[str]] = {}
    for one in variants:
        said = json.dumps(_packed(one), ensure_ascii=False)
        for block in blocks(one).stored:
            places.setdefault((one.domain, one.owner, block, one.record), set()).add(said)
    return [Sighting(*place, tuple(sorted(said))) for place, said in sorted(places.items())]


async def remember_outputs(index: SurrogateIndex, shown: Mapping[MentionVariant, str]) -> None:
    """Store a digest of what each record's output shows for each mention, in place of that of its last output."""
    digests: dict[tuple[str, str, str, str], list[str]] = {}
    for one, words in sorted(shown.items()):
        place = (one.domain, one.owner, _output(one), one.record)
        digests.setdefault(place, []).append(f"{_digest(one.domain, key_of(one))} {_digest(words)}")
    await index.note([Sighting(*place, tuple(said)) for place, said in sorted(digests.items())])


async def outdated(index: SurrogateIndex, shown: Mapping[MentionVariant, str]) -> set[str]:
    """The records whose last output shows something else for one of these mentions."""
    last: dict[str, str] = {}
    for domain in sorted({one.domain for one in shown}):
        outputs = {_output(one) for one in shown if one.domain == domain}
        last |= dict(said.split() for one in await index.noted(domain, sorted(outputs)) for said in one.said)
    now = [(one.record, last.get(_digest(one.domain, key_of(one))), _digest(words)) for one, words in shown.items()]
    return {record for record, before, after in now if before not in (None, after)}


def _output(variant: MentionVariant) -> str:
    """The block in which the digests of the output of the mention's record are stored."""
    return f"output {variant.owner} {variant.record}"


def _digest(*words: str) -> str:
    return hashlib.sha256(json.dumps(words).encode()).hexdigest()[:16]


async def recalled(index: SurrogateIndex, variants: Sequence[MentionVariant]) -> set[MentionVariant]:
    """The remembered mentions that could affect these, and these."""
    found: set[MentionVariant] = set()
    for domain in sorted({one.domain for one in variants}):
        own = [one for one in variants if one.domain == domain]
        found |= await _of_a_domain(index, domain, own)
    return found


async def _of_a_domain(index: SurrogateIndex, domain: str, variants: Sequence[MentionVariant]) -> set[MentionVariant]:
    """Follow staff from block to block. Other patients' mentions count if one of them has a clinician's name."""
    owners = {one.owner for one in variants}
    found: set[MentionVariant] = set(variants)
    seen: set[str] = set()
    for last in (False, True):
        wanted = {block for one in found for block in blocks(one).sought} | {_owned(owner) for owner in owners}
        while wanted - seen:
            sightings = await index.noted(domain, sorted(wanted - seen))
            seen |= wanted
            fresh = {_unpacked(one, domain, sighting) for sighting in sightings for one in sighting.said} - found
            found |= fresh
            wanted = {b for one in fresh if one.owner in owners or _everybodys(one) for b in blocks(one).sought}
            if not wanted - seen:
                wanted = _lone(found)
        foreign = {one.owner for one in found if not _everybodys(one)} - owners
        if last or not foreign:
            break
        owners |= foreign
    unseen = {one.owner for one in found if not _everybodys(one)} - owners
    return {one for one in found if one.owner in owners or (_everybodys(one) and not _is_of(one, unseen))}


def _is_of(variant: MentionVariant, charts: Collection[str]) -> bool:
    """Return True for a name that a chart decides about, if it is one of these charts, which are not loaded."""
    typed = variant.owner in charts and group_of(variant.type) == "PERSON"
    return typed and is_typed_staff(read(variant))


def _of_chart(mention: PersonMention, kind: str = "chart") -> frozenset[str]:
    """The blocks by which the name of a member of staff finds the patient or relative who has it in its chart."""
    return frozenset(f"{kind} {mention.variant.owner} {word}" for name in mention.names for word in name.surname)


def _words(mention: PersonMention) -> set[str]:
    """The words of a name by which a short name finds the staff of its chart."""
    readings = [(one.given, one.joined, *one.nick, *one.middle, *one.surname) for one in mention.names]
    return {root for words in readings for word in words if len(word) > 1 for root in _roots(word)}


def _lone(found: Iterable[MentionVariant]) -> set[str]:
    """The blocks that hold people by given name, for lone names that were not found as a surname."""
    shared_mentions = [(one, blocks(one)) for one in found if _everybodys(one)]
    whole = {block for _, its in shared_mentions for block in its.stored if block.startswith("whole ")}
    return {block for _, its in shared_mentions if not its.sought & whole for block in its.else_sought}


def key_of(variant: MentionVariant) -> str:
    """The key of one mention. It leads to the mention's identity."""
    parts = (variant.owner, variant.type, variant.record, variant.field, variant.start, variant.end, variant.words)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def forms(variant: MentionVariant) -> set[str]:
    """The forms of an original that must never be a whole surrogate."""
    found = {plain(variant.words)}
    if group_of(variant.type) == "PERSON":
        for name in read(variant).names[:1]:
            found |= {f"{name.joined}{surname}" for surname in name.surname if name.given}
            found |= {f"{name.given}{surname}" for surname in name.surname if name.given}
    return {form for form in found if len(form) > 1}


@lru_cache(maxsize=1 << 14)
def _everybodys(variant: MentionVariant) -> bool:
    """Return True if the mention belongs to the domain and not to a patient."""
    return is_staff(read(variant)) if group_of(variant.type) == "PERSON" else shared(variant.type)


def _owned(owner: str) -> str:
    return f"own {owner}"


def _of_staff(mention: PersonMention) -> Blocks:
    """The blocks by surname (also misspelled by one letter), by lone name, and by initials."""
    name = mention.names[0]
    surnames = {word for reading in mention.names for word in reading.surname if len(word) > 1}
    read_as = mention.names if mention.kind == "single" else mention.names[:1]  # Gill may be Gillian, or a Mr. Gill
    words = {word for one in read_as for word in (one.given, *one.nick, *one.middle) if len(word) > 1}
    given = {root for word in words for root in _roots(word)}
    lone = {f"lone {word}" for word in surnames | given}
    short = _short(mention.variant.words)
    if mention.kind == "lettered" or short:
        letters_shown = short or letters(name)
        stored = frozenset((f"letters {letters_shown}", *(f"lone {word}" for word in surnames | given)))
        return Blocks(stored, stored | ({f"initial {letters_shown}"} if len(letters_shown) == 1 else set()))
    near = {f"near {rest}" for word in surnames for rest in _cut(word)}
    near |= {f"heard {sound}" for word in surnames for sound in sounds(word)}
    if mention.kind == "single":
        words = surnames | given
        stored = frozenset(f"lone {word}" for word in words) | near
        return Blocks(
            stored, stored | {f"whole {word}" for word in words}, frozenset(f"given {word}" for word in words)
        )
    whole = frozenset(f"whole {word}" for word in surnames)
    signs = frozenset(f"letters {shown}" for shown in _initials(mention))
    alone = {word[0] for word in surnames | given}
    whole |= _named(mention)
    return Blocks(
        whole | signs | near | {f"given {word}" for word in given} | {f"initial {letter}" for letter in alone},
        whole | lone | signs | near | {f"letters {letter}" for letter in alone},
    )


def _named(mention: PersonMention) -> frozenset[str]:
    """The blocks of whole names that are equal to the letter, in which a name without a role meets a clinician's."""
    return frozenset(
        f"named {given} {surname}"
        for name in mention.names
        if name.given
        for given in (name.given, name.joined)
        for surname in name.surname
        if len(surname) > 1
    )


def _short(words: str) -> str:
    """Letters that may be initials, sorted: H., ARP, K.J. The result is "" for a name that is written out."""
    found = [c for c in words if c.isalpha()]
    short = 0 < len(found) <= _MOST_INITIALS and all(c.isupper() for c in found)
    return "".join(sorted(fold("".join(found)))) if short else ""


def _cut(word: str) -> set[str]:
    """The word, and the word without each of its letters. Two words that are one edit apart share one of these."""
    if len(word) < _LONG_ENOUGH:
        return set()
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def _initials(mention: PersonMention) -> set[str]:
    """The initials that the clusterer accepts for the name (`fits_letters`).

    Single initials have blocks of their own. A misspelled surname keeps its first letter, so these initials find it
    too.
    """
    whole = [name for name in mention.names if name.given and name.surname]
    return {shown for name in whole for shown in initials(name) if len(shown) > 1}


@lru_cache(maxsize=1 << 12)
def _roots(given: str) -> frozenset[str]:
    return frozenset(roots().get(given, frozenset((given,)))) | {given}


@lru_cache(maxsize=1 << 12)
def _of_an_institution(words: str) -> frozenset[str]:
    """The blocks of an institution: by its initials, by its beginning, and by each word other than its kind."""
    form = form_of(words)
    if form[0].startswith("="):
        return frozenset((f"org {form[0]}",))
    telling = {word for word in form if word not in listed("kind")} | {word for word in form if word in listed("nick")}
    written = [fold(word)[:1] for word in re.findall(r"[^\W\d_]+", words) if fold(word)]
    firsts = {"".join(word[0] for word in form), "".join(written)}
    signs = {f"org ={shown}" for shown in firsts}
    return frozenset((*signs, f"org ~{form[0][:_FIRST]}", *(f"org {word}" for word in telling)))


def _packed(variant: MentionVariant) -> list[object]:
    hints = {name: value for name, value in asdict(variant.hints).items() if value or name == "degrees"}
    return [variant.type, variant.words, variant.patient, variant.field, variant.start, variant.end, hints]


def _unpacked(said: str, domain: str, sighting: Sighting) -> MentionVariant:
    kind, words, patient, field, start, end, hints = json.loads(said)
    made = Hints(**{**hints, "degrees": tuple(hints["degrees"])})
    return MentionVariant(kind, words, domain, patient, sighting.record, field, start, end, made)
