"""What a language's bundle reads in the words of an identifier: dates, ages, places.

The parts `dates`, `ages` and `places` of a bundle serve the protocols below. A bundle without a part reads nothing of
that kind, so the operators write the label.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Protocol, cast

from incognote.languages import language

OLDEST_TOLD = 89
"""Ages above it form one class under Safe Harbor, 45 CFR 164.514(b)(2)(i)(C)."""
LATEST_TWO_DIGIT_YEAR = 2039
"""Two digits of a year mean this year or one of the 99 before it."""


class WrittenDate(Protocol):
    """A date as somebody wrote it. Parts that are not written are None."""

    @property
    def year(self) -> int | None: ...

    @property
    def month(self) -> int | None: ...

    @property
    def day(self) -> int | None: ...

    @property
    def date(self) -> dt.date | None:
        """The calendar date, where it is written in full."""

    def moved(self, days: int, year: int | None = None) -> str:
        """The date so many days later, in its own format; `year` is the year of a date without one."""


class WrittenAge(Protocol):
    """An age in whole years, from `low` to `high`."""

    @property
    def low(self) -> int: ...

    @property
    def high(self) -> int: ...

    @property
    def end(self) -> int:
        """Where the number ends within its phrase; 0 where the phrase holds more that tells."""

    def banded(self, width: int) -> str | None:
        """The band or bands it falls in, `90+` above 89; None for a range across that line."""

    def rewritten(self, phrase: str, coarse: str) -> str:
        """The phrase with the coarse age in the place of its own."""


class State(Protocol):
    """A state or region that a place lies in."""

    @property
    def name(self) -> str: ...

    @property
    def region(self) -> str: ...


class DateReader(Protocol):
    """The part `dates`. `ADMISSION` matches the end of what stands in front of a date of admission or visit."""

    ADMISSION: re.Pattern[str]

    def parse_all(
        self, text: str, *, day_first: bool = False, latest: int = LATEST_TWO_DIGIT_YEAR
    ) -> list[WrittenDate | str] | None:
        """The date in a text, or the two of a range and what joins them; None where it is none."""

    def reads_day_first(self, text: str) -> bool | None:
        """True or False where a numeric date can only be read with its day first or second, else None."""


class AgeReader(Protocol):
    """The part `ages`."""

    def read_age(self, phrase: str) -> WrittenAge | None:
        """The age in a phrase; None where it cannot be read."""


class PlaceReader(Protocol):
    """The part `places`."""

    def state_of(self, place: str) -> State | None:
        """The state that the words of a place name or imply."""

    def state_named(self, word: str) -> State | None:
        """The state that a word known to be a state means."""

    def zip3(self, code: str) -> str | None:
        """The first three digits of a postal code, 000 where too few people live there; None for anything else."""


class _Nothing:
    """Reads nothing: of a bundle that lacks a part."""

    ADMISSION = re.compile(r"(?!)")

    def parse_all(self, text: str, *, day_first: bool = False, latest: int = LATEST_TWO_DIGIT_YEAR) -> None:
        return None

    def read_nothing(self, text: str) -> None:
        return None

    reads_day_first = read_age = state_of = state_named = zip3 = read_nothing


_NOTHING = _Nothing()


def dates(code: str = "en") -> DateReader:
    """What reads the dates of a language; MissingLanguage as `language` raises it."""
    return cast(DateReader, language(code).part("dates") or _NOTHING)


def ages(code: str = "en") -> AgeReader:
    """What reads the ages of a language; MissingLanguage as `language` raises it."""
    return cast(AgeReader, language(code).part("ages") or _NOTHING)


def places(code: str = "en") -> PlaceReader:
    """What reads the places of a language; MissingLanguage as `language` raises it."""
    return cast(PlaceReader, language(code).part("places") or _NOTHING)
