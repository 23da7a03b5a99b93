"""Numbers as people say them: figures one by one, in groups, or as a value."""

from __future__ import annotations

from typing import NamedTuple

from incognote_en.spoken import NUMBERS, TENS, TIMES
from incognote_en.spoken_words.heard import Heard

_DIGIT = {word: figures for word, figures in NUMBERS.items() if len(figures) == 1}
_ZERO = frozenset(("zero", "oh", "o", "nought"))
_TEEN = {word: figures for word, figures in NUMBERS.items() if len(figures) == 2 and word not in TENS}
_ORDINALS = {
    word: n
    for n, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(),
        1,
    )
} | {"thirtieth": 30, "fortieth": 40, "fiftieth": 50, "sixtieth": 60, "seventieth": 70, "eightieth": 80}


class Number(NamedTuple):
    """A number up to the word `end`.

    Attributes:
        figures: as they are written, with zeros before.
        single: it was said as one figure.
    """

    figures: str
    end: int
    single: bool = False

    @property
    def value(self) -> int:
        """What the figures mean."""
        return int(self.figures)


def figure(word: str) -> str:
    """The figure that a word means, "" if none. "o" is a letter."""
    return _DIGIT.get(word, "") if word != "o" else ""


def below_hundred(heard: Heard, i: int) -> Number | None:
    """The number from 10 to 99 at a word, or a figure from 1 to 9."""
    word = heard.at(i)
    if "-" in word:
        tens, _, one = word.partition("-")
        if tens in TENS and one in _DIGIT and one not in _ZERO:
            return Number(NUMBERS[tens][0] + _DIGIT[one], i + 1)
        return None
    if word in TENS:
        one = heard.at(i + 1)
        if one in _DIGIT and one not in _ZERO and not heard.ended(i, i + 1):
            return Number(NUMBERS[word][0] + _DIGIT[one], i + 2)
        return Number(NUMBERS[word], i + 1)
    if word in _TEEN:
        return Number(_TEEN[word], i + 1)
    if word in _DIGIT and word not in _ZERO:
        return Number(_DIGIT[word], i + 1, single=True)
    return None


def _rest(heard: Heard, i: int, size: int) -> Number | None:
    """What follows "hundred" or "thousand" at word i: "and five", "fifty two"."""
    joined = heard.at(i) == "and"
    rest = _large(heard, i + joined) if size == 1000 else below_hundred(heard, i + joined)
    if rest is None or rest.value >= size or heard.ended(i - 1, i + joined):
        return None
    if rest.single and not joined and (figure(heard.at(rest.end)) or heard.at(rest.end) in NUMBERS):
        return None  # "eight hundred five five five"
    return rest


def _large(heard: Heard, i: int) -> Number | None:
    """A number with "hundred" or "thousand" at a word, or one below a hundred."""
    head = Number("1", i + 1) if heard.at(i) in ("a", "one") else below_hundred(heard, i)
    if head is None or (heard.at(i) == "a" and heard.at(i + 1) not in ("hundred", "thousand")):
        return None
    size = {"hundred": 100, "thousand": 1000}.get(heard.at(head.end), 0)
    if not size or heard.ended(head.end - 1, head.end):
        return head if heard.at(i) != "one" else Number("1", i + 1, single=True)
    value, end = head.value * size, head.end + 1
    if size == 100 and heard.at(end) == "thousand":
        value, end, size = value * 1000, end + 1, 1000
    if rest := _rest(heard, end, size):
        value, end = value + rest.value, rest.end
    return Number(str(value), end)


def number(heard: Heard, i: int) -> Number | None:
    """The number at a word: one figure, "double five", "twenty one", "a hundred and four", "two thousand", "555"."""
    word = heard.at(i)
    if word in TIMES:
        then = heard.at(i + 1)
        return Number(_DIGIT[then] * TIMES[word], i + 2, single=True) if figure(then) or then == "o" else None
    if word in _ZERO and word != "o":
        return Number("0", i + 1, single=True)
    if word.isascii() and word.isdigit():
        return Number(word, i + 1)
    return _large(heard, i)


def ordinal(heard: Heard, i: int) -> Number | None:
    """The ordinal at a word: "third", "twenty third", "twenty-third"."""
    word = heard.at(i)
    tens, _, one = word.partition("-")
    if one and tens in TENS and _ORDINALS.get(one, 99) < 10:
        return Number(str(int(NUMBERS[tens]) + _ORDINALS[one]), i + 1)
    if word in TENS and _ORDINALS.get(heard.at(i + 1), 99) < 10:
        return Number(str(int(NUMBERS[word]) + _ORDINALS[heard.at(i + 1)]), i + 2)
    return Number(str(_ORDINALS[word]), i + 1) if word in _ORDINALS else None


def nth(n: int) -> str:
    """A number as an ordinal: 3 → "3rd"."""
    ending = "th" if n % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"


def year(heard: Heard, i: int) -> Number | None:
    """A year in full at a word: "nineteen sixty two", "twenty oh four", "two thousand and eleven"."""
    word = heard.at(i)
    if word.isdigit() and len(word) == 4:
        return Number(word, i + 1)
    if heard.says(i, ("two", "thousand")):
        rest = _rest(heard, i + 2, 100)
        return Number(str(2000 + (rest.value if rest else 0)), rest.end if rest else i + 2)
    century = {"eighteen": "18", "nineteen": "19", "twenty": "20"}.get(word)
    if century is None or heard.ended(i, i + 1):
        return None
    if heard.at(i + 1) == "hundred":
        rest = _rest(heard, i + 2, 100)
        return Number(f"{century}{rest.value if rest else 0:02}", rest.end if rest else i + 2)
    return Number(century + short.figures, short.end) if (short := short_year(heard, i + 1)) else None


def short_year(heard: Heard, i: int) -> Number | None:
    """Two figures of a year at a word: "sixty two", "oh four", "eleven"."""
    if heard.at(i) in _ZERO:
        one = heard.at(i + 1)
        return Number("0" + _DIGIT[one], i + 2) if one in _DIGIT else None
    found = below_hundred(heard, i)
    return found if found and len(found.figures) == 2 else None
