"""Surrogates of ages and dates. They agree: a person's ages and birth date move by the same number of years."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

from incognote.operators.readers import LATEST_TWO_DIGIT_YEAR, OLDEST_TOLD, Meant, WrittenDate, ages, dates
from incognote.operators.timeline import around, written
from incognote.relex.cluster.timeline import age_at
from incognote.relex.cluster.values import age_of
from incognote.relex.generate.base import (
    Choices,
    Component,
    Draw,
    SurrogateGenerator,
    UsedSurrogates,
)
from incognote.relex.nouns import Identity, MentionVariant, RenderedSurrogate, Surrogate

_LINES = (18, 65, 75, OLDEST_TOLD + 1)
"""Adulthood, retirement, the limit of clinical scores such as CHA2DS2-VASc, and what Safe Harbor shows as 90+."""
_DECADES = "zero teens twenties thirties forties fifties sixties seventies eighties".split()
_THIRDS = ((4, "early"), (7, "mid"), (10, "late"))
_UNIT = re.compile(r"[\s-]*(?:years?|yrs?|y(?:\s*/\s*o)?|yo)\b\.?(?:[\s-]*olds?\b)?(?:\s+of\s+age)?", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_CENTURY = 100
_YEAR = 365.2425
_NEAR = 30  # days


def _move(identity: Identity) -> Component:
    """The component for the years by which all ages of a person are lowered."""
    return Component(identity.domain, identity.scope, "age", identity.attributes.get("bearer", _number(identity)))


def years(identity: Identity, choices: Choices, draw: Draw, taken: UsedSurrogates) -> int:
    """Return the years by which the ages of a person are lowered, and by which the birth date moves forward.

    It is 0 if the person is young, if every move would cross 18, 65, 75 or 90, or if ages are written as decades.
    """
    component = _move(identity)
    lives = [int(age) for age in (identity.attributes.get("lives") or _number(identity)).split() if age.isdecimal()]
    band = choices.band
    young = "young" in identity.attributes or min(lives, default=0) < 3 * band or choices.ages == "decade"
    moves = [] if young else [k for size in range(band, 0, -1) for k in (size, -size) if _may(lives, k)]
    moves = [k for k in moves if all(_an(age) == _an(age - k) for age in lives)] or moves
    days = _days(identity, choices, draw, taken)  # a birth date must not come out near itself
    moves = [k for k in moves if abs(days + k * _YEAR) >= _NEAR] or moves
    move = moves[draw.place(component) % len(moves)] if moves else 0
    # values of different components differ, so each one names its person
    return int(taken.keep(component, f"{move} {component.normal}").split()[0])


def _days(identity: Identity, choices: Choices, draw: Draw, taken: UsedSurrogates) -> int:
    """Return the days by which the dates of the scope move."""
    component = Component(identity.domain, identity.scope, "days", "")
    return int(taken.keep(component, str(draw.offset(identity.domain, identity.scope, choices.days))))


def _may(lives: list[int], years: int) -> bool:
    """Return True if no age would cross a line."""
    return all((age < line) == (age - years < line) for age in lives for line in _LINES)


def _an(number: int) -> bool:
    """Return True if "an" precedes the number: eight, eleven, eighteen, eighty."""
    return number in (8, 11, 18) or 80 <= number < 90


def _number(identity: Identity) -> str:
    """The age in years, or ""."""
    forms = (age_of(words) for words in sorted({v.words for v in identity.variants}))
    return next((form[0] for form in forms if form[1:] == ("year",)), "")


class Ages(SurrogateGenerator):
    """Ages: part `move`, the years by which all ages of the person are lowered.

    The birth date of the person moves by the same years, so ages and dates agree in every note. All ages above 89
    become 90+. Ages in months, weeks or days stay, and so do words like "toddler".
    """

    group = "AGE"
    may_repeat = True

    def named(self, identity: Identity) -> dict[str, Component]:
        return {"move": _move(identity)}

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        move = years(identity, self.choices, draw, taken)
        return Surrogate({"move": taken.holds(_move(identity)) or str(move)}, self.pools.version)

    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        words, form = variant.words, age_of(variant.words)
        if not form[0].isdecimal() or form[1] == "decade":
            return RenderedSurrogate(words)
        number = int(form[0])
        if self.choices.ages == "decade" and form[1] == "year" and 20 <= number <= OLDEST_TOLD:
            return _in_decade(words, decade(number))
        move = int(surrogate.parts["move"].split()[0]) if form[1] == "year" else 0
        moved = ages().moved(words, move)
        return None if moved is None else RenderedSurrogate(moved, ("move",))


def decade(years: int) -> str:
    """45 → mid-forties; above 89 → 90+."""
    if years > OLDEST_TOLD:
        return f"{OLDEST_TOLD + 1}+"
    third = next(name for below, name in _THIRDS if years % 10 < below)
    return f"{third}-{_DECADES[years // 10]}"


def _in_decade(words: str, coarse: str) -> RenderedSurrogate | None:
    match = _NUMBER.search(words)
    if match is None:
        return None
    unit = _UNIT.match(words, match.end())
    return RenderedSurrogate(words[: match.start()] + coarse + words[unit.end() if unit else match.end() :], ("move",))


class Dates(SurrogateGenerator):
    """Dates: part `days`, the offset of their patient, never zero; part `birth` of a birth date, its own offset.

    All intervals stay, except those to a birth date, which moves with the ages of its person. A weekday beside a date
    becomes the new date's weekday. A date is read as its identity says (`normal`: day, year, month, day; `order`: day
    first), so 03/04/2024 is the same day in every note of the patient. A date without a year moves from the day that
    the clusterer gave it (`day`, `cycle`).
    """

    group = "DATE"
    may_repeat = True

    def named(self, identity: Identity) -> dict[str, Component]:
        named = {"days": self.component(identity, "days", "")}
        if "bearer" in identity.attributes:
            named["birth"] = self.component(identity, "birth", identity.attributes["normal"])
            named["move"] = _move(identity)
        return named

    def generate(self, identity: Identity, draw: Draw, taken: UsedSurrogates) -> Surrogate:
        named = self.named(identity)
        days = _days(identity, self.choices, draw, taken)
        parts = {"days": str(days)}
        if birth := named.get("birth"):
            move = years(identity, self.choices, draw, taken)
            parts["move"] = taken.holds(named["move"]) or str(move)
            own = birth.normal.replace("\0", "x")  # so that January 11 and November 1 differ (`UsedSurrogates`)
            parts["birth"] = taken.keep(birth, f"{_birth(identity, days, move)} {own}")
        return Surrogate(parts, self.pools.version)

    def render(self, variant: MentionVariant, identity: Identity, surrogate: Surrogate) -> RenderedSurrogate | None:
        days = int(surrogate.parts.get("birth", surrogate.parts["days"]).split()[0])
        meant = _meant(identity)
        order = identity.attributes.get("order") == "day first"
        cues = frozenset(variant.hints.when.split())
        readings = list(_readings(variant.words, order, cues))
        read = next((one for one in readings if meant and _agrees(one, meant)), readings[0] if readings else None)
        if read is None:
            return None
        own = [part for part in read if not isinstance(part, str)]
        meanings = around(own, meant if meant and _agrees(read, meant) else own[0].alone())
        return RenderedSurrogate(written(read, meanings, days), ("days",))


def _birth(identity: Identity, days: int, years: int) -> int:
    """The days by which a birth date moves, such that the ages on the days of the notes change by exactly `years`.

    A birthday in a note stays the birthday.
    """
    meant = _meant(identity)
    if meant is None or meant.cycle or not identity.attributes.get("normal", "").startswith("day\0"):
        return days + round(years * _YEAR)
    notes, birthdays = (
        [dt.date.fromisoformat(day) for day in identity.attributes.get(name, "").split()]
        for name in ("notes", "birthdays")
    )
    wished = {(day + dt.timedelta(days)).timetuple()[1:3] for day in birthdays}
    moved = meant.day + dt.timedelta(days)
    day = moved.day - ((moved.month, moved.day) == (2, 29))
    moved = moved.replace(year=moved.year + years, day=day)

    def wrong(more: int) -> int:
        birth = moved + dt.timedelta(more)
        missed = 2 * len(wished - {birth.timetuple()[1:3]})
        aged = [(age_at(meant.day, note), age_at(birth, note + dt.timedelta(days))) for note in notes]
        return missed + sum(after != before - years for before, after in aged)

    more = min((0, 1, -1, 2, -2), key=lambda more: (wrong(more), abs(more)))
    return (moved - meant.day).days + more


def _readings(words: str, order: bool, cues: frozenset[str]) -> Iterator[list[WrittenDate | str]]:
    for latest in (LATEST_TWO_DIGIT_YEAR, LATEST_TWO_DIGIT_YEAR - _CENTURY):
        for day_first in (order, not order):
            read = dates().parse_all(words, day_first=day_first, latest=latest, around=cues)
            if read is not None:
                yield read


def _meant(identity: Identity) -> Meant | None:
    """The day that the identity means, as the clusterer found it, or from its normal form."""
    if day := identity.attributes.get("day"):
        return Meant(dt.date.fromisoformat(day), int(identity.attributes.get("cycle", "0")))
    parts = identity.attributes.get("normal", "").split("\0")
    if len(parts) == 4 and parts[0] == "day" and all(map(str.isdecimal, parts[1:])):
        return Meant(dt.date(*map(int, parts[1:])))
    return None


def _agrees(read: list[WrittenDate | str], meant: Meant) -> bool:
    """Return True if the first date of a reading can mean that day."""
    return not isinstance(read[0], str) and meant.day in read[0].near(meant.day)
