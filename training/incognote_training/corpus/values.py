"""Values made from a document's facts: ages, other dates, numbers, values made from names, and prose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from random import Random
from typing import Protocol

from incognote_training.corpus import ages, dates
from incognote_training.corpus.grammar import Piece, Template, expand
from incognote_training.corpus.people import Person
from incognote_training.corpus.signs import signs


class Facts(Protocol):
    """The facts that values are made from: a document's people, day, and numbers (`corpus.scene`)."""

    random: Random
    prose: Callable[[Random, str, bool], Template | None] | None
    sex: str
    habit: dates.Habit
    months: int
    day: date
    born: date
    values: dict[str, str]

    @property
    def years(self) -> int: ...

    def person(self, key: str) -> Person: ...

    def city(self) -> str: ...

    def fill(self, name: str, argument: str) -> Iterator[Piece]: ...


def _range(argument: str) -> tuple[str, str]:
    low, _, high = argument.partition("-")
    return low, high


def _number(scene: Facts, argument: str) -> Iterator[Piece]:
    low, high = _range(argument)
    yield Piece(str(scene.random.randint(int(low), int(high))))


def _decimal(scene: Facts, argument: str) -> Iterator[Piece]:
    low, high = _range(argument)
    digits = len(low.partition(".")[2])
    yield Piece(f"{scene.random.uniform(float(low), float(high)):.{digits}f}")


def _other_age(scene: Facts, argument: str) -> Iterator[Piece]:
    low, high = _range(argument or "18-90")
    yield Piece(ages.bare(scene.random.randint(int(low), int(high)), scene.random), "AGE")


def _other_old(scene: Facts, argument: str) -> Iterator[Piece]:
    low, high = _range(argument or "18-90")
    yield Piece(ages.old(scene.random.randint(int(low), int(high)), 0, scene.random), "AGE")


def _age_man(scene: Facts, argument: str) -> Iterator[Piece]:
    random, years = scene.random, scene.years
    if years >= 2 and random.random() < 0.2:
        yield from _age_short(scene, argument)
        return
    yield Piece(ages.old(years, scene.months, random), "AGE")
    female = scene.sex == "F"
    words: tuple[str, ...]
    if years < 2:
        words = ("female", "girl", "infant", "baby girl") if female else ("male", "boy", "infant", "baby boy")
    elif years < 16:
        words = ("female", "girl", "girl") if female else ("male", "boy", "boy")
    else:
        women, men = ("female", "woman", "lady", "F", "female"), ("male", "man", "gentleman", "M", "male")
        words = women if female else men
    yield Piece(" " + random.choice(words))


def _age_short(scene: Facts, argument: str) -> Iterator[Piece]:
    if scene.years < 2:
        yield Piece(ages.lone(scene.years, scene.months, scene.random), "AGE")
        return
    letter = scene.sex if scene.random.random() < 0.85 else scene.sex.lower()
    yield Piece(f"{scene.years}{scene.random.choice(('', '', 'y', 'yo', ' yo '))}{letter}", "AGE")


def _bare(scene: Facts, argument: str) -> Iterator[Piece]:
    small = scene.years < 2
    yield Piece(ages.lone(0, scene.months, scene.random) if small else ages.bare(scene.years, scene.random), "AGE")


def _birth(scene: Facts, argument: str) -> Iterator[Piece]:
    if argument == "hl7":
        yield Piece(f"{scene.born:%Y%m%d}", "BIRTH_DATE_TIME")
    elif argument == "iso":
        yield Piece(scene.born.isoformat(), "BIRTH_DATE_TIME")
    elif argument == "p" and scene.random.random() < 0.6:
        form = "{Month}_{d},_{y} {Month}_{d}th,_{y} {d}_{Month}_{y} {d}th_of_{Month}_{y} {Month}_{spoken}_{y}"
        yield Piece(dates.shaped(scene.random.choice(form.split()), scene.born), "BIRTH_DATE_TIME")
    else:
        yield Piece(scene.habit.full(scene.born, scene.random), "BIRTH_DATE_TIME")


def _other_birth(scene: Facts, argument: str) -> Iterator[Piece]:
    born = dates.shifted(scene.day, -scene.random.randint(300, 34000))
    yield Piece(scene.habit.full(born, scene.random), "BIRTH_DATE_TIME")


def _death(scene: Facts, argument: str) -> Iterator[Piece]:
    day = dates.shifted(scene.day, -scene.random.randint(1, 9000 if argument == "y" else 40))
    made = dates.year(day, scene.random) if argument == "y" else scene.habit.told(day, scene.random)
    yield Piece(made, "DEATH_DATE_TIME")


def _holiday(scene: Facts, argument: str) -> Iterator[Piece]:
    named = dates.holiday(scene.random)
    if named.startswith("the "):
        yield Piece("the ")
        named = named[4:]
    yield Piece(named + (f" {scene.day.year - 1}" if scene.random.random() < 0.12 else ""), "DATE")


def _clock(scene: Facts, argument: str) -> Iterator[Piece]:
    hour, minute = scene.random.randrange(24), scene.random.randrange(60)
    half = "am" if hour < 12 else "pm"
    short, plain = f"{hour % 12 or 12}", f"{hour:02}:{minute:02}"
    forms = (plain, plain, f"{hour:02}{minute:02}", f"{hour:02}{minute:02}h", f"{short}:{minute:02} {half}",
             f"{short}:{minute:02} {half.upper()}", f"{short}{half}")  # fmt: skip
    yield Piece(scene.random.choice(forms))


def _weekday(scene: Facts, argument: str) -> Iterator[Piece]:
    yield Piece(dates.weekday(dates.shifted(scene.day, scene.random.randrange(7))))


def _email(scene: Facts, argument: str) -> Iterator[Piece]:
    slug = scene.person(argument or "pt").slug(scene.random)
    domain = "".join(text for text, _ in scene.fill("domain-work" if argument[:2] in ("dr", "rn") else "domain", ""))
    yield Piece(f"{slug}@{domain}", "EMAIL")


def _user(scene: Facts, argument: str) -> Iterator[Piece]:
    slug = scene.person(argument or "pt").slug(scene.random).replace(".", "")
    yield Piece(
        scene.random.choice((slug, slug, slug.upper(), slug + signs("##", scene.random), "@" + slug)), "USERNAME"
    )


def _slug(scene: Facts, argument: str) -> Iterator[Piece]:
    person = scene.person(argument or "pt")
    yield Piece(person.slug(scene.random), person.kind)


def _city(scene: Facts, argument: str) -> Iterator[Piece]:
    key = "city" + argument
    if key not in scene.values or argument == "*":
        scene.values[key] = scene.city()
    yield Piece(scene.values[key], "CITY")


def _prose(scene: Facts, argument: str) -> Iterator[Piece]:
    talk = argument == "talk" or (argument == "any" and scene.random.random() < 0.3)
    template = scene.prose(scene.random, scene.sex, talk) if scene.prose is not None else None
    if template is None:
        yield from scene.fill("narrative", "")
    else:
        yield from expand(template, scene.random, scene.fill)


def _old(scene: Facts, argument: str) -> Iterator[Piece]:
    yield Piece(ages.old(scene.years, scene.months, scene.random), "AGE")


def _lone(scene: Facts, argument: str) -> Iterator[Piece]:
    yield Piece(ages.lone(scene.years, scene.months, scene.random), "AGE")


def _decade(scene: Facts, argument: str) -> Iterator[Piece]:
    yield Piece(ages.decade(scene.years, scene.random), "AGE")


def _other_lone(scene: Facts, argument: str) -> Iterator[Piece]:
    yield Piece(ages.lone(scene.random.randint(20, 90), 0, scene.random), "AGE")


def _other_decade(scene: Facts, argument: str) -> Iterator[Piece]:
    yield Piece(ages.decade(scene.random.randint(30, 95), scene.random), "AGE")


def _man(scene: Facts, argument: str) -> Iterator[Piece]:
    if scene.years < 16:
        yield Piece("girl" if scene.sex == "F" else "boy")
        return
    words = ("woman", "lady", "female") if scene.sex == "F" else ("man", "gentleman", "male")
    yield Piece(scene.random.choice(words))


VALUES: dict[str, Callable[[Facts, str], Iterator[Piece]]] = {
    "n": _number, "f": _decimal, "ka": _other_age, "ka.old": _other_old, "ka.lone": _other_lone,
    "ka.dec": _other_decade,
    "age": _bare, "age.bare": _bare, "age.man": _age_man, "age.short": _age_short, "age.old": _old, "age.lone": _lone,
    "age.dec": _decade, "man": _man, "dob": _birth, "dob*": _other_birth, "dod": _death, "hol": _holiday,
    "clock": _clock, "wd": _weekday, "email": _email, "user": _user, "slug": _slug, "city": _city, "prose": _prose,
}  # fmt: skip
"""Fillers by slot name. Each takes the scene and the slot's argument, and yields pieces."""
