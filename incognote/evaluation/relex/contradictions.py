"""An attacker who looks for contradictions: mentions that do not fit the rest of their patient's notes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import log1p
from statistics import median

from incognote.evaluation.relex.chronology import elapsed, written
from incognote.evaluation.relex.coherence import expected_gender, weekday_holds
from incognote.evaluation.relex.geography import agree, phone_fits, read_places
from incognote.evaluation.relex.kinds import WORD, gender_of, locale_of
from incognote.evaluation.relex.planting import PlantedNote
from incognote.relex.cluster.values import age_of
from incognote.text.lexicon import fold

_AROUND = 60
_PRONOUN = re.compile(r"\b(?:(he|his|him|himself)|(she|her|hers|herself))\b", re.IGNORECASE)
_ROLE = re.compile(r"([^\W\d_]+)[.,:]?\s+\Z")


@dataclass(frozen=True, slots=True)
class Seen:
    """A mention as an attacker sees it, with the answer in `planted`.

    Attributes:
        at: which of the replaced mentions of the note.
        alone: whether its words occur nowhere else in the patient's notes.
    """

    home: PlantedNote = field(repr=False)
    at: int
    words: str = field(repr=False)
    planted: bool
    alone: bool

    @property
    def patient(self) -> str:
        return self.home.note.patient

    @property
    def group(self) -> str:
        return self.home.mentions[self.at].group

    @property
    def type(self) -> str:
        return self.home.mentions[self.at].type

    @property
    def before(self) -> str:
        return self.home.text[max(0, self.home.places[self.at][0] - _AROUND) : self.home.places[self.at][0]]

    @property
    def behind(self) -> str:
        return self.home.text[self.home.places[self.at][1] :][:_AROUND]


def contradictions(seen: Sequence[Seen]) -> list[float]:
    """Score each mention by its contradictions. A mention without a contradiction scores 0 or a fraction."""
    own: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(seen):
        own[one.patient].append(at)
    scores = [0.0] * len(seen)
    for places in own.values():
        patient = [seen[at] for at in places]
        about = _Patient(patient)
        for at, one in zip(places, patient, strict=True):
            scores[at] = sum(about.against(one))
    return scores


class _Patient:
    """The facts from all notes of one patient."""

    def __init__(self, seen: Sequence[Seen]) -> None:
        people = [one for one in seen if one.group == "PERSON"]
        self._homes = Counter(home for one in people if (home := locale_of(one.words)))
        self._names = {word for one in people for word in _long(one.words)}
        self._roles: dict[str, Counter[str]] = defaultdict(Counter)
        for one in people:
            self._roles[_role(one)].update(_long(one.words))
        self._text = "\n".join(dict.fromkeys(one.home.text for one in seen))
        days = [day for one in seen if not one.type.startswith("BIRTH") and (day := _day(one.words))]
        self._middle = median(days) if days else None
        self._days = days

    def against(self, one: Seen) -> Iterator[float]:
        """The weight of each contradiction."""
        if one.group == "PERSON":
            yield from self._person(one)
        elif one.group == "PLACE":
            start, end = one.home.places[one.at]
            around = (read for begin, stop, read in read_places(one.home.text) if begin < end and start < stop)
            yield from (2.0 for read in around if False in agree(*read))
        elif one.group == "CONTACT":
            yield 1.0 * (phone_fits(one.words, self._text) is False)
            letters = fold(one.words.partition("@")[0])
            named = any(name in letters or letters in name for name in self._names)
            yield 1.0 * (any(c.isalpha() for c in letters) and not named)
        elif one.group == "DATE":
            yield from self._date(one)
        else:
            yield 0.5 * one.alone

    def _person(self, one: Seen) -> Iterator[float]:
        shown, expected = gender_of(one.words), expected_gender(one.before)
        yield 3.0 * bool(expected and shown and len(one.words.split()) > 1 and shown != expected)
        if shown and (pronoun := _PRONOUN.search(one.behind)):
            yield 1.0 * (shown != ("male" if pronoun[1] else "female"))
        if one.alone:
            others = set(self._roles[_role(one)]) - set(_long(one.words))
            yield 1.0 + bool(_role(one) and others)
        home, common = locale_of(one.words), self._homes.most_common(1)
        yield 1.0 * bool(home and common and common[0][0] != home)

    def _date(self, one: Seen) -> Iterator[float]:
        yield 2.0 * (weekday_holds(one.words, one.before) is False)
        day = _day(one.words)
        if day is not None and one.type.startswith("BIRTH"):
            yield 2.0 * (_age_fits(day, one, self._days) is False)
        elif day is not None and self._middle is not None:
            yield log1p(abs(day - self._middle) / 365)


def _long(words: str) -> list[str]:
    return [fold(word) for word in WORD.findall(words) if len(word) > 2]


def _role(one: Seen) -> str:
    """The word before a name, such as a title or a kinship word."""
    match = _ROLE.search(one.before)
    return fold(match[1]) if match else ""


@lru_cache(maxsize=1 << 13)
def _day(words: str) -> int | None:
    """The ordinal of a full date."""
    one = written(words, False)
    return one.date.toordinal() if one and one.date else None


def _age_fits(born: int, one: Seen, days: Iterable[int]) -> bool | None:
    """Whether a birth date gives an age of its note on one of the days; None if the note shows no age."""
    pairs = zip(one.home.mentions, one.home.places, strict=True)
    ages = [age_of(one.home.text[slice(*place)]) for mention, place in pairs if mention.group == "AGE"]
    ages = [age for age in ages if age[0].isdecimal()]
    if not ages:
        return None
    return any(elapsed(born, day, unit) == int(number) for number, unit in ages for day in days)
