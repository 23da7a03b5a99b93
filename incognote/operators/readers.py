"""The protocols with which a language's bundle reads dates, ages and places in the words of an identifier.

The parts `dates`, `ages` and `places` of a bundle implement these protocols. If a bundle lacks a part, the operators
write the label for identifiers of that kind.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from incognote.languages import language

OLDEST_TOLD = 89
"""Ages above it form one class under Safe Harbor, 45 CFR 164.514(b)(2)(i)(C)."""
LATEST_TWO_DIGIT_YEAR = 2039
"""A two-digit year is this year or one of the 99 years before it."""


STAND_IN_YEAR = 2001
"""The year of a date if nothing says its year. It is not a leap year. February 29 gets the year before it."""


@dataclass(frozen=True, slots=True)
class Meant:
    """The day that a written date means.

    Args:
        day: the day, or the middle of a vague date.
        cycle: 0, or the length of the stand-in year (365 or 366) if the year is unknown. Then the date moves around
            within that year, so the distances between all dates of the note stay the same.
    """

    day: dt.date
    cycle: int = 0

    def moved(self, days: int) -> dt.date:
        """The day that many days later, or earlier if negative."""
        if not self.cycle:
            return self.day + dt.timedelta(days)
        first = dt.date(self.day.year, 1, 1)
        return first + dt.timedelta(((self.day - first).days + days) % self.cycle)


class WrittenDate(Protocol):
    """A date as written in a text. Parts that are not written are None."""

    @property
    def year(self) -> int | None: ...

    @property
    def month(self) -> int | None: ...

    @property
    def day(self) -> int | None: ...

    @property
    def weekday(self) -> int | None:
        """The weekday, from Monday = 0."""

    @property
    def date(self) -> dt.date | None:
        """The calendar date, if it is written in full."""

    @property
    def exact(self) -> bool:
        """Whether it is a single day, with or without its year or month. A weekday on its own is not."""

    def near(self, anchor: dt.date) -> Sequence[dt.date]:
        """Return the days that it may mean around an anchor, sorted; only one if its year is written."""

    def alone(self) -> Meant:
        """Return what it means if no other date of the note helps."""

    def moved(self, days: int, meant: Meant | None = None) -> str:
        """Return the date `days` days later, in its own format.

        Args:
            meant: the day that it means, from `operators.timeline`. The default is `alone`.
        """


class WrittenAge(Protocol):
    """An age in whole years, from `low` to `high`."""

    @property
    def low(self) -> int: ...

    @property
    def high(self) -> int: ...

    @property
    def end(self) -> int:
        """Where the number ends in its phrase, or 0 if the phrase contains more that reveals the age."""

    def banded(self, width: int) -> str | None:
        """Return the band or bands of the age, `90+` above 89, or None for a range that crosses this limit."""

    def rewritten(self, phrase: str, coarse: str) -> str:
        """Return the phrase with the age replaced by the coarse one."""


class State(Protocol):
    """The state of a place, and its region."""

    @property
    def name(self) -> str: ...

    @property
    def region(self) -> str: ...


class DateReader(Protocol):
    """The part `dates`. `ADMISSION` matches the end of the text before a date of admission or visit."""

    ADMISSION: re.Pattern[str]

    def parse_all(
        self,
        text: str,
        *,
        day_first: bool = False,
        latest: int = LATEST_TWO_DIGIT_YEAR,
        around: frozenset[str] = frozenset(),
    ) -> list[WrittenDate | str] | None:
        """Return the dates in a text and the text between them, or None.

        Args:
            around: the cues of the date, from `cues`. They decide how a holiday is written.
        """

    def reads_day_first(self, text: str) -> bool | None:
        """Return True or False if a numeric date can only be read with the day first or second, else None."""

    def cues(self, before: str, behind: str) -> frozenset[str]:
        """Return what the text around a date says about it.

        Returns:
            Of these words: `visit` (a date of admission, visit or operation), `birth`, `future`, `past`, `range` (a
            range that ends after it begins here), `german` (a German word before it), `at` and `over` (the
            preposition before it).
        """


class AgeReader(Protocol):
    """The part `ages`."""

    def moved(self, phrase: str, years: int) -> str | None:
        """Return the phrase with each age lowered by that many years, `90+` above 89, or None if it cannot be."""

    def read_age(self, phrase: str) -> WrittenAge | None:
        """Return the age in a phrase, or None if it cannot be read."""


class PlaceReader(Protocol):
    """The part `places`."""

    def state_of(self, place: str) -> State | None:
        """Return the state that the words of a place name or imply, or None."""

    def state_named(self, word: str) -> State | None:
        """Return the state for a word that is known to be a state, or None."""

    def homes_of(self, town: str) -> tuple[str, ...]:
        """Return the US states (`US-OH`) and countries (`DE`) that have a town of this name, the largest town first.

        A star follows the home of a well-known town.
        """

    def towns_of(self, country: str) -> tuple[str, ...]:
        """Towns of a country, given by its code."""
        ...

    def zip3(self, code: str) -> str | None:
        """Return the first three digits of a postal code, 000 if too few people live there, or None otherwise."""


class _Nothing:
    """A reader that reads nothing, for a bundle that lacks a part."""

    ADMISSION = re.compile(r"(?!)")

    def parse_all(self, text: str, **how: object) -> None:
        return None

    def cues(self, before: str, behind: str) -> frozenset[str]:
        return frozenset()

    def moved(self, phrase: str, years: int) -> None:
        return None

    def read_nothing(self, text: str) -> None:
        return None

    def homes_of(self, town: str) -> tuple[str, ...]:
        return ()

    towns_of = homes_of
    reads_day_first = read_age = state_of = state_named = zip3 = read_nothing


_NOTHING = _Nothing()


def dates(code: str = "en") -> DateReader:
    """Return the reader of dates of a language. Raises MissingLanguage like `language`."""
    return cast(DateReader, language(code).part("dates") or _NOTHING)


def ages(code: str = "en") -> AgeReader:
    """Return the reader of ages of a language. Raises MissingLanguage like `language`."""
    return cast(AgeReader, language(code).part("ages") or _NOTHING)


def places(code: str = "en") -> PlaceReader:
    """Return the reader of places of a language. Raises MissingLanguage like `language`."""
    return cast(PlaceReader, language(code).part("places") or _NOTHING)
