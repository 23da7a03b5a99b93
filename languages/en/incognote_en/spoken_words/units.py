"""Letters and figures that are said one after another, and the interruptions between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from incognote_en.spoken_words.dates import date
from incognote_en.spoken_words.heard import Heard, lists
from incognote_en.spoken_words.numbers import figure, number

SIGNS = {"dash": "-", "hyphen": "-", "slash": "/", "apostrophe": "'"}
"""Spoken signs in identifiers and names."""
_AS = (("as", "in"), ("is", "for"), ("for",), ("like",), ("is", "in"))
_MOST = 7
"""An interruption has at most this many words."""


class Unit(NamedTuple):
    """One or more letters or figures that were said together.

    Attributes:
        text: letters in lower case, or figures.
        end: the word after it.
        sure: it can be nothing else, such as "b as in boy".
    """

    text: str
    end: int
    sure: bool = False

    @property
    def is_letter(self) -> bool:
        return self.text.isalpha() or self.text in SIGNS.values()


def _letter(heard: Heard, i: int, nato: bool) -> Unit | None:
    """The letter at a word: "b", "b as in boy", "double t", "capital o", "bravo" between others."""
    word = heard.at(i)
    if word in ("capital", "cap") and (found := _letter(heard, i + 1, nato)):
        return found._replace(sure=True)
    if word in ("double", "triple") and len(heard.at(i + 1)) == 1 and heard.at(i + 1).isalpha():
        if heard.at(i + 1) == "u" and word == "double":
            return Unit("w", i + 2, sure=True)
        return Unit(heard.at(i + 1) * (2 if word == "double" else 3), i + 2, sure=True)
    if word in ("double-u", "doubleyou"):
        return Unit("w", i + 1, sure=True)
    if len(word) == 1 and word.isalpha() and word.isascii():
        for sign in _AS:
            example = heard.at(i + 1 + len(sign))
            named = example[:1] == word and len(example) > 2 and example not in lists()["function"]
            if heard.says(i + 1, sign) and named:
                return Unit(word, i + 2 + len(sign), sure=True)
        return Unit(word, i + 1)
    if nato and word in lists()["nato"]:
        return Unit("x" if word == "x-ray" else word[0], i + 1, sure=True)
    return None


def _nato(heard: Heard, i: int) -> bool:
    """Whether a word of the spelling alphabet stands for its letter: two letters or figures are beside it."""
    words = lists()["nato"]

    def counts(word: str) -> bool:
        return word in words or bool(figure(word)) or (len(word) == 1 and word not in "ai")

    first, last = i, i + 1
    while first > i - 2 and counts(heard.at(first - 1)):
        first -= 1
    while last < i + 3 and counts(heard.at(last)):
        last += 1
    return last - first > 2


def unit_at(heard: Heard, i: int) -> Unit | None:
    if heard.at(i) == "a" and (heard.at(i + 1) in ("hundred", "thousand")):
        found = number(heard, i)
        return Unit(found.figures, found.end) if found else None
    if (letter := _letter(heard, i, _nato(heard, i))) is not None:
        return letter
    found = number(heard, i)
    return Unit(found.figures, found.end, sure=not found.single) if found else None


class Group(NamedTuple):
    """Units that were said without an interruption."""

    units: tuple[Unit, ...]
    first: int
    end: int

    @property
    def text(self) -> str:
        return "".join(unit.text for unit in self.units)

    @property
    def digits(self) -> bool:
        return self.text.isdigit()


def group_at(heard: Heard, i: int) -> Group:
    units: list[Unit] = []
    at = i
    while at < len(heard):
        if len(units) == 1 and not figure(heard.at(at)) and heard.at(at - 1) not in SIGNS and date(heard, at):
            break
        if units and all(unit.text.isdigit() for unit in units) and _abbreviation(heard, at):
            break
        found = unit_at(heard, at)
        name = heard.at(at) == "apostrophe" and units and units[-1].is_letter
        if found is None and units and heard.at(at) in SIGNS and (name or unit_at(heard, at + 1)):
            found = Unit(SIGNS[heard.at(at)], at + 1)
        if found is None or (found.text in ("a", "i") and not found.sure and not _spells(heard, at, units)):
            break
        units.append(found)
        at = found.end
        if heard.ended(at - 1, at):
            break
    return Group(tuple(units), i, at)


def _abbreviation(heard: Heard, i: int) -> bool:
    """Whether the letters at a word are an abbreviation, such as "b p" and "b i d"."""
    end = i
    while len(heard.at(end)) == 1 and heard.at(end).isalpha():
        end += 1
    return end - i > 1 and "".join(heard.words[i:end]) in lists()["acronyms"]


def _spells(heard: Heard, i: int, units: Sequence[Unit]) -> bool:
    """Whether "a" or "i" is a letter, and no word: letters stand before or after it."""
    after = heard.at(i + 1)
    near = (len(after) == 1 or bool(units and figure(after))) and not heard.ended(i, i + 1)
    if units and all(unit.is_letter for unit in units):
        return near or (len(units) > 1 and after not in lists()["verbs"])
    if units:
        return near
    return near and not heard.ended(i, i + 1) and len(heard.at(i + 2)) == 1


def interruption(heard: Heard, i: int) -> int:
    """Where an interruption that begins at a word ends: fillers and ends of utterances. `i` if there is none."""
    fillers = lists()["fillers"]
    at = i
    while at - i < _MOST and (heard.at(at) in fillers or heard.at(at) in SIGNS):
        at += 1
    return at
