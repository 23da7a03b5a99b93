"""Numbers, spelled words, and identifiers of letters and figures, joined over pauses and interruptions."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import NamedTuple

from incognote.languages import language
from incognote_en.spoken_words.dates import UNITS, date
from incognote_en.spoken_words.heard import Heard, Piece
from incognote_en.spoken_words.numbers import figure, number, ordinal, nth

_SIGNS = {"dash": "-", "hyphen": "-", "slash": "/", "apostrophe": "'"}
_AS = (("as", "in"), ("is", "for"), ("for",), ("like",), ("is", "in"))
_MOST = 4
"""An interruption has at most this many words."""
_CUE = 7
"""A label counts for a number at most this many words later."""
_ALIKE = 0.6
"""A word that is so like what was spelled is the same word, heard wrongly."""
_PHONES = (7, 10)


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
    """Whether a word of the spelling alphabet stands for its letter: others or figures are beside it."""
    words = lists()["nato"]
    if heard.at(i) not in words:
        return True
    beside = [heard.at(j) for j in (i - 2, i - 1, i + 1, i + 2)]
    return (beside[1] in words or beside[2] in words) or any(
        a != "" and b != "" and (figure(a) or len(a) == 1) and (figure(b) or len(b) == 1)
        for a, b in ((beside[0], beside[1]), (beside[1], beside[2]), (beside[2], beside[3]))
    )


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
        found = _unit(heard, at)
        if found is None and units and heard.at(at) in _SIGNS and _unit(heard, at + 1):
            found = _Unit(_SIGNS[heard.at(at)], at + 1)
        if found is None or (found.text in ("a", "i") and not found.sure and not _spells(heard, at, units)):
            break
        units.append(found)
        at = found.end
        if heard.ended(at - 1, at):
            break
    return _Group(tuple(units), i, at)


def _long(units: Sequence[_Unit]) -> bool:
    return len(units) > 1


def _spells(heard: Heard, i: int, units: Sequence[_Unit]) -> bool:
    """Whether "a" or "i" is a letter, and no word: letters stand before or after it."""
    after = heard.at(i + 1)
    near = len(after) == 1 and after.isalpha() and not heard.ended(i, i + 1)
    if units and (units[-1].is_letter or near):
        return True
    return near and not heard.ended(i, i + 1) and len(heard.at(i + 2)) == 1


def _interruption(heard: Heard, i: int) -> int:
    """Where an interruption that begins at a word ends: fillers and ends of utterances. `i` if there is none."""
    fillers = lists()["fillers"]
    at = i
    while at - i < _MOST and heard.at(at) in fillers:
        at += 1
    return at


def code(heard: Heard, i: int) -> list[Piece]:
    """The pieces of a number, an identifier or a spelled word that begins at a word; empty if there is none."""
    group = _group(heard, i)
    if not group.units:
        return []
    text, end = group.text, group.end
    units = list(group.units)
    said = group
    labeled = is_labeled(heard, i)
    while joint := _next(heard, said, text, labeled):
        following, repeated, corrected = joint
        if corrected:
            text = text[: len(text) - len(said.text)]
        if not repeated:
            text += following.text
        units += following.units
        said, end = following, following.end
    if text.replace("'", "").replace("-", "").isalpha():
        return _spelled(heard, i, group, text, end)
    if any(unit.is_letter for unit in units) or "/" in text:
        return _mixed(heard, i, text, end, units)
    return _figures(heard, i, text, end, units, labeled)


def _next(heard: Heard, said: _Group, text: str, labeled: bool) -> tuple[_Group, bool, bool] | None:
    """The group that continues a group after an interruption, whether it repeats it, and whether it corrects it."""
    at = _interruption(heard, said.end)
    if at == said.end and not heard.ended(at - 1, at):
        return None
    if date(heard, at) and not figure(heard.at(at)):
        return None
    group = _group(heard, at)
    if not group.units or heard.at(group.end) in UNITS or len(group.text) < 2:
        return None
    between = heard.words[said.end : at]
    corrected = not lists()["corrections"].isdisjoint(between) and group.text.startswith(said.text[:2])
    repeated = group.text == said.text and not corrected
    if len(said.text) < 2 and not labeled:
        return None
    if said.text.isalpha() and said.text in lists()["acronyms"]:
        return None
    if group.text.isalpha():
        fits = said.text.isalpha() and (repeated or corrected or not between)
        return (group, repeated, corrected) if fits and not _is_whole(group.text) else None
    figures = all(len(unit.text) == 1 or unit.text.isdigit() for unit in (*said.units, *group.units))
    single = sum(len(unit.text) == 1 for unit in said.units) > 1 and sum(len(u.text) == 1 for u in group.units) > 1
    if not figures or not (single or (labeled and len(text) < 12)) or (len(text) in _PHONES and len(group.text) >= 7):
        return None
    return group, repeated, corrected


def _is_whole(text: str) -> bool:
    return text in lists()["acronyms"]


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
        return [Piece(text.upper(), i, end, "code")]
    if text[0] in "ai" and text[1:] in acronyms and len(group.units[0].text) == 1 and not group.units[0].sure:
        return [Piece(heard.at(i), i, i + 1), Piece(text[1:].upper(), i + 1, end, "code")]
    for acronym in sorted(acronyms, key=len, reverse=True):
        rest = text[len(acronym) :]
        units = len(acronym)
        if text.startswith(acronym) and len(acronym) > 2 and len(rest) > 1 and len(group.text) == len(group.units):
            return [Piece(acronym.upper(), i, i + units, "code"), Piece(rest.upper(), i + units, end, "spelled")]
    name = heard.at(end)
    if text.endswith("'") and len(name) > 2:
        return [Piece(text.upper() + name.capitalize(), i, end + 1, "spelled")]
    return [Piece(text.upper(), i, end, "spelled")]


def _mixed(heard: Heard, i: int, text: str, end: int, units: Sequence[_Unit]) -> list[Piece]:
    """An identifier of letters and figures, after the abbreviation that is its label, if any."""
    acronyms = lists()["acronyms"]
    lead = 0
    while lead < len(units) and units[lead].text.isalpha() and len(units[lead].text) == 1:
        lead += 1
    for count in range(lead, 1, -1):
        label = "".join(unit.text for unit in units[:count])
        if label in acronyms:
            at = units[count - 1].end
            return [Piece(label.upper(), i, at, "code"), *code(heard, at)]
    if lead == 1 and units[0].text in "ai" and not units[0].sure:
        return []
    if text[0].isdigit() and len(units) == 2 and not units[1].sure and not heard.ended(end - 1, end):
        return []  # "fifty p r n"
    return [Piece(text.upper(), i, end, "code")]


def _figures(heard: Heard, i: int, text: str, end: int, units: Sequence[_Unit], labeled: bool) -> list[Piece]:
    """A number: an amount, a telephone number, a year, or an identifier."""
    first = units[0]
    if heard.at(end) in ("over", "point") and (pair := _pair(heard, i, units)):
        return pair
    sizes = [len(unit.text) for unit in units]
    singles = all(size == 1 for size in sizes)
    phone = _phone(heard, i, text, end, labeled) if len(units) > 3 else ""
    if phone:
        return [Piece(phone, i, end, "phone")]
    if len(units) == 1:
        if size := _ordinal(heard, i):
            return [size]
        if len(text) == 1 and not labeled and heard.at(end) not in UNITS:
            return []
        return [Piece(text, i, end, "number")]
    joined = labeled or len(text) > 4 or (singles and len(units) > 2) or sizes in ([1, 2], [1, 3]) or text[0] == "0"
    if joined or (sizes in ([2, 2], [2, 1, 1], [2, 3]) and _street_follows(heard, end)):
        kind = "code" if len(text) > 3 or labeled else "number"
        return [Piece(text, i, end, kind)]
    return _figures(heard, i, first.text, first.end, [first], labeled) or [Piece(heard.at(i), i, i + 1)]


def _ordinal(heard: Heard, i: int) -> Piece | None:
    """ "forty second street", "twenty third" """
    found = ordinal(heard, i)
    if found and found.end - i == 2 and (heard.at(i + 1) != "second" or _street_follows(heard, found.end)):
        return Piece(nth(found.value), i, found.end, "number")
    return None


def _street_follows(heard: Heard, i: int) -> bool:
    """Whether the kind of a street is one of the next words."""
    streets = lists()["streets"] | lists()["ways"]
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
    more = number(heard, last)
    if more and (len(figures) == 1) and (len(more.figures) == 2 or sign == ".") and not heard.ended(last - 1, last):
        if len(more.figures) < 3 and (sign == "/" or more.single):
            figures, last = figures + more.figures, more.end
    return [Piece(f"{value}{sign}{figures}", i, last, "number")]


def _phone(heard: Heard, i: int, text: str, end: int, labeled: bool) -> str:
    """Figures in the form of a telephone or social security number; "" if they are none."""
    before = heard.before(i, _CUE)
    if len(text) == 9 and not lists()["social"].isdisjoint((*before, "".join(before[-3:]))):
        return f"{text[:3]}-{text[3:5]}-{text[5:]}"
    if labeled and not lists()["ids"].isdisjoint(before[-5:]) and lists()["calls"].isdisjoint(before):
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
