"""Mentions of persons in the form used for comparison, and the clusters they are combined into."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from incognote.relex.cluster.hints import at_odds, led
from incognote.relex.cluster.kinship import kin_against, kin_alike, kin_gender
from incognote.relex.cluster.strangers import kin_words
from incognote.relex.names.guess import SURE, gender
from incognote.relex.names.likeness import (
    ComparedName,
    Typo,
    compared,
    lettered,
    mistaken,
    partly,
    related,
    same_given,
    same_surname,
    whole,
)
from incognote.relex.names.parsed import Parsed, roots, suffix, words
from incognote.relex.names.reading import parse
from incognote.relex.names.sound import sounds
from incognote.relex.nouns import Join, MentionVariant
from incognote.schemas.catalogue import catalogue

GROWN = frozenset("mr mrs ms herr frau mme madame monsieur senor senora sr sra pan pani mevrouw dhr".split())
"""Titles of adults that say nothing about a profession."""

Kind = Literal["whole", "partly", "single", "lettered"]


@dataclass(frozen=True, slots=True)
class PersonMention:
    """One variant with its reading."""

    variant: MentionVariant
    names: tuple[ComparedName, ...] = field(repr=False)
    parsed: Parsed = field(repr=False)
    kind: Kind
    gender: str
    grades: frozenset[str]
    kin: str = ""
    side: str = ""
    unlike: frozenset[MentionVariant] = field(default=frozenset(), repr=False)
    """Mentions of people said to be a different person."""

    @property
    def suffix(self) -> str:
        return self.names[0].suffix

    @property
    def title(self) -> str:
        """The title of the name, folded, before the span or within it."""
        return self.variant.hints.title or next((piece.key for piece in self.parsed.of("title")), "")

    @property
    def titled(self) -> bool:
        return bool(self.title)

    @property
    def guessed(self) -> bool:
        """Return True if a detector chose the type, so that it does not settle the role."""
        return self.variant.hints.guessed

    @property
    def role(self) -> str:
        """The role: `patient`, `relative`, `staff`, or "". A guessed type does not give one; only the text does."""
        return self.variant.hints.role if self.guessed else self.leaning

    @property
    def stranger(self) -> bool:
        """Return True if the text says that somebody unknown has this name, and a detector chose the type."""
        return self.guessed and self.variant.hints.another and not self.role

    @property
    def leaning(self) -> str:
        """The role that the type names, even if it is guessed."""
        return next((role for kind, role in _ROLES.items() if is_type(self.variant, kind)), "")


def read(variant: MentionVariant) -> PersonMention:
    """Read a variant as a mention."""
    title = variant.hints.title
    said = variant.words[led(variant.words) :].split("\n")[0] if variant.hints.guessed else variant.words
    unnamed = variant.hints.guessed and title in words().baby - kin_words()  # Baby Boy, before the span
    names = compared(f"{title} {said}" if unnamed else said, title)
    parsed, gender, grades = parse(said, title), _gender(variant), _grades(variant)
    return PersonMention(
        variant, names, parsed, _kind(names), gender, grades, variant.hints.kin, _side(variant, parsed)
    )


_ROLES = {"PATIENT": "patient", "RELATIVE": "relative", "CLINICIAN": "staff"}


def is_type(variant: MentionVariant, *types: str) -> bool:
    """Return True if the mention has one of these types or a subtype."""
    return variant.type in catalogue() and any(one in catalogue().lineage(variant.type) for one in types)


def is_staff(mention: PersonMention) -> bool:
    """Return True if a person is certainly staff of the domain."""
    if is_unsure_staff(mention):
        return False
    role = mention.role or (mention.leaning if mention.leaning == "staff" else "")
    return role == "staff" or (not role and mention.variant.type == "PERSON" and bool(mention.grades))


def is_unsure_staff(mention: PersonMention) -> bool:
    """Return True if only a detector calls a lone name, or one after Mrs. or Sister, staff. Its chart decides."""
    typed = mention.guessed and mention.leaning == "staff" and not mention.role and not mention.grades
    return typed and (mention.kind == "single" or mention.title in GROWN or bool(kin_gender(mention.title)))


def may_be_staff(mention: PersonMention) -> bool:
    """Return True for a whole name that nothing assigns to the chart's people. If a clinician has it, it is staff."""
    alone = mention.kind == "whole" and not mention.kin and not mention.variant.hints.another
    return alone and not mention.role and not is_staff(mention)


def _side(variant: MentionVariant, parsed: Parsed) -> str:
    """The generation of a relative, from the kinship word or because the mention is a newborn's."""
    if variant.type == "CLINICIAN" and not variant.hints.guessed:
        return ""
    infant = {variant.hints.title, *(piece.key for piece in parsed.of("title"))} & words().baby
    return variant.hints.side or ("child" if infant else "")


def apart(a: str, b: str) -> bool:
    """Return True for two generations that exclude each other. A "young" person may be a child or a grandchild.

    "self" excludes all others, and "kin" excludes only "self".
    """
    either = {a, b}
    if not a or not b or a == b or either in ({"young", "child"}, {"young", "grandchild"}):
        return False
    return "kin" not in either or "self" in either


def _kind(names: tuple[ComparedName, ...]) -> Kind:
    first = names[0]
    if whole(first):
        return "whole"
    if lettered(first):
        return "lettered"
    return "partly" if partly(first) else "single"


@lru_cache(maxsize=1 << 14)
def _named_gender(words: str, title: str) -> str:
    guess = gender(parse(words, title))
    return guess.value if guess.value != "unknown" and guess.confidence >= SURE else ""


def _gender(variant: MentionVariant) -> str:
    """The gender from title, kinship word or pronoun, or else from a given name with only one gender.

    "" if nothing says it.
    """
    hints = variant.hints
    guess = gender(parse(variant.words), [hints.title] if hints.title else [])
    if guess.confidence == 0.95:
        return guess.value
    return kin_gender(hints.kin) or hints.pronoun or _named_gender(variant.words, hints.title)


def _grades(variant: MentionVariant) -> frozenset[str]:
    """What the degrees say about the profession: `physician`, or the degree itself. A title of Dr. counts too."""
    degrees = set(variant.hints.degrees) | set(parse(variant.words).degrees)
    if not degrees:
        return frozenset(("dr",)) if variant.hints.title in ("dr", "doctor") else frozenset()
    return frozenset("physician" if degree in words().physician else degree for degree in degrees)


def fits_partly(weak: PersonMention, other: PersonMention, typo: Typo) -> bool:
    """Match an initial with a name: R. Hargrove, Meenakshi R., Hargrove, R.

    A given name or a surname must be written out in both. S. Arulmozhi is not A. Siddiqui.
    """
    return any(
        same_surname(a, b, typo)
        and same_given(a, b)
        and (min(len(a.given), len(b.given)) > 1 or same_surname(_unlettered(a), _unlettered(b), typo))
        for a in weak.names
        for b in other.names
        if (len(a.given) > 1 or any(len(s) > 1 for s in a.surname)) and b.given and b.surname
    )


def _unlettered(name: ComparedName) -> ComparedName:
    return name._replace(surname=tuple(word for word in name.surname if len(word) > 1))


def fits_surname(weak: PersonMention, other: PersonMention, typo: Typo) -> bool:
    """Match a lone surname."""
    return any(
        x == y or mistaken(x, y, typo)
        for a in weak.names
        for b in other.names
        if not a.given and b.given
        for x in a.surname
        for y in b.surname
        if len(x) > 1 and len(y) > 1
    )


def fits_family(weak: PersonMention, other: PersonMention, typo: Typo) -> bool:
    """Match a lone surname with the other's complete surname: Sokolova, not Sokolova-Petrova."""
    return typo == "none" and any(
        a.surname == b.surname for a in weak.names for b in other.names if a.surname and not a.given and b.given
    )


def fits_called(weak: PersonMention, other: PersonMention, typo: Typo) -> bool:
    """Match a lone nickname to the letter with one by which the other is called: Peggy is not Maggie."""
    said = (other.names[0].given, *other.names[0].nick)
    return typo == "none" and any(a.given in said for a in weak.names if len(a.given) > 1 and not a.surname)


def fits_given(weak: PersonMention, other: PersonMention, typo: Typo) -> bool:
    """Match a lone given name or nickname."""
    return _fits_called(weak, other, typo, lambda name: (name.given, name.joined, *sorted(name.nick)))


def fits_middle(weak: PersonMention, other: PersonMention, typo: Typo) -> bool:
    """Match a lone middle name that a person goes by."""
    return _fits_called(weak, other, typo, lambda name: name.middle)


def _fits_called(
    weak: PersonMention, other: PersonMention, typo: Typo, called: Callable[[ComparedName], Iterable[str]]
) -> bool:
    """Match a lone given name with any of the names the other goes by."""
    return any(
        related(a.given, form) or mistaken(a.given, form, typo, given=True)
        for a in weak.names
        for b in other.names
        if a.given and not a.surname and (b.surname or (other.role == "patient" and a.given == b.given))
        for form in called(b)
        if len(form) > 1
    )


def fits_suffix(weak: PersonMention, other: PersonMention, typo: Typo) -> bool:
    """Match a lone "Junior" or "Senior" with a name that has this suffix."""
    return typo == "none" and bool(lone_suffix(weak)) and other.suffix == lone_suffix(weak)


def lone_suffix(mention: PersonMention) -> str:
    """`jr` or `sr` for a lone "Junior" or "Sr."; "" for others, and for staff, who are not found by their suffix."""
    name = mention.names[0]
    alone = mention.kind == "single" and mention.leaning != "staff"
    called = suffix(name.joined or "".join(name.surname)) if alone else ""
    return called if called in ("jr", "sr") else ""


def fits_letters(weak: PersonMention, other: PersonMention, typo: Typo) -> bool:
    """Match lone initials in any order: JRK, J.K., K.J."""
    whole = [b for b in other.names if b.given and b.surname]
    if len(shown := letters(weak.names[0])) == 1:  # Dr. R. is Farhad Rezaei, and a lone R. is Robert
        return typo == "none" and shown in {s[0] for b in whole[:1] for s in (b.surname if weak.titled else (b.given,))}
    return typo == "none" and any(letters(a) in initials(b) for a in weak.names for b in whole)


def letters(name: ComparedName) -> str:
    """All initials of a name, sorted."""
    return "".join(sorted(name.given + "".join(name.middle) + "".join(name.surname)))


def initials(name: ComparedName) -> set[str]:
    """The initials that may stand for a name, sorted: of given name and surname, with or without the middle names."""
    first, inner = name.given[0], "".join(m[0] for m in name.middle if m)
    lasts = {*(s[0] for s in name.surname), "".join(s[0] for s in name.surname)}  # SRM: S. Rao-Mitchell
    shown = {first + last for last in lasts} | {first + inner + last for last in lasts}
    shown |= {first + more for more in (inner, name.suffix[:1]) if more}  # OJ: Otis James, or Otis Jr.
    return {"".join(sorted(initials)) for initials in shown} | ({first} if len(name.given) > 1 else set())


def words_of(name: ComparedName) -> set[str]:
    """The words under which a name is looked up: its own, their roots, their beginnings, its initials."""
    lookup: set[str] = set()
    for form in (name.given, name.joined, *name.nick, *name.middle, *name.surname):
        if len(form) > 1:
            lookup |= {
                form,
                "~" + form[:3],
                "^" + form[0],
                "^" + form[1],
                *("^~" + sound for sound in sounds(form)),
                *("@" + root for root in roots().get(form, ())),
            }
    if name.given and name.surname:
        lookup |= {"=" + shown for shown in initials(name)}
    return lookup | {"+" + ending for ending in (name.suffix, suffix(name.joined)) if ending}


class PersonCluster:
    """Mentions that are taken for one person. It grows in place and is never compared.

    Args:
        members: the mentions.
        reason: why they are one person (`reasons.REASONS`).
    """

    def __init__(self, members: Iterable[PersonMention], reason: str) -> None:
        self.members: list[PersonMention] = []
        self.records: set[str] = set()
        self.owners: set[str] = set()
        self.genders: set[str] = set()
        self.grades: set[frozenset[str]] = set()
        self.sides: set[str] = set()
        self.suffixes: set[str] = set()
        self.works: set[str] = set()
        self.kins: set[str] = set()
        self.variants: set[MentionVariant] = set()
        self.faces: dict[tuple[ComparedName, ...], PersonMention] = {}  # one member per written form
        self.joins: list[Join] = []
        self.add(members, reason)

    def absorb(
        self, other: PersonCluster, reason: str, ends: tuple[PersonMention, PersonMention] | None = None
    ) -> None:
        """Take over all members of another cluster, with its joins.

        Args:
            other: not to be used afterwards.
            reason: why both are one person.
            ends: the member of the other cluster and the own member that show it; by default, the first of each.
        """
        if self.members and other.members:
            lost, kept = ends or (other.members[0], self.members[0])
            self.joins.append(Join(lost.variant, kept.variant, reason))
        self.joins.extend(other.joins)
        self._hold(other.members)

    def add(self, members: Iterable[PersonMention], reason: str, other: PersonMention | None = None) -> None:
        """Add mentions for a reason. It connects each one with `other`, or else with the first member."""
        members = list(members)
        first = other or next(iter((*self.members, *members)), None)
        if first is not None:
            self.joins.extend(Join(m.variant, first.variant, reason) for m in members if m is not first)
        self._hold(members)

    def _hold(self, members: Iterable[PersonMention]) -> None:
        for mention in members:
            self.members.append(mention)
            self.records.add(record_of(mention))
            self.owners.add(mention.variant.owner)
            self.genders |= {mention.gender} - {""}
            self.grades.add(mention.grades)
            self.sides |= {mention.side} - {""}
            self.suffixes |= {mention.suffix} - {""}
            self.kins |= {mention.kin} - {""}
            self.works |= {mention.variant.hints.work} - {""}
            self.variants.add(mention.variant)
            self.faces.setdefault(mention.names, mention)

    def admits(self, mention: PersonMention) -> bool:
        """Return True if nothing contradicts: gender, kinship, suffix, degrees, or words that it is another person."""
        return not (
            (mention.gender and self.genders and mention.gender not in self.genders)
            or any(apart(mention.side, side) for side in self.sides)
            or (mention.suffix and self.suffixes and mention.suffix not in self.suffixes)
            or (mention.suffix and mention.guessed and not self.suffixes and "self" in self.sides)
            or (mention.variant.hints.another and (mention.stranger or record_of(mention) in self.records))
            or (mention.kind == "single" and mention.suffix not in ("", *self.suffixes) and not self._like_kin(mention))
            or (mention.guessed and mention.titled and self._unlike_kin(mention))
            or not self.variants.isdisjoint(mention.unlike)
            or at_odds(self.grades, mention.grades)
        )

    def _like_kin(self, mention: PersonMention) -> bool:  # son Luis Jr., a son Luis
        return not self.suffixes and any(kin_alike(mention.kin, kin) for kin in self.kins)

    def _unlike_kin(self, mention: PersonMention) -> bool:
        return mention.role == "relative" and any(kin_against(mention.kin, kin) for kin in self.kins)


def named_before(mention: PersonMention, mentions: Iterable[PersonMention], near: int) -> list[PersonMention]:
    """Mentions in the same field and record that end at most `near` characters before this one begins, nearest last."""
    before = [
        other
        for other in mentions
        if record_of(other) == record_of(mention)
        and other.variant.field == mention.variant.field
        and 0 <= mention.variant.start - other.variant.end <= near
    ]
    return sorted(before, key=lambda other: (other.variant.end, other.variant))


def record_of(mention: PersonMention) -> str:
    """The record of a mention, unique across patients."""
    return f"{mention.variant.owner}\0{mention.variant.record}"
