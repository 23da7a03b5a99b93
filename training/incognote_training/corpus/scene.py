"""The facts of one document, and the values that its slots are filled with.

pt ot1 dr1 rn1 sp mo fa sis bro dau son kin1 p1
                            people (ot: another patient): `pt.mr`, `dr1.sig` … as `people.py` names them; `kin1.rel`
he him his man mr sex sexletter
                            words that depend on the patient's sex
age age.old age.lone age.bare age.short age.man age.dec ka:30-60 ka.old:30-60
                            the patient's age; another person's age
d d-3 d+14 d?-90 d?+60      days relative to the document's own; `?` draws a day up to that distance; `:p` as in prose,
                            `:w` with a weekday, `:stamp` `:hl7` `:fhir` with a time, `:iso`
dob dob* dod my?-5 y?-20 m?-1 hol
                            birth (`*` another person's), death, month and year, year, month, holidays
wd clock                    a weekday, a time of day: no PHI
email:pt user:dr1 slug:pt   made from a person's names
n:60-180 f:1.0-9.9 ##-??    numbers and random characters: no PHI
city city2                  from the gazetteer, or made up
prose prose:talk prose:any  real clinical prose from notes, dialogues, or either; our own if there is none
NAME NAME2 NAME.short NAME* an entry of a list. Typed lists keep their value in a document (`2` for another, `*` for a
                            new one each time); `NAME-us` is used if the list has a country
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from random import Random

from incognote.errors import UsageError
from incognote_en.rules.gazetteer import gazetteer
from incognote_training.corpus import dates
from incognote_training.corpus.grammar import Piece, Template, expand
from incognote_training.corpus.material import Entries, lists
from incognote_training.corpus.people import HOWS, Person, misspelt, someone
from incognote_training.corpus.signs import signs
from incognote_training.corpus.values import VALUES

COUNTRIES = {
    "us": "us us us us us us us us us us us us ca ca ph",
    "eu": "uk uk uk uk ie au au nz in in ng za ke de fr nl es it se br mx sg ae pk ph pl gr",
    "iso": "se ca za jp us uk hu",
}
_RELATIONS = {
    "sp": ("husband wife", ""), "mo": ("mother", "F"), "fa": ("father", "M"), "sis": ("sister", "F"),
    "bro": ("brother", "M"), "dau": ("daughter", "F"), "son": ("son", "M"),
    "kin": ("daughter son sister brother niece nephew aunt uncle cousin grandmother grandfather mother-in-law "
            "son-in-law daughter-in-law partner friend neighbor caregiver granddaughter grandson stepfather "
            "stepmother ex-wife ex-husband fiancée roommate guardian twin", ""),
}  # fmt: skip
_FEMALE = frozenset(
    "daughter sister niece aunt grandmother mother-in-law daughter-in-law granddaughter stepmother ex-wife fiancée "
    "wife".split()
)
_MALE = frozenset("son brother nephew uncle grandfather son-in-law grandson stepfather ex-husband husband".split())
_PRONOUNS = {
    "he": ("she", "he"), "him": ("her", "him"), "his": ("her", "his"), "himself": ("herself", "himself"),
    "sexletter": ("F", "M"), "sex": ("female", "male"), "mr": ("Mrs.", "Mr."),
}  # fmt: skip
_PERSON = re.compile(r"(pt|dr|rn|sp|mo|fa|sis|bro|dau|son|kin|ot|p)(\d*|\*)(?:\.(\w+))?")
_DAY = re.compile(r"d(\?)?([+-]\d+)?")
_BACK = re.compile(r"(my|y|m)\?-(\d+)")
_SIGNS = re.compile(r"(?=.*[#%?&*])[#%?&*0-9 ./:()+_-]+")
_LISTED = re.compile(r"([a-z_-]+)(\d*|\*)(?:\.(short|up))?")


@cache
def cities() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Towns whose names have no other meaning, and those that are also names or words."""
    plain: list[str] = []
    double: list[str] = []
    for name, place in gazetteer().places.items():
        if place.type == "CITY" and 3 < len(name) < 22:
            shown = " ".join(w if w in ("of", "de", "del", "la", "the", "on") else w.capitalize() for w in name.split())
            (plain if place.need in "ab" else double).append(shown)
    return tuple(plain), tuple(double)


class Scene:
    """One document's people, day, places, and numbers, each made on first use.

    Args:
        random: the document's own random source.
        options: of the family: child, infant, adult, elder, F, M.
        prose: returns a template of real clinical prose, if there is any.
    """

    def __init__(self, random: Random, options: frozenset[str] = frozenset(),
                 prose: Callable[[Random, str, bool], Template | None] | None = None) -> None:  # fmt: skip
        self.random = random
        self.prose = prose
        self.sex = "F" if "F" in options else "M" if "M" in options else random.choice("FM")
        self.habit = dates.Habit(random)
        self.country = random.choice(COUNTRIES[self.habit.region].split())
        self.months = _age(random, options)
        self.day = date(random.choice((1988, 1996, 2003, 2009, *range(2011, 2027), *range(2018, 2027))), 1, 1)
        self.day = dates.shifted(self.day, random.randrange(365))
        self.born = dates.shifted(self.day, -int(self.months * 30.44) - random.randrange(28))
        self._people: dict[str, Person] = {}
        self.values: dict[str, str] = {}
        self._drawn: dict[str, set[int]] = {}
        self._flat: set[str] = set()
        self._spelling = random.random() < 0.05

    @property
    def years(self) -> int:
        """The patient's age in whole years."""
        return self.months // 12

    def fill(self, name: str, argument: str) -> Iterator[Piece]:
        """The pieces of a slot.

        Raises:
            UsageError: there is no value and no list with this name.
        """
        random = self.random
        if (pair := _PRONOUNS.get(name)) is not None:
            yield Piece(pair[self.sex == "M"])
        elif (found := _PERSON.fullmatch(name)) is not None and (
            found[3] is None or found[3] in HOWS or found[3] == "rel"
        ):
            yield from self._person(found[1], found[1] + found[2], found[3] or "")
        elif name in VALUES:
            yield from VALUES[name](self, argument)
        elif name.startswith("city") and name[4:].isdigit():
            yield from VALUES["city"](self, name[4:])
        elif (found := _DAY.fullmatch(name)) is not None:
            yield self._day(found[1], int(found[2] or 0), argument)
        elif (found := _BACK.fullmatch(name)) is not None:
            then = dates.shifted(self.day, -random.randint(20, int(found[2]) * 365))
            shape = {"my": dates.month_and_year, "y": dates.year, "m": dates.month}[found[1]]
            yield Piece(shape(then, random), "DATE")
        elif _SIGNS.fullmatch(name):
            yield Piece(signs(name, random))
        elif (found := _LISTED.fullmatch(name)) is not None:
            yield from self._listed(found[1], found[2], found[3] or "")
        else:
            raise UsageError(f"there is no value or list named {name!r}: fix the template")

    def person(self, key: str) -> Person:
        """A person of the document, made on first use."""
        if key not in self._people or key[-1] == "*":
            self._people[key] = self._made(key)
        return self._people[key]

    def _made(self, key: str) -> Person:
        random = self.random
        root = key.rstrip("0123456789*")
        if root == "pt":
            return someone("PATIENT", random, sex=self.sex)
        if root in ("dr", "rn"):
            return someone("CLINICIAN", random, of=root)
        if root in ("p", "ot"):
            return someone("PERSON" if root == "p" else "PATIENT", random)
        words, sex = _RELATIONS[root]
        relation = random.choice(words.split())
        if root == "sp":
            relation = "wife" if self.sex == "M" else "husband"
        sex = sex or ("F" if relation in _FEMALE else "M" if relation in _MALE else "")
        return someone("RELATIVE", random, sex=sex, family=self.person("pt"), relation=relation)

    def _person(self, root: str, key: str, how: str) -> Iterator[Piece]:
        person = self.person(key)
        if how == "rel":
            yield Piece(person.relation)
            return
        pieces = person.mention(how, self.random)
        if self._spelling and how in ("any", "mr", "last", "first") and self.random.random() < 0.3:
            pieces = tuple(Piece(misspelt(t, self.random) if kind else t, kind) for t, kind in pieces)
        yield from pieces

    def _day(self, some: str | None, days: int, argument: str) -> Piece:
        random = self.random
        if some:
            days = random.randint(1, abs(days)) * (1 if days > 0 else -1)
        day = dates.shifted(self.day, days)
        if argument in ("stamp", "hl7", "fhir"):
            shape = {"stamp": dates.stamp, "hl7": dates.compact_stamp, "fhir": dates.iso_stamp}[argument]
            made = shape(day, random)
            return Piece(made, "DATE" if len(made) == 8 else "DATE_TIME")
        if argument == "iso":
            return Piece(day.isoformat(), "DATE")
        if argument == "w":
            named = dates.weekday(day)
            named = named[:3] if random.random() < 0.5 else named
            return Piece(f"{named}{random.choice((' ', ', '))}{self.habit.full(day, random)}", "DATE")
        return Piece((self.habit.told if argument == "p" else self.habit.full)(day, random), "DATE")

    def _listed(self, name: str, number: str, how: str) -> Iterator[Piece]:
        table = lists()
        entries = table.get(f"{name}-{self.country}") or table.get(name)
        if entries is None:
            raise UsageError(f"there is no value or list named {name!r}: fix the template")
        if entries.type is None:
            yield from expand(self._draw(name, entries), self.random, self.fill)
            return
        key = name + number
        value = self.values.get(key)
        if value is None or number == "*":
            value = "".join(text for text, _ in expand(self._draw(name, entries), self.random, self.fill)).strip()
            self.values[key] = value
        if value.startswith("the "):
            value = value[4:]
            yield Piece("the ")
        yield Piece(
            _short(value, self.random) if how == "short" else value.upper() if how == "up" else value, entries.type
        )

    def _draw(self, name: str, entries: Entries) -> Template:
        """Draw an entry, preferably one that this document has not had yet."""
        had = self._drawn.setdefault(name, set())
        at = 0
        for _ in range(4):
            at = self.random.choices(range(len(entries.templates)), cum_weights=entries.weights)[0]
            if at not in had:
                break
        had.add(at)
        return entries.templates[at]

    def city(self) -> str:
        """A town: usually from the gazetteer, sometimes made up."""
        plain, double = cities()
        chance = self.random.random()
        if chance < 0.3:
            return "".join(text for text, _ in self._listed("town", "", ""))
        return self.random.choice(double if chance < 0.42 else plain)


def _age(random: Random, options: frozenset[str]) -> int:
    """Draw an age in months."""
    if "infant" in options:
        return random.randrange(0, 20)
    if "child" in options:
        return random.randint(12, 16 * 12)
    if "elder" in options:
        return random.randint(70 * 12, 99 * 12)
    if "fertile" in options:
        return random.randint(17 * 12, 44 * 12)
    if "adult" in options or random.random() < 0.98:
        return int(min(103, max(18, random.gauss(56, 19))) * 12) + random.randrange(12)
    return random.randint(0, 17 * 12)


def _short(name: str, random: Random) -> str:
    """An institution's short name: its first words, or its initials."""
    words = name.replace(",", "").split()
    head = words[: 2 if words[0] in ("St.", "St", "Saint", "The", "Our", "Royal", "Hospital") else 1]
    initials = "".join(word[0] for word in words if word[0].isupper())
    return initials if len(initials) > 2 and random.random() < 0.4 else " ".join(head)
