"""Numbers, spelled words, and identifiers of letters and figures, joined over pauses and interruptions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import NamedTuple

from incognote.languages import language
from incognote.text.lexicon import commonness, fold, lexicon, surname
from incognote_en.spoken_words.dates import UNITS, date
from incognote_en.spoken_words.heard import Heard, Piece
from incognote_en.spoken_words.numbers import figure, number, ordinal, nth

_SIGNS = {"dash": "-", "hyphen": "-", "slash": "/", "apostrophe": "'"}
_AS = (("as", "in"), ("is", "for"), ("for",), ("like",), ("is", "in"))
_MOST = 7
"""An interruption has at most this many words."""
_CUE = 7
"""A label counts for a number at most this many words later."""
_ALIKE = 0.6
"""A word that is so like what was spelled is the same word, heard wrongly."""


_OUTWARD, _INWARD = re.compile(r"[a-z]{1,2}\d[a-z\d]?"), re.compile(r"\d[a-z]{2}")


class _Unit(NamedTuple):
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
        return self.text.isalpha() or self.text in _SIGNS.values()


@cache
def lists() -> dict[str, frozenset[str]]:
    """The word lists of `spoken.toml`, by name."""
    table = language("en").table("spoken_words", "spoken.toml")
    return {name: frozenset(words.split()) for name, words in table["words"].items()}


def _letter(heard: Heard, i: int, nato: bool) -> _Unit | None:
    """The letter at a word: "b", "b as in boy", "double t", "capital o", "bravo" between others."""
    word = heard.at(i)
    if word in ("capital", "cap") and (found := _letter(heard, i + 1, nato)):
        return found._replace(sure=True)
    if word in ("double", "triple") and len(heard.at(i + 1)) == 1 and heard.at(i + 1).isalpha():
        if heard.at(i + 1) == "u" and word == "double":
            return _Unit("w", i + 2, sure=True)
        return _Unit(heard.at(i + 1) * (2 if word == "double" else 3), i + 2, sure=True)
    if word in ("double-u", "doubleyou"):
        return _Unit("w", i + 1, sure=True)
    if len(word) == 1 and word.isalpha() and word.isascii():
        for sign in _AS:
            example = heard.at(i + 1 + len(sign))
            if heard.says(i + 1, sign) and len(example) > 2 and example[0] == word and example not in lists()["function"]:
                return _Unit(word, i + 2 + len(sign), sure=True)
        return _Unit(word, i + 1)
    if nato and word in lists()["nato"]:
        return _Unit("x" if word == "x-ray" else word[0], i + 1, sure=True)
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


def _unit(heard: Heard, i: int) -> _Unit | None:
    if heard.at(i) == "a" and (heard.at(i + 1) in ("hundred", "thousand")):
        found = number(heard, i)
        return _Unit(found.figures, found.end) if found else None
    if (letter := _letter(heard, i, _nato(heard, i))) is not None:
        return letter
    found = number(heard, i)
    return _Unit(found.figures, found.end, sure=not found.single) if found else None


class _Group(NamedTuple):
    """Units that were said without an interruption."""

    units: tuple[_Unit, ...]
    first: int
    end: int

    @property
    def text(self) -> str:
        return "".join(unit.text for unit in self.units)

    @property
    def digits(self) -> bool:
        return self.text.isdigit()


def _group(heard: Heard, i: int) -> _Group:
    units: list[_Unit] = []
    at = i
    while at < len(heard):
        if units and date(heard, at) and not figure(heard.at(at)) and heard.at(at - 1) not in _SIGNS and not _long(units):
            break
        if units and all(unit.text.isdigit() for unit in units) and _abbreviation(heard, at):
            break
        found = _unit(heard, at)
        name = heard.at(at) == "apostrophe" and units and units[-1].is_letter
        if found is None and units and heard.at(at) in _SIGNS and (name or _unit(heard, at + 1)):
            found = _Unit(_SIGNS[heard.at(at)], at + 1)
        if found is None or (found.text in ("a", "i") and not found.sure and not _spells(heard, at, units)):
            break
        units.append(found)
        at = found.end
        if heard.ended(at - 1, at):
            break
    return _Group(tuple(units), i, at)


def _abbreviation(heard: Heard, i: int) -> bool:
    """Whether the letters at a word are an abbreviation, such as "b p" and "b i d"."""
    end = i
    while len(heard.at(end)) == 1 and heard.at(end).isalpha():
        end += 1
    return end - i > 1 and "".join(heard.words[i:end]) in lists()["acronyms"]


def _long(units: Sequence[_Unit]) -> bool:
    return len(units) > 1


def _spells(heard: Heard, i: int, units: Sequence[_Unit]) -> bool:
    """Whether "a" or "i" is a letter, and no word: letters stand before or after it."""
    after = heard.at(i + 1)
    near = (len(after) == 1 or bool(units and figure(after))) and not heard.ended(i, i + 1)
    if units and all(unit.is_letter for unit in units):
        return near or (len(units) > 1 and after not in lists()["verbs"])
    if units:
        return near
    return near and not heard.ended(i, i + 1) and len(heard.at(i + 2)) == 1


def _interruption(heard: Heard, i: int) -> int:
    """Where an interruption that begins at a word ends: fillers and ends of utterances. `i` if there is none."""
    fillers = lists()["fillers"]
    at = i
    while at - i < _MOST and (heard.at(at) in fillers or heard.at(at) in _SIGNS):
        at += 1
    return at


def code(heard: Heard, i: int) -> list[Piece]:
    """The pieces of a number, an identifier or a spelled word that begins at a word; empty if there is none."""
    if heard.says(i, ("a", "one", "c")):
        return [Piece("A1C", i, i + 3, "label")]
    group = _group(heard, i)
    if not group.units:
        return []
    text, end = group.text, group.end
    units = list(group.units)
    said = group
    labeled = is_labeled(heard, i)
    while following := _next(heard, said, text, labeled):
        text = _continued(heard, said, text, following)
        units += following.units
        said, end = following, following.end
    if text.replace("'", "").replace("-", "").isalpha():
        return _spelled(heard, i, group, text, end)
    if any(unit.is_letter for unit in units) or "/" in text:
        return _mixed(heard, i, text, end, units)
    return _figures(heard, i, text, end, units, labeled)


def _continued(heard: Heard, said: _Group, text: str, following: _Group) -> str:
    """The text of a number after its next group, which may repeat or correct what was said."""
    between = heard.words[said.end : following.first]
    if len(following.text) > 1 and text.endswith(following.text) and "just" not in between:
        return text
    if not lists()["corrections"].isdisjoint(between) or said.text.isalpha():
        if "just" in between and said.text.endswith(following.text):
            return text[: len(text) - len(said.text)] + following.text
        for size in range(min(len(said.text), len(following.text)), 1, -1):
            if following.text.startswith(said.text[-size:]):
                return text[:-size] + following.text
    postcode = _OUTWARD.fullmatch(text) and _INWARD.fullmatch(following.text)
    return f"{text} {following.text}" if postcode else text + following.text


def _next(heard: Heard, said: _Group, text: str, labeled: bool) -> _Group | None:
    """The group that continues a number or a spelled word after an interruption or a pause; None if there is none."""
    at = _interruption(heard, said.end)
    if (at == said.end and not heard.ended(at - 1, at)) or (date(heard, at) and not figure(heard.at(at))):
        return None
    group = _group(heard, at)
    if len(group.text) < 2 or heard.at(group.end) in UNITS or len(said.text) < 2:
        return None
    acronyms = lists()["acronyms"]
    if said.text.isalpha() and group.text.replace("'", "").isalpha() and "then" in heard.words[said.end : at]:
        return None
    if group.text.isalpha() or said.text.isalpha():
        alike = said.text.isalpha() and (group.text.isalpha() or len(group.text) > 2 or at > said.end)
        return group if (alike or _is_mixed(text) or (labeled and not text.isalpha())) and not {said.text, group.text} & acronyms else None
    if text.isdigit() and group.digits:
        single = all(sum(len(unit.text) == 1 for unit in each.units) > 1 for each in (said, group))
        whole = len(text) > 9 or (len(text) == 7 and (len(group.text) > 6 or not labeled))
        whole |= len(group.text) > 6 and len(text) > 3
        fits = (single or labeled) and (not whole or text.endswith(group.text))
        return group if fits and (len(text) + len(group.text) < 15 or text.endswith(group.text)) else None
    return group if labeled or not (text.isdigit() or group.digits) or _is_mixed(text) else None


def _is_mixed(text: str) -> bool:
    """Whether a text has letters and figures, and more than a postcode's half or the level of a spine."""
    return len(text) > 2 and any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def is_labeled(heard: Heard, i: int) -> bool:
    """Whether the words before a number say that it identifies something."""
    before = heard.before(i, _CUE)
    return not lists()["labels"].isdisjoint(before)


def _spelled(heard: Heard, i: int, group: _Group, text: str, end: int) -> list[Piece]:
    """Letters: an abbreviation, or a word that was spelled, with the word before it if that is the same word."""
    acronyms = lists()["acronyms"]
    if len(text) == 1:
        sure = group.units[0].sure and end - i > 1
        return [Piece(text.upper(), i, end, "spelled")] if sure else []
    if text in ("ai", "ia") or (len(text) == 2 and text[0] in "ai" and text not in acronyms and end - i == 2):
        return []
    if text in acronyms:
        return [Piece(text.upper(), i, end, "label")]
    for low, high in ((1, 0), (0, 1), (1, 1)):
        core = text[low : len(text) - high]
        words = (text[:low], text[len(text) - high :] if high else "")
        plain = len(group.units) == len(group.text) == end - i and all(word in ("", "a", "i") for word in words)
        if core in acronyms and len(core) > 1 and plain:
            before, after = i + low, end - high
            pieces = [Piece(heard.at(i), i, before)] if low else []
            pieces.append(Piece(core.upper(), before, after, "label"))
            return [*pieces, Piece(heard.at(after), after, end)] if high else pieces
    for acronym in ("mrn", "ssn", "dob"):
        rest = text[len(acronym) :]
        units = len(acronym)
        if text.startswith(acronym) and len(acronym) > 2 and len(rest) > 1 and len(group.text) == len(group.units):
            return [Piece(acronym.upper(), i, i + units, "label"), Piece(rest.upper(), i + units, end, "spelled")]
    for acronym in ("mrn", "ssn", "dob"):
        if text.endswith(acronym) and len(text) > 5:
            at = i + len(text) - 3 if len(group.text) == len(group.units) else end
            if heard.words[at:end] == list(acronym):
                return [Piece(text[:-3].upper(), i, at, "spelled"), Piece(acronym.upper(), at, end, "label")]
    name = heard.at(end)
    if text.endswith("'") and len(name) > 2:
        return [Piece(text.upper() + name.capitalize(), i, end + 1, "spelled")]
    sure = any(unit.sure for unit in group.units) or len(text) > 3 or not lists()["spelling"].isdisjoint(heard.before(i, 12))
    return [Piece(text.upper(), i, end, "spelled" if sure else "label")]


def _mixed(heard: Heard, i: int, text: str, end: int, units: Sequence[_Unit]) -> list[Piece]:
    """An identifier of letters and figures, after the abbreviation that is its label, if any."""
    acronyms = lists()["acronyms"]
    lead = 0
    while lead < len(units) and units[lead].text.isalpha() and len(units[lead].text) == 1:
        lead += 1
    for count in range(lead, 1, -1):
        label = "".join(unit.text for unit in units[:count])
        figures = sum(unit.text.isdigit() for unit in units)
        if label in acronyms and (figures < 5 or label in lists()["sure"]) and (lead == count or label in lists()["sure"]):
            at = units[count - 1].end
            return [Piece(label.upper(), i, at, "label"), *code(heard, at)]
    label = "".join(unit.text for unit in units[:lead])
    for acronym in ("mrn", "ssn"):
        if label.endswith(acronym) and lead > 5:
            name, at = units[lead - 4].end, units[lead - 1].end
            spelled = Piece(label[:-3].upper(), i, name, "spelled")
            return [spelled, Piece(acronym.upper(), name, at, "label"), *code(heard, at)]
    if lead == 1 and units[0].text in "ai" and not units[0].sure:
        return []
    if text[0].isdigit() and len(units) == 2 and not units[1].sure and not heard.ended(end - 1, end):
        return []  # "fifty p r n"
    if lead == 1 and len(units) == 2 and heard.at(end) in UNITS:
        return [Piece(text[0].upper(), i, units[0].end, "label"), Piece(units[1].text, units[0].end, end, "number")]
    return [Piece(text.upper(), i, end, "code" if len(text) > 2 or is_labeled(heard, i) else "label")]


def _figures(heard: Heard, i: int, text: str, end: int, units: Sequence[_Unit], labeled: bool) -> list[Piece]:
    """A number: an amount, a telephone number, a year, or an identifier."""
    first = units[0]
    if heard.at(end) in ("over", "point") and (pair := _pair(heard, i, units)):
        return pair
    sizes = [len(unit.text) for unit in units]
    singles = all(size == 1 for size in sizes)
    phone = _phone(heard, i, text, end, labeled) if len(units) > 3 else ""
    if phone:
        return [Piece(phone, i, end, "code")]
    if len(units) == 1:
        if size := _ordinal(heard, i):
            return [size]
        if len(text) == 1 and heard.at(end) not in UNITS and not _counts(heard, i, end):
            return []
        return [Piece(text, i, end, "number")]
    joined = labeled or len(text) > 4 or (singles and len(units) > 2) or sizes in ([1, 2], [1, 3]) or text[0] == "0"
    joined = joined or (sizes == [2, 2] and "address" in heard.before(i, _CUE))
    if joined or (sizes in ([2, 2], [2, 1, 1], [2, 3]) and _street_follows(heard, end)):
        kind = "code" if (singles and len(text) > 2 and text != "911") or len(text) > 4 or labeled or "address" in heard.before(i, _CUE) else "number"
        return [Piece(text, i, end, kind)]
    return _figures(heard, i, first.text, first.end, [first], labeled) or [Piece(heard.at(i), i, i + 1)]


def _counts(heard: Heard, i: int, end: int) -> bool:
    """Whether one figure is written as a figure: after a label, or as an age."""
    before = heard.at(i - 1)
    if before in lists()["labels"] or before in ("type", "stage"):
        return True
    alone = heard.ended(end - 1, end) or heard.at(end) in ("and", "at", "when", "now", "but", "so")
    asked = "old" in heard.before(i, 9) and "how" in heard.before(i, 9)
    return alone and (asked or before in ("was", "turned", "aged", "he's", "she's", "i'm")) and heard.at(i) != "one"


def _ordinal(heard: Heard, i: int) -> Piece | None:
    """ "forty second street", "twenty third" """
    found = ordinal(heard, i)
    if found and found.end - i == 2 and (heard.at(i + 1) != "second" or heard.at(i - 1) == "the" or _street_follows(heard, found.end)):
        return Piece(nth(found.value), i, found.end, "number")
    return None


def _street_follows(heard: Heard, i: int) -> bool:
    """Whether the kind of a street is one of the next words."""
    streets = lists()["streets"] | lists()["ways"]
    entry = lexicon().get(fold(heard.at(i)), 0)
    if surname(entry) > 2 and not commonness(entry) and not heard.ended(i - 1, i):
        return True
    return any(heard.at(j) in streets and not heard.ended(i - 1, j) for j in range(i, i + 4))


def _value(units: Sequence[_Unit]) -> str:
    """The figures of a value that is said in groups: "one twenty", "a hundred and four"."""
    return "".join(unit.text for unit in units)


def _pair(heard: Heard, i: int, units: Sequence[_Unit]) -> list[Piece]:
    """A pressure or a decimal: "one twenty over eighty", "ninety eight point six"."""
    value, end = _value(units), units[-1].end
    if len(value) > 4:
        return []
    sign = {"over": "/", "point": "."}[heard.at(end)]
    following = number(heard, end + 1)
    if following is None:
        return []
    figures, last = following.figures, following.end
    while (more := number(heard, last)) and not heard.ended(last - 1, last):
        parts = figures + more.figures
        if len(parts) > 3 or not (more.single if sign == "." else figures[0] in "12" and len(figures) < 3 and following.single):
            break
        figures, last = parts, more.end
    return [Piece(f"{value}{sign}{figures}", i, last, "number")]


def _phone(heard: Heard, i: int, text: str, end: int, labeled: bool) -> str:
    """Figures in the form of a telephone or social security number; "" if they are none."""
    before = heard.before(i, 9)
    if len(text) == 9 and not lists()["social"].isdisjoint((*before, "".join(before[-3:]))):
        return f"{text[:3]}-{text[3:5]}-{text[5:]}"
    if labeled and not lists()["ids"].isdisjoint(before) and lists()["calls"].isdisjoint(before):
        return ""
    if len(text) == 7 and text[0] not in "01":
        return f"{text[:3]}-{text[3:]}"
    if len(text) == 10 and text[0] not in "01":
        return f"{text[:3]}-{text[3:6]}-{text[6:]}"
    if len(text) == 11 and text[0] == "1":
        return f"1-{text[1:4]}-{text[4:7]}-{text[7:]}"
    if len(text) == 11 and text[0] == "0":
        return f"{text[:5]} {text[5:]}"
    return ""


def alike(word: str, spelled: str) -> bool:
    """Whether a word is what was spelled after it, or nearly so."""
    bare = word.lower().removesuffix("'s")
    return bare == spelled.lower() or SequenceMatcher(None, bare, spelled.lower()).ratio() >= _ALIKE
