"""What an operator is, and what it may know of the text around a span."""

from __future__ import annotations

import datetime as dt
import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from sys import intern
from typing import Any, ClassVar

from incognote.keys import Keyring
from incognote.nouns import Span, Text
from incognote.operators.readers import LATEST_TWO_DIGIT_YEAR, DateReader, State, WrittenDate, dates, places
from incognote.schemas.catalogue import catalogue
from incognote.schemas.operatorfacts import KeyedBy, OperatorFacts, operator_facts

_CUE_AT_MOST = 32  # characters in front of a date in which the document may call it an admission
_GAP = re.compile(r"[\s,(]{1,4}\Z")
_LATEST_BIRTH = 2029  # two digits of a birth year mean a past one; '30 is 1930 until a document says it is later


@dataclass(frozen=True)
class OperatorContext:
    """The surroundings of a span.

    Attributes:
        text: the original.
        spans: all spans of this text, disjoint and sorted.
        keyring: for keyed operators.
        domain: who shares hashes.
        patient: the subject; None where none was given.
        served: the type a policy serves a type as (`Policy.serves`).
        language: of the text, ISO 639-1: its bundle reads the dates, ages and places.
        surrogates: what the loop of relexicalization says stands for a span, and the id of its identity.
        anchor: the date that relative dates count from; None takes the document's own admission, where it tells one.
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
        """The date in a span, or the two of a range and what joins them; None where it is none we can write again.

        Args:
            day_first: how an ambiguous numeric date is read where this document does not tell.
        """
        latest = LATEST_TWO_DIGIT_YEAR
        if is_birth(span.type):
            latest = self.latest_year or _LATEST_BIRTH
        order = day_first if self._day_first is None else self._day_first
        read = self._reader.parse_all
        return read(span.text, day_first=order, latest=latest) or read(span.words, day_first=order, latest=latest)

    def anchored(self, day_first: bool) -> dt.date | None:
        """The given anchor, else the first full date that the document calls an admission, a visit or an operation."""
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
        """The year the document speaks from: the anchor's, or the latest of its dates that is no date of birth."""
        years = [self.anchor.year] if self.anchor else []
        for span in self._dates:
            if not is_birth(span.type):
                read = [part for part in self._reader.parse_all(span.words) or () if not isinstance(part, str)]
                years += [written.year for written in read if written.year is not None]
        return max(years, default=None)

    @cached_property
    def _day_first(self) -> bool | None:
        """What the unambiguous numeric dates of the document say, where they agree."""
        told = {self._reader.reads_day_first(span.words) for span in self._dates} - {None}
        return told.pop() if len(told) == 1 else None

    @property
    def _reader(self) -> DateReader:
        return dates(self.language)

    @cached_property
    def _dates(self) -> tuple[Span, ...]:
        return tuple(span for span in self.spans if is_date(span.type))


class Operator(ABC):
    """A stateless way to replace a span, such as a label or a keyed hash.

    What policies know of ours stands in `schemas/operators.toml`; one of an installed package declares it.
    """

    name: ClassVar[str]
    declared: ClassVar[OperatorFacts]
    """Of an operator that an installed package adds."""

    @property
    def facts(self) -> OperatorFacts:
        """What a policy knows of it."""
        return operator_facts()[self.name]

    @property
    def keyed_by(self) -> KeyedBy:
        """Whose key decides the value."""
        return self.facts.keyed_by

    @property
    def derived(self) -> bool:
        """Whether the value is computed from the individual's data."""
        return self.facts.derived

    @abstractmethod
    def replace(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str | None:
        """What stands in the span's place; None to leave it as it is."""

    def extent(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> tuple[int, int]:
        """Start and end of what is replaced: the span, or more where the replacement takes in a neighbouring word."""
        return span.start, span.end

    def identity(self, span: Span, context: OperatorContext) -> str | None:
        """The id of the identity whose surrogate is written; None for an operator that knows none."""
        return None

    def param(self, params: Mapping[str, Any], name: str) -> Any:
        """A parameter, or its default."""
        return params.get(name, self.facts.params[name].default)


def label(span: Span, context: OperatorContext) -> str:
    """[TYPE], of the type the policy serves the span as: what an operator writes where it has no better."""
    return intern(f"[{context.served(span.type) or span.type}]")  # one object for all spans of a type


def is_date(entity_type: str) -> bool:
    """Whether a type is a kind of date."""
    return "DATE" in catalogue().lineage(entity_type)


def is_birth(entity_type: str) -> bool:
    """Whether a type is a date of birth."""
    return entity_type == "BIRTH_DATE_TIME"


def state_at(span: Span, context: OperatorContext) -> State | None:
    """The state that a place, institution or address names or implies, or that is written next to it; else None."""
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
