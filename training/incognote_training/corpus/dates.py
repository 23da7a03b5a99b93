"""Dates in every format. A document has a habit, and departs from it now and then as writers do."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

_MONTHS = "January February March April May June July August September October November December".split()
_SHORT = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_ORDINALS = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}
_SPOKEN = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth "
    "twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
).split()
_HOLIDAYS = (
    "Christmas;Christmas Eve;Christmas Day;Thanksgiving;Easter;Memorial Day;Labor Day;the Fourth of July;July 4th;"
    "New Year's;New Year's Eve;Halloween;Mother's Day;Father's Day;Easter Sunday;Ramadan;Eid;Diwali;Passover;"
    "Yom Kippur;Hanukkah;Lunar New Year;Tet;Good Friday;Boxing Day;Columbus Day;Veterans Day;St. Patrick's Day;"
    "Valentine's Day;Canada Day;Bank Holiday Monday;Super Bowl Sunday;Juneteenth;Holi;Orthodox Easter;Ash Wednesday;"
    "Lent"
).split(";")

HABITS = {
    "us": "{m}/{d}/{y} {mm}/{dd}/{y} {mm}/{dd}/{yy} {m}/{d}/{yy} {mm}-{dd}-{y} {m}-{d}-{yy} {Mon}_{d},_{y} "
    "{Month}_{d},_{y} {mm}/{dd}/{y} {dd}-{MON}-{y} {y}-{mm}-{dd}",
    "eu": "{dd}/{mm}/{y} {d}/{m}/{yy} {dd}.{mm}.{y} {d}.{m}.{y} {d}_{Month}_{y} {d}_{Mon}_{y} {dd}-{mm}-{y} "
    "{dd}-{Mon}-{yy} {y}-{mm}-{dd} {dd}-{MON}-{y} {d}th_{Month}_{y} {dd}/{mm}/{yy}",
    "iso": "{y}-{mm}-{dd} {y}/{mm}/{dd} {y}.{mm}.{dd} {y}{mm}{dd} {dd}{MON}{y} {dd}{MON}{yy}",
}
_PROSE = {
    "us": "{Month}_{d} {Month}_{d},_{y} {m}/{d} {m}/{d} {Mon}_{d} {Month}_{d}th {Mon}._{d} {m}/{d}/{yy} {Day}_{m}/{d} "
    "{Day},_{Month}_{d} the_{d}th_of_{Month} {Mon}_{d}_{y} {Month}_{spoken}",
    "eu": "{d}_{Month} {d}_{Month}_{y} {d}/{m} {d}_{Mon} {d}th_{Month} {dd}/{mm} {d}.{m}. {Day}_{d}_{Month} "
    "{d}th_of_{Month} {d}/{m}/{yy} {dd}.{mm}.{yy} the_{spoken}_of_{Month}",
    "iso": "{mm}-{dd} {y}-{mm}-{dd} {d}_{Mon} {mm}/{dd} {dd}{MON} {Mon}_{d},_{y}",
}


class Habit:
    """How one document writes its dates."""

    def __init__(self, random: Random) -> None:
        self.region = random.choices(("us", "eu", "iso"), cum_weights=(0.58, 0.9, 1.0))[0]
        self.form = random.choice(HABITS[self.region].split())
        self.prose = random.choice(_PROSE[self.region].split())

    def full(self, day: date, random: Random) -> str:
        """A date as in a header."""
        return shaped(self.form if random.random() < 0.94 else random.choice(HABITS[self.region].split()), day)

    def told(self, day: date, random: Random) -> str:
        """A date as in a sentence."""
        chance = random.random()
        if chance < 0.3:
            return self.full(day, random)
        return shaped(self.prose if chance < 0.8 else random.choice(_PROSE[self.region].split()), day)


def shaped(form: str, day: date) -> str:
    """A day in a format, with underscores for spaces."""
    month, number = _MONTHS[day.month - 1], day.day
    form = form.replace("{d}th", f"{number}{_ORDINALS.get(number, 'th')}")
    return form.format(
        d=number, dd=f"{number:02}", m=day.month, mm=f"{day.month:02}", y=day.year, yy=f"{day.year % 100:02}",
        Month=month, Mon=_SHORT[day.month - 1], MON=_SHORT[day.month - 1].upper(), Day=_DAYS[day.weekday()],
        spoken=_SPOKEN[number - 1],
    ).replace("_", " ")  # fmt: skip


def month_and_year(day: date, random: Random) -> str:
    """A month with its year."""
    month, short = _MONTHS[day.month - 1], _SHORT[day.month - 1]
    number, late, full = day.month, f"{day.year % 100:02}", day.year
    forms = (f"{month} {full}", f"{month} {full}", f"{short} {full}", f"{number}/{full}", f"{month} of {full}",
             f"{number:02}/{full}", f"{short} '{late}", f"{number}/{late}", f"{month}, {full}")  # fmt: skip
    return random.choice(forms)


def month(day: date, random: Random) -> str:
    """A month's name."""
    return random.choice((_MONTHS[day.month - 1], _MONTHS[day.month - 1], _SHORT[day.month - 1]))


def year(day: date, random: Random) -> str:
    """A year."""
    chance = random.random()
    if chance < 0.93:
        return str(day.year)
    return f"'{day.year % 100:02}" if chance < 0.98 else f"{day.year // 10 * 10}s"


def holiday(random: Random) -> str:
    """A named day."""
    return random.choice(_HOLIDAYS)


def weekday(day: date) -> str:
    """The weekday's name."""
    return _DAYS[day.weekday()]


def stamp(day: date, random: Random) -> str:
    """A date combined with a time of day."""
    clock = f"{random.randrange(24):02}:{random.randrange(60):02}"
    second = f"{random.randrange(60):02}"
    compact = clock.replace(":", "")
    zone = random.choice(("Z", "-05:00", "+01:00", "+00:00", "", ".000Z"))
    joined = f"{day:%Y%m%d}{compact}"
    forms = (f"{day:%Y-%m-%d}T{clock}:{second}{zone}", f"{day:%Y-%m-%d} {clock}:{second}", f"{joined}{second}", joined,
             f"{day:%m/%d/%Y} {clock}", f"{joined}{second}-0500", f"{day:%d-%b-%Y} {clock}")  # fmt: skip
    return random.choice(forms)


def compact_stamp(day: date, random: Random) -> str:
    """A timestamp in HL7 format."""
    tail = random.choice(
        (
            "",
            f"{random.randrange(24):02}{random.randrange(60):02}",
            f"{random.randrange(24):02}{random.randrange(60):02}00",
        )
    )
    return f"{day:%Y%m%d}{tail}"


def iso_stamp(day: date, random: Random) -> str:
    """A timestamp in FHIR format."""
    zone = random.choice(("Z", "-05:00", "+02:00", "+11:00"))
    return f"{day:%Y-%m-%d}T{random.randrange(24):02}:{random.randrange(60):02}:{random.randrange(60):02}{zone}"


def shifted(day: date, days: int) -> date:
    """The day that many days later."""
    return day + timedelta(days=days)
