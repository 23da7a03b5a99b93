"""The data types of relexicalization. All are immutable, and no repr shows words of a note."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as hidden
from typing import Literal

from incognote.nouns import patient_scope

Group = Literal["PERSON", "PLACE", "ORG", "CONTACT", "ID", "DATE", "AGE", "OCCUPATION", "OTHER"]


@dataclass(frozen=True, slots=True, order=True)
class Hints:
    """What the text around a mention says about its referent.

    Args:
        title: the title directly before it, folded ("dr", "mrs").
        degrees: the degrees directly after it, folded ("md", "np"), sorted.
        kin: the kinship word that it belongs to ("his wife, Eleanor"), folded.
        maiden: the text calls it a birth name or a former name.
        side: the generation that the kinship word implies, relative to the patient: "above", "child", "grandchild". If
            the role is known and the generation is not: "self" or "kin".
        alias: the words and marks between it and the name before it, if they say that both names are the same person's.
        another: the text says that it is another person with a name already mentioned.
        apart: the text says that it is a different person from the one named before it (the sister of Dr. Ruiz).
        pronoun: "female" or "male", from a pronoun in parentheses directly after it, or in other languages the word
            directly before it.
        work: the field of work given beside it ("cardiology"), folded.
        guessed: a detector chose the type, not a person. Such a type is evidence that the text can contradict.
        role: "patient", "relative" or "staff" if the text beside a guessed type says so.
        reach: how many characters before a place are only separators and labels of addresses ("City:").
        when: for a date, its cues (`operators.readers.DateReader.cues`); for an age, `current` or `event`.
        clause: for a date, the offset at which its sentence or line begins.
        sex: "female" or "male" if the record says so of its patient ("76 M", "Sex: F", or most of its pronouns).
        facts: the age, birth date, and record number directly after the name of a person, such as
            "age=53 born=1971-4-2 number=778209".
        language: of the text, if it is not English and has a package (ISO 639-1).
    """

    title: str = ""
    degrees: tuple[str, ...] = ()
    kin: str = ""
    maiden: bool = False
    side: str = ""
    alias: str = ""
    another: bool = False
    pronoun: str = ""
    work: str = ""
    apart: bool = False
    guessed: bool = False
    role: str = ""
    reach: int = 0
    when: str = ""
    clause: int = 0
    sex: str = ""
    facts: str = ""
    language: str = ""


_NO_HINTS = Hints()


@dataclass(frozen=True, slots=True, order=True)
class MentionVariant:
    """A single mention during clustering. Two variants are equal if they are the same mention.

    Args:
        type: the entity type.
        words: the words as written.
        domain: the domain in which surrogates of staff and institutions are shared.
        patient: the patient of the record. It is "" if the record has none; such a record shares no surrogates.
        record: the record or note.
        field, start, end: its place in the record (offsets as in `Span`).
        hints: what the text around it says.
    """

    type: str
    words: str = hidden(repr=False)
    domain: str = ""
    patient: str = hidden(default="", repr=False)
    record: str = hidden(default="", repr=False)
    field: str = ""
    start: int = 0
    end: int = 0
    hints: Hints = hidden(default=_NO_HINTS, repr=False)

    @property
    def owner(self) -> str:
        """The patient whose mentions share surrogates, or the record if it names no patient."""
        return patient_scope(self.patient) if self.patient else f"record:{self.record}"


@dataclass(frozen=True, slots=True, order=True)
class Join:
    """Why a mention is the same person as another mention.

    Args:
        mention, other: the two mentions.
        reason: a key of `relex.cluster.reasons.REASONS`.
    """

    mention: MentionVariant = hidden(repr=False)
    other: MentionVariant = hidden(repr=False)
    reason: str


@dataclass(frozen=True, slots=True)
class Identity:
    """All mentions of one person, place, or organization. An identity has one surrogate.

    Args:
        id: its id; see `cluster`.
        group: what kind of thing it is.
        domain, scope: where it is valid. The scope is "" for the whole domain, else the `owner` of its variants.
        variants: sorted, at least one.
        attributes: what is known: `type`, `normal` (a normal form that distinguishes it from others in its scope) and,
            depending on the group, gender, locale, kin, name (the fullest form of the name), person (the id of the
            person it belongs to), and so on.
        joins: why the variants of a person are together, sorted: one join fewer than variants, and they connect all of
            them. Empty for other groups, and if a language model decided.
    """

    id: str
    group: Group
    domain: str
    scope: str = hidden(repr=False)
    variants: tuple[MentionVariant, ...] = hidden(repr=False)
    attributes: Mapping[str, str] = hidden(default_factory=dict, repr=False)
    joins: tuple[Join, ...] = hidden(default=(), repr=False)

    @property
    def fullest(self) -> str:
        """The fullest form of a person's name. For other groups, the longest way of writing."""
        return self.attributes.get("name") or max((v.words for v in self.variants), key=lambda w: (len(w), w))


@dataclass(frozen=True, slots=True)
class Surrogate:
    """The invented name of an identity: its parts, such as "given" and "street", and the version of its pool."""

    parts: Mapping[str, str] = hidden(repr=False)
    pool: str = ""


@dataclass(frozen=True, slots=True)
class RenderedSurrogate:
    """The replacement of one variant, and the parts of the surrogate that it shows."""

    text: str = hidden(repr=False)
    parts: tuple[str, ...] = ()
