"""The nouns of relexicalization, immutable. Words of a note never show in a repr."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as hidden
from typing import Literal

from incognote.nouns import patient_scope

Group = Literal["PERSON", "PLACE", "ORG", "CONTACT", "ID", "DATE", "AGE", "OCCUPATION", "OTHER"]


@dataclass(frozen=True, slots=True, order=True)
class Hints:
    """What stands around a mention and tells of its bearer.

    Args:
        title: the title right before it, folded ("dr", "mrs").
        degrees: degrees right behind it, folded ("md", "np"), sorted.
        kin: the kin word it hangs on ("his wife, Eleanor"), folded.
        maiden: it is said to be a name of birth or one given up.
        side: the generation the kin word tells, seen from the patient: "above", "child", "grandchild".
        alias: the words and marks between it and the name before, where they say that both are one person's.
        another: it is said to be another bearer of a name spoken of.
        apart: it is said to be somebody else than whoever is named before it (the sister of Dr. Ruiz).
        pronoun: "female" or "male", by a pronoun in brackets right behind.
        work: the field of work said beside it ("cardiology"), folded.
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


_NO_HINTS = Hints()


@dataclass(frozen=True, slots=True, order=True)
class MentionVariant:
    """One mention in clustering. Two variants are equal if they are the same mention.

    Args:
        type: the entity type.
        words: the words as they stand.
        domain: who shares surrogates of staff and institutions.
        patient: whose record it is; "" where the record has none, which then stands alone.
        record: the record or note.
        field, start, end: where in it (offsets as of `Span`).
        hints: what stands around it.
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
        """Whose mentions share surrogates in the patient's scope: the patient, or the record where none is named."""
        return patient_scope(self.patient) if self.patient else f"record:{self.record}"


@dataclass(frozen=True, slots=True)
class Identity:
    """All mentions of one person, place or organization. An identity has one surrogate.

    Args:
        id: a name for it; see `cluster`.
        group: what kind of thing it is.
        domain, scope: where it lives; the scope is "" for the whole domain, else the `owner` of its variants.
        variants: sorted, at least one.
        attributes: what is known: `type`, `normal` (a normal form that tells it from others of its scope) and, by
            group, gender, locale, kin, name (the fullest way it is written), person (the id of the bearer) ….
    """

    id: str
    group: Group
    domain: str
    scope: str = hidden(repr=False)
    variants: tuple[MentionVariant, ...] = hidden(repr=False)
    attributes: Mapping[str, str] = hidden(default_factory=dict, repr=False)

    @property
    def fullest(self) -> str:
        """The name a person is written by most fully; of others the longest way of writing."""
        return self.attributes.get("name") or max((v.words for v in self.variants), key=lambda w: (len(w), w))


@dataclass(frozen=True, slots=True)
class Surrogate:
    """The invented name of an identity: its parts, such as "given" and "street", and the version of its pool."""

    parts: Mapping[str, str] = hidden(repr=False)
    pool: str = ""


@dataclass(frozen=True, slots=True)
class RenderedSurrogate:
    """What stands in place of one variant, and the parts of the surrogate that it shows."""

    text: str = hidden(repr=False)
    parts: tuple[str, ...] = ()
