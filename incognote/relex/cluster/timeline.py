"""What the dates and ages of one patient mean: the day of each date, and the person whose age or birth it is.

The result is a function of the set of mentions, as everywhere in `relex.cluster`.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

from incognote.detectors.known.words import tokens
from incognote.operators.base import is_birth
from incognote.operators.readers import LATEST_TWO_DIGIT_YEAR, Meant, WrittenDate
from incognote.operators.readers import dates as reader
from incognote.operators.timeline import DateMention, note_day, resolve
from incognote.relex.cluster.grouping import by_key
from incognote.relex.cluster.kinship import kin_form
from incognote.relex.cluster.values import Form, age_of, day_first
from incognote.relex.nouns import MentionVariant

_FULL_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_LATEST_BIRTH = 2029
_CENTURY = 100
_FAMILY_SAYS = 5  # years by which a second birth date of the patient may differ from the usual one
_GENERATION = 12 * 365  # days
PATIENT = "patient"
_STRANGER = "stranger"
"""The bearer of an age that agrees with another person's birth date, which moves like the other dates."""
Part = tuple[Form, list[MentionVariant], dict[str, str]]
"""Normal form, variants, attributes."""


def age_at(birth: dt.date, day: dt.date) -> int:
    """Return the age in whole years on a day."""
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))


class Timeline:
    """The dates and ages of one owner.

    Args:
        dates, ages: all mentions of these groups in the owner's records.
    """

    def __init__(self, dates: Sequence[MentionVariant], ages: Sequence[MentionVariant]) -> None:
        self._dates, self._ages = sorted(set(dates)), sorted(set(ages))
        self._order = any(day_first(self._dates).values())

    def date_parts(self) -> list[Part]:
        """The days, months and years that are meant.

        Attributes: `order` (day first), `day` and `cycle` (a `Meant`), and for a birth those of `_life`, `notes` (the
        days of the owner's notes), and `birthdays` (the dates in them that are anniversaries).
        """
        parts = []
        for form, members in sorted(by_key(self._dates, self._form).items()):
            known = {"order": "day first"} if self._order else {}
            if meant := self._meant.get(members[0]):
                known |= {"day": meant.day.isoformat(), "cycle": str(meant.cycle)}
            bearers = {_relative(v) or PATIENT for v in members if self._is_birth(v)}
            if bearers:
                days = " ".join(sorted({day.isoformat() for day in self._days.values()}))
                birthdays = " ".join(sorted(self._anniversaries(meant.day))) if meant else ""
                known |= self._life(_one_of(bearers)) | {"notes": days, "birthdays": birthdays}
            parts.append((form, members, known))
        return parts

    def _anniversaries(self, birth: dt.date) -> set[str]:
        """The dates in the notes that are anniversaries of a birth."""
        return {
            meant.day.isoformat()
            for variant, meant in self._meant.items()
            if not meant.cycle and self._read[variant].dates[0].exact and meant.day.year > birth.year
            if (meant.day.month, meant.day.day) == (birth.month, birth.day) and not _typed_birth(variant)
        }

    def age_parts(self) -> list[Part]:
        """The ages, by person, number and unit. Attributes: `_life` of the person."""
        groups = by_key(self._ages, lambda v: (self._bearers[v], *age_of(v.words)))
        return [(form, members, self._life(form[0])) for form, members in sorted(groups.items())]

    def _life(self, bearer: str) -> dict[str, str]:
        """`bearer`: whose age or birth it is. `lives`: the person's ages in years. `young`: the ages stay."""
        known = {"bearer": bearer, "lives": " ".join(map(str, sorted(self._lives[bearer])))}
        units = {age_of(v.words)[1] for v in self._ages if self._bearers[v] == bearer and len(age_of(v.words)) > 1}
        fixed = bearer == _STRANGER or units & {"month", "week", "day", "hour"}
        return known | ({"young": "yes"} if fixed else {})

    @cached_property
    def _read(self) -> dict[MentionVariant, DateMention]:
        """The dates of each mention that can be read."""
        found = {v: dates for v in self._dates if (dates := self._parsed(v, LATEST_TWO_DIGIT_YEAR))}
        full = {dates[0].date for v, dates in found.items() if _FULL_YEAR.search(v.words)}
        read = {}
        for variant, dates in found.items():
            day = dates[0].date
            if day is not None and not _FULL_YEAR.search(variant.words) and day not in full:
                other = self._parsed(variant, LATEST_TWO_DIGIT_YEAR - _CENTURY)
                late = _typed_birth(variant) and day.year > _LATEST_BIRTH
                dates = other if other and (late or other[0].date in full) else dates
            cues = frozenset(variant.hints.when.split()) | ({"birth"} if _typed_birth(variant) else set())
            read[variant] = DateMention(dates, variant.start, variant.hints.clause, cues)
        return read

    def _parsed(self, variant: MentionVariant, latest: int) -> tuple[WrittenDate, ...]:
        read = reader().parse_all(variant.words, day_first=self._order, latest=latest)
        return tuple(part for part in read or () if not isinstance(part, str))

    @cached_property
    def _notes(self) -> Mapping[str, list[MentionVariant]]:
        """The readable dates of each record, in the order of its text."""
        notes = by_key(self._read, lambda v: v.record)
        return {record: sorted(own, key=lambda v: (v.field, v.start, v)) for record, own in notes.items()}

    @cached_property
    def _days(self) -> dict[str, dt.date]:
        """The day of each record that has one. If its only dates are the births of mother and child, the child's."""
        days = {}
        for record, own in self._notes.items():
            births = {one for v in own if "birth" in self._read[v].cues and (one := self._read[v].dates[0].date)}
            child = max(births) if births and (max(births) - min(births)).days > _GENERATION else None
            if day := note_day([self._read[v] for v in own]) or child:
                days[record] = day
        return days

    @cached_property
    def _meant(self) -> dict[MentionVariant, Meant]:
        """The day that the first date of each mention means."""
        usual = sorted(self._days.values())[len(self._days) // 2] if self._days else None
        return {
            variant: meant[0]
            for own in self._notes.values()
            for variant, meant in zip(own, resolve([self._read[v] for v in own], usual), strict=True)
        }

    def _form(self, variant: MentionVariant) -> Form:
        lows = tuple(tokens(variant.words).lows)
        mention, meant = self._read.get(variant), self._meant.get(variant)
        if mention is None or meant is None:
            return ("words", *lows)
        if not mention.dates[0].exact:
            return ("words", meant.day.isoformat(), *lows)
        year = "" if meant.cycle else str(meant.day.year)
        return ("day", year, str(meant.day.month), str(meant.day.day))

    def _is_birth(self, variant: MentionVariant) -> bool:
        """Return True for a birth date. One of the patient's must be near the usual one (`_births`)."""
        if not _typed_birth(variant):
            return False
        mention = self._read.get(variant)
        year = mention.dates[0].year if mention else None
        own = self._births.get(PATIENT) if year and not variant.hints.kin else None
        return not own or any(abs(birth.year - (year or 0)) <= _FAMILY_SAYS for birth in own)

    @cached_property
    def _births(self) -> dict[str, set[dt.date]]:
        """The complete birth dates of each person. The patient's are those near the usual one.

        The usual one is the one that is written most often and agrees with the most ages.
        """
        times: Counter[dt.date] = Counter()
        bearers: dict[dt.date, set[str]] = defaultdict(set)
        for variant, mention in self._read.items():
            if "birth" in mention.cues and (day := mention.dates[0].date):
                bearers[day].add(_relative(variant) or PATIENT)
                times[day] += 1
        ages = [(int(form[0]), v.record) for v in self._ages if (form := age_of(v.words))[1:] == ("year",)]
        for day in times:
            times[day] += sum(age == age_at(day, self._days[record]) for age, record in ages if record in self._days)
        births: dict[str, set[dt.date]] = defaultdict(set)
        for day, people in bearers.items():
            births[_one_of(people)].add(day)
        if own := births.get(PATIENT):
            usual = min(own, key=lambda day: (-times[day], day))
            births[PATIENT] = {day for day in own if abs(day.year - usual.year) <= _FAMILY_SAYS}
            births[_STRANGER] = own - births[PATIENT]
        return births

    @cached_property
    def _bearers(self) -> dict[MentionVariant, str]:
        """Whose age each mention is: the patient's, a relative's, or that of somebody unknown."""
        years = {v: int(form[0]) for v in self._ages if (form := age_of(v.words))[1:] == ("year",)}
        days = self._days.values()
        known = {age_at(birth, day) for birth in self._births.get(PATIENT, ()) for day in days}
        own = {age + more for age in known for more in (-1, 0, 1)}  # ages that the patient has in these records
        if not own:
            own = {age for v, age in years.items() if "current" in v.hints.when and not v.hints.kin}
        first: dict[str, MentionVariant] = {}
        for variant in sorted(self._ages, key=lambda v: (v.record, v.field, v.start, v)):
            first.setdefault(variant.record, variant)

        def bearer(variant: MentionVariant) -> str:
            age = years.get(variant)
            day = self._days.get(variant.record)
            if day and age not in known and age in {age_at(one, day) for one in self._births.get(_STRANGER, ())}:
                return _STRANGER
            if (relative := _relative(variant)) and age not in known:
                return relative
            current = "current" in variant.hints.when
            if age is None or age in own or (current and not self._births.get(PATIENT)):
                return PATIENT
            if "event" in variant.hints.when and own and age <= max(own):
                return PATIENT
            if not own and first[variant.record] == variant:
                return PATIENT
            aged = {who for who, births in self._births.items() if day and age in {age_at(one, day) for one in births}}
            return aged.pop() if len(aged) == 1 else f"other {age}"

        return {variant: bearer(variant) for variant in self._ages}

    @cached_property
    def _lives(self) -> dict[str, set[int]]:
        """The ages of each person in years, as stated and as the birth date gives them on the days of the notes."""
        lives: dict[str, set[int]] = defaultdict(set)
        for variant in self._ages:
            if (form := age_of(variant.words))[1:] == ("year",):
                lives[self._bearers[variant]].add(int(form[0]))
        for person, births in self._births.items():
            lives[person] |= {age_at(birth, day) for birth in births for day in self._days.values() if day >= birth}
        return lives


def _typed_birth(variant: MentionVariant) -> bool:
    """Return True if the type or the text says that it is a birth date."""
    return is_birth(variant.type) or "birth" in variant.hints.when.split()


def _one_of(bearers: set[str]) -> str:
    """The person that a birth date belongs to: the patient if any mention of it says so."""
    return PATIENT if PATIENT in bearers else min(bearers)


def _relative(variant: MentionVariant) -> str:
    return f"kin {kin_form(variant.hints.kin)}" if variant.hints.kin else ""
