"""The base class of operators, and the context of a span that they may use."""

from __future__ import annotations

import datetime as dt
import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from sys import intern
from typing import Any, ClassVar

from incognote.keys import Keyring
from incognote.nouns import Span, Text
from incognote.operators.readers import LATEST_TWO_DIGIT_YEAR, DateReader, Meant, State, WrittenDate, dates, places
from incognote.operators.timeline import DateMention, resolve
from incognote.operators.timeline import context as context_of
from incognote.schemas.catalogue import catalogue
from incognote.schemas.operatorfacts import KeyedBy, OperatorFacts, operator_facts

_CUE_AT_MOST = 32  # characters before a date that are searched for words such as "admitted"
_GAP = re.compile(r"[\s,(]{1,4}\Z")
_LATEST_BIRTH = 2029  # a two-digit birth year is in the past: '30 is 1930 unless the document has a later date


@dataclass(frozen=True)
class OperatorContext:
    """The context of a span.

    Attributes:
        text: the original text.
        spans: all spans of this text, disjoint and sorted.
        keyring: the keyring for keyed operators.
        domain: the domain that shares hashes.
        patient: the subject, or None if none was given.
        served: maps a type to the type whose choice the policy uses (`Policy.serves`).
        language: the language of the text (ISO 639-1). Its bundle reads the dates, ages and places.
        surrogates: the surrogate and identity id of each span, from the relexicalization loop.
        anchor: the date that relative dates count from. None: the document's own admission date, if it has one.
    """

    text: Text = field(repr=False)
    spans: tuple[Span, ...] = field(repr=False)
    keyring: Keyring
    domain: str
    patient: str | None = field(repr=False)
    served: Callable[[str], str | None] = field(repr=False)
    anchor: dt.date | None = field(default=None, repr=False)
    surrogates: Mapping[Span, tuple[str, str]] = field(default_factory=dict, repr=False)
    language: str = "en"

    def read_dates(self, span: Span, day_first: bool) -> list[WrittenDate | str] | None:
        """Return the date in a span, or both dates of a range and the text between them, or None if unreadable.

        Args:
            span: the span.
            day_first: how to read an ambiguous numeric date if the other dates of the document do not decide.
        """
        latest = LATEST_TWO_DIGIT_YEAR
        if is_birth(span.type):
            latest = self.latest_year or _LATEST_BIRTH
        order = day_first if self._day_first is None else self._day_first
        read, around = self._reader.parse_all, self._around(span)[1]
        for text in (span.text, span.words):
            if found := read(text, day_first=order, latest=latest, around=around):
                return found
        return None

    def meant(self, span: Span, read: Sequence[WrittenDate | str], day_first: bool) -> tuple[Meant, ...]:
        """Return what each date in a span means, from all dates of the document (`operators.timeline`).

        Args:
            span: a span.
            read: its dates, from `read_dates`.
            day_first: as in `read_dates`.
        """
        if day_first not in self._meanings:
            spans = [(own, dates) for own in self._dates if (dates := self.read_dates(own, day_first))]
            meant = resolve([self._mention(*each) for each in spans], self.anchor)
            self._meanings[day_first] = {own: each for (own, _), each in zip(spans, meant, strict=True)}
        alone = tuple(one.alone() for one in read if not isinstance(one, str))
        return self._meanings[day_first].get(span, alone)

    @cached_property
    def _meanings(self) -> dict[bool, dict[Span, tuple[Meant, ...]]]:
        """What the dates of the document mean, by `day_first`."""
        return {}

    def _mention(self, span: Span, read: Sequence[WrittenDate | str]) -> DateMention:
        line, cues = self._around(span)
        cues |= {"birth"} if is_birth(span.type) else set()
        return DateMention(tuple(one for one in read if not isinstance(one, str)), span.start, line, cues)

    def _around(self, span: Span) -> tuple[int, frozenset[str]]:
        return context_of(self._reader, self.text.content, span.start, span.end)

    def anchored(self, day_first: bool) -> dt.date | None:
        """Return the anchor, or else the first full date that the document calls an admission, visit or operation."""
        if self.anchor is not None:
            return self.anchor
        for span in self._dates:
            before = self.text.content[max(0, span.start - _CUE_AT_MOST) : span.start]
            if not is_birth(span.type) and self._reader.ADMISSION.search(before):
                read = self.read_dates(span, day_first)
                if read and not isinstance(read[0], str) and read[0].date:
                    return read[0].date
        return None

    @cached_property
    def latest_year(self) -> int | None:
        """The year of the document: the latest year of the anchor and of all dates that are not dates of birth."""
        years = [self.anchor.year] if self.anchor else []
        for span in self._dates:
            if not is_birth(span.type):
                read = [part for part in self._reader.parse_all(span.words) or () if not isinstance(part, str)]
                years += [written.year for written in read if written.year is not None]
        return max(years, default=None)

    @cached_property
    def _day_first(self) -> bool | None:
        """Whether the unambiguous numeric dates of the document have the day first; None if they do not agree."""
        orders = {self._reader.reads_day_first(span.words) for span in self._dates} - {None}
        return orders.pop() if len(orders) == 1 else None

    @property
    def _reader(self) -> DateReader:
        return dates(self.language)

    @cached_property
    def _dates(self) -> tuple[Span, ...]:
        return tuple(span for span in self.spans if is_date(span.type))


class Operator(ABC):
    """A stateless way to replace a span, such as a label or a keyed hash.

    The facts that policies need about built-in operators are in `schemas/operators.toml`. An operator of an installed
    package declares them in `declared`.
    """

    name: ClassVar[str]
    declared: ClassVar[OperatorFacts]
    """The facts of an operator that an installed package adds."""

    @property
    def facts(self) -> OperatorFacts:
        """The facts that a policy needs about the operator."""
        return operator_facts()[self.name]

    @property
    def keyed_by(self) -> KeyedBy:
        """Whether the value depends on no key, the domain's key, or the patient."""
        return self.facts.keyed_by

    @property
    def derived(self) -> bool:
        """Whether the value is computed from the individual's data."""
        return self.facts.derived

    @abstractmethod
    def replace(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str | None:
        """Return the replacement for the span, or None to leave it unchanged."""

    def extent(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> tuple[int, int]:
        """Return the start and end of the replaced stretch: the span, or more if it includes a neighboring word."""
        return span.start, span.end

    def identity(self, span: Span, context: OperatorContext) -> str | None:
        """Return the id of the identity whose surrogate is written, or None for an operator without identities."""
        return None

    def param(self, params: Mapping[str, Any], name: str) -> Any:
        """Return a parameter, or its default."""
        return params.get(name, self.facts.params[name].default)


def label(span: Span, context: OperatorContext) -> str:
    """Return [TYPE] with the type that the policy uses for the span. Operators write it if they have nothing better."""
    own = span.type in catalogue() and catalogue()[span.type].pixels  # a signature is no name
    served = None if own else context.served(span.type)
    return intern(f"[{served or span.type}]")  # one object for all spans of a type


def is_date(entity_type: str) -> bool:
    """Whether a type is a kind of date."""
    return "DATE" in catalogue().lineage(entity_type)


def is_birth(entity_type: str) -> bool:
    """Whether a type is a date of birth."""
    return entity_type == "BIRTH_DATE_TIME"


def state_at(span: Span, context: OperatorContext) -> State | None:
    """Return the state that a place, institution or address names or implies, or that follows it, or None."""
    read = places(context.language)
    if span.type == "STATE":
        return read.state_named(span.text)
    own = read.state_of(span.text)
    if own is not None:
        return own
    after = bisect_left(context.spans, span.end, key=lambda other: other.start)
    if after == len(context.spans) or context.spans[after].type != "STATE":
        return None
    gap = context.text.content[span.end : context.spans[after].start]
    return read.state_named(context.spans[after].text) if _GAP.match(gap) else None
