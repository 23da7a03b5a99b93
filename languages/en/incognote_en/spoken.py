"""Spoken English and English broken by spaces: spoken e-mail addresses, digits in words, spelled and dictated names.

Broken words are names of months and kinds of streets, with the digits beside them: "Octo ber 2 6, 20 23".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from functools import cache
from itertools import pairwise

from incognote.text.escapes import Edit
from incognote_en.labels import LABELED

_CAPPED = re.compile(r"(?<![^\W_])(?:cap(?:ital)? [a-z]{2,14}(?: |(?![^\W_]))){2,}")
_WORDED = r"[ ,]{0,3}[\[({<_\"']?(?<![a-z])(?:dot|period|point|underscore|dash|hyphen)(?![a-z])[\])}>_\"']?[ ,]{0,3}"
_SAID_DOT = r"[ ,]{0,3}[\[({<_\"']?(?<![a-z])(?:dot|period|point)(?![a-z])[\])}>_\"']?[ ,]{0,3}"
_DOT = rf"{_SAID_DOT}|[ ]{{0,3}}[\[(]?\.[\])]?[ ]{{0,3}}"
_DIGITS = {w: str(i) for i, w in enumerate("zero one two three four five six seven eight nine".split())}
_DIGITS |= {"oh": "0", "o": "0", "nought": "0", "niner": "9"}
TIMES = {"double": 2, "triple": 3, "treble": 3}
_DIGIT = rf"(?:(?:{'|'.join(TIMES)})[ -])?(?:{'|'.join(_DIGITS)})"
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_LARGER = frozenset((*_TEENS, *_TENS, "hundred"))
_NUMBER = {**_DIGITS, **{w: str(10 + i) for i, w in enumerate(_TEENS)}, **{w: f"{i}0" for i, w in enumerate(_TENS, 2)}}
NUMBERS = dict(_NUMBER)
"""The digits of each number that is a single word."""
TENS, ONES = frozenset(_TENS), frozenset(_DIGITS)
"""Words for 20 to 90; words for one digit."""
_NUMBER |= {f"{tens}{one}": f"{i}{_DIGITS[one]}" for i, tens in enumerate(_TENS, 2) for one in list(_DIGITS)[1:10]}
_SPELT = r"[a-z](?:,?[ ][a-z]){1,7}(?![a-z0-9])"
_SAID_NUMBER = rf"(?:{'|'.join((*_TENS, *_TEENS, *_DIGITS))})(?![a-z])"
_PIECE = rf"(?:[a-z][ ]as[ ]in[ ][a-z]{{2,12}}|{_SPELT}|[a-z0-9]+(?:[ -]{_SAID_NUMBER}){{0,4}})"
_ENDINGS = "com|org|net|edu|gov|io|co|us|uk|ca|au|de|fr|es|it|nl|ie|in|info|biz|health|hospital|test|example|mail"
_COUNTRIES = (
    "mx|br|jp|ch|at|se|no|dk|pl|nz|za|be|pt|"
    "gr|cz|fi|tr|kr|cn|ru|il|ar|cl|pe|ng|ke|gh|ph|sg|my|hk|tw|ae|sa|eg|hu|ro|ua|eu|me"
)
_SPOKEN_MAIL = re.compile(
    rf"(?<![\w@.])(?P<who>{_PIECE}(?:(?:[._-]|{_WORDED}){_PIECE}){{0,5}})"
    r"(?P<at>[ ,]{0,3}[\[({<_\"']?(?<![a-z])(?:at(?:[ ]sign)?|@)(?![a-z])[\])}>_\"']?[ ,]{0,3})"
    rf"(?P<where>(?:{_SPELT}|(?P<more>[a-z0-9-]+[ ])??[a-z0-9-]+)(?:(?:{_WORDED}|{_DOT})[a-z0-9-]+){{0,3}}?"
    rf"(?:(?P<dot>{_DOT})(?:{_ENDINGS})(?:{_SAID_DOT}(?:{_ENDINGS}|{_COUNTRIES}))?|(?P<said>{_SAID_DOT})(?:{_COUNTRIES})))(?!\w)"
)
_SPOKEN_SITE = re.compile(
    rf"(?<![\w-])(?:www|(?:(?:double[ -]u|w)[ ,-]{{1,2}}){{3}})(?:{_SAID_DOT})"
    rf"(?P<where>[a-z0-9-]+(?:[ ][a-z0-9-]+)?(?:{_SAID_DOT})(?:{_ENDINGS}))(?![\w-])"
)
_IN_BRACKETS = re.compile(r"[\[({]dot[\])}](?<=\w.....)(?=\w)")
_SEPARATORS = {"dot": ".", "period": ".", "point": ".", "underscore": "_", "dash": "-", "hyphen": "-"}
_SPOKEN_DIGITS = re.compile(rf"(?<![\w-]){_DIGIT}(?:(?:[ ]?[,–—-][ ]?|[ ]|\.[ ]|\r?\n){_DIGIT}){{3,}}(?![\w-])")
_TENS_AND_ONE = re.compile(rf"({'|'.join(_TENS)})-({'|'.join(list(_DIGITS)[1:10])})(?![a-z])")
_NUMBER_WORD = re.compile(
    rf"(?<![a-z])(?:({'|'.join(TIMES)})[ -])?"
    rf"({'|'.join(sorted(_NUMBER, key=len, reverse=True))})([ ]hundred)?(?![a-z])"
)
_SIMPLE = (
    rf"(?:(?:{'|'.join(_TENS)})(?:-(?:{'|'.join(list(_DIGITS)[1:10])}))?|{'|'.join(_TEENS)}|{_DIGIT}(?:[ ]hundred)?)"
)
_SPOKEN_PAIRS = re.compile(
    rf"(?<![\w-])(?:plus[ ])?{_SIMPLE}(?:(?:,[ ]|[ ]|[ ][–—-][ ]){_SIMPLE}){{3,}}"
    rf"(?:,?[ ]extension[ ]{_SIMPLE}(?:[ ]{_SIMPLE}){{0,3}})?(?![\w-])"
)
_SLASHED = re.compile(
    rf"(?<![\w-]){_SIMPLE}(?:[ ]{_SIMPLE})?(?:[ ]slash[ ]{_SIMPLE}(?:[ ]{_SIMPLE}){{0,3}}){{2}}(?![\w-])"
)
_HUNDRED = re.compile(rf"(?<![\w-])(?:one|a)[ ]hundred[ \n](?:and[ \n])?({_SIMPLE})(?![\w-])")
_STREETS = frozenset("street road avenue lane drive court way place close terrace boulevard yard crescent".split())
_HOUSE = re.compile(
    rf"(?<![\w-])(?:number[ ])?({_SIMPLE}(?:[ -](?:and[ ])?{_SIMPLE}){{0,4}}),?[ ]"
    rf"(?=(?:[a-z][ ])?(?:[a-z][a-z'\u2019-]{{1,20}}[ ]){{1,3}}(?:{'|'.join(sorted(_STREETS))})(?![a-z]))"
)
_ONE_DIGIT = re.compile(rf"(?:({'|'.join(TIMES)})[ -])?({'|'.join(_DIGITS)})(?![a-z])")
_COUNTED = frozenset((*NUMBERS, *TIMES, "hundred"))
_SPELLING = ((" as in ", 1), (" is for ", 1), (" for ", 3), (" like ", 3))  # with the fewest occurrences required
_AS_IN = r"[ ]?(?:as[ ]in|is[ ]for|for|like|-)[ ]?[a-z]{2,12}"
_NEXT = r"(?:space|new[ ]word),?[ ]"
_SPELLED = re.compile(
    rf"(?<![^\W_])[a-z]{_AS_IN}(?:[ ]?[,;-]?[ ]?(?:and[ ]|{_NEXT})?[a-z](?:{_AS_IN})?(?![^\W_])){{2,}}"
)
_SPELLED_ONE = re.compile(r"(?<![^\W_])([a-z])[ ]?(?:as[ ]in|is[ ]for|for|like|-)[ ]?([a-z]{2,12})")
_LONE = re.compile(r"(?<![^\W_])[a-z](?![^\W_])")
_NATO_WORDS = (
    "alfa|alpha|bravo|charlie|delta|echo|foxtrot|golf|hotel|india|juliet|kilo|lima|mike|november|oscar|papa|quebec|"
    "romeo|sierra|tango|uniform|victor|whiskey|x-ray|yankee|zulu"
)
_NATO_SET = frozenset(_NATO_WORDS.replace("x-", "").split("|"))
_BETWEEN = bytes(b if b < 128 and chr(b).isalpha() else 32 for b in range(256))
_AT_A_SITE = re.compile(r"@[\])}> ]{0,4}[a-z0-9-]+(?:[ ][a-z0-9-]+)?[ ,]{0,3}[\[(\"']?(?:\.|dot|period|point)")
_NATO = re.compile(
    rf"(?<![\w-])(?:{_NATO_WORDS})(?:(?:[ ,-]{{1,2}}|,?[ ](?:new[ ]word|space),?[ ])(?:{_NATO_WORDS})){{2,}}(?![\w-])"
)
_MONTHS = "January February March April June July August September October November December".split()
_BROKEN_STREETS = "Street Avenue Circle Court Drive Lane Road Boulevard Terrace Parkway Crescent Square Highway".split()
_ALSO_WORDS = frozenset("arch way race ace are cent quare".split())


def _ends(words: list[str]) -> frozenset[str]:
    """The possible second halves of broken words, in lower case: three letters or more."""
    return frozenset(word[i:] for word in words for i in range(1, len(word) - 2)) - _ALSO_WORDS


_MONTH_ENDS, _STREET_ENDS = _ends(_MONTHS), _ends(_BROKEN_STREETS)
_ALL_ENDS = _MONTH_ENDS | _STREET_ENDS


class _Said:
    """A text and its words, and the text in lower case with the same length.

    Attributes:
        text: the original text.
        low: the text in lower case.
        words, all: its words of ASCII letters, in order and as a set.
    """

    __slots__ = ("all", "low", "text", "words")

    def __init__(self, text: str) -> None:
        low = text.lower()
        if len(low) != len(text):
            low = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
        self.text, self.low = text, low
        self.words = low.encode("ascii", "replace").translate(_BETWEEN).decode("ascii").split()
        self.all = set(self.words)


def edits(text: str) -> Iterator[Edit]:
    """Edits that write spoken or broken parts of a text in the usual form. They are in no order and may overlap."""
    said = _Said(text)
    yield from _spoken(said)
    yield from _broken(text, said.all)


def _spoken(of: _Said) -> Iterator[Edit]:
    """E-mail addresses, numbers and spelled words as people speak them."""
    text, low, words, said = of.text, of.low, of.words, of.all
    blank = "@" in low and ("@ " in low or " @" in low or "@]" in low) and _AT_A_SITE.search(low) is not None
    if blank or "dot" in said or ("at" in said and ("(at)" in low or "[at]" in low or " period, " in low)):
        line = low.replace("\n", " ").replace("\r", " ")
        for match in _SPOKEN_SITE.finditer(line):
            yield *match.span(), "www." + _mail(match["where"])
        for match in _SPOKEN_MAIL.finditer(line):
            worded = re.search("[a-z]", match["at"]) is not None
            marked = re.search(r"[\[({<_@]", match["at"]) is not None
            named = match["said"] or re.search("dot|period|point", match["dot"])
            if (named or (marked and not match["more"])) and (worded or " " in match["at"]):
                yield *match.span(), _mail(match["who"]) + "@" + _mail(match["where"])
        for match in _IN_BRACKETS.finditer(low):
            yield *match.span(), "."
    if not said.isdisjoint(_COUNTED) and _counted(words, said & _COUNTED):
        yield from _numbers(low, said)
    if not (said.isdisjoint(_STREETS) or said.isdisjoint(_COUNTED)):
        yield from _houses(text, low, said & _STREETS)
    if "hundred" in said:
        for match in _HUNDRED.finditer(low):
            if len(rest := _figures(match[1])) < 3:
                yield *match.span(), f"1{rest:0>2}"
    if "slash" in said:
        for match in _SLASHED.finditer(low):
            yield *match.span(), "/".join(map(_figures, match[0].split("slash")))
    if not said.isdisjoint(("as", "for", "like")) and any(_lettered(low, sign, most) for sign, most in _SPELLING):
        for match in _SPELLED.finditer(low):
            pairs = [(m[1], m[2]) for m in _SPELLED_ONE.finditer(match[0])]
            if pairs and all(a == b[0] for a, b in pairs):
                names = re.split(_NEXT, _SPELLED_ONE.sub(r"\1", match[0]))
                yield *match.span(), " ".join("".join(_LONE.findall(name)).title() for name in names)
    if ("cap" in said or "capital" in said) and (low.count("cap ") > 1 or low.count("capital ") > 1):
        for match in _CAPPED.finditer(low):
            names = re.findall(r"cap(?:ital)? ([a-z]+)", match[0])
            yield *match.span(), " ".join(map(str.title, names)) + " " * match[0].endswith(" ")
    if len(said & _NATO_SET) > 1:
        for match in _NATO.finditer(low):
            pieces = re.split("new word|space", match[0])
            yield *match.span(), " ".join("".join(w[0] for w in re.findall(_NATO_WORDS, p)).title() for p in pieces)


def _counted(words: list[str], numbers: set[str]) -> bool:
    """Whether at least four number words follow one another, or nearly so."""
    pairs = 0
    last = len(words) - 1
    for number in numbers:
        at = -1
        for _ in range(words.count(number)):
            at = words.index(number, at + 1)
            pairs += at < last and words[at + 1] in _COUNTED
    return pairs > 2


def _lettered(low: str, sign: str, least: int) -> bool:
    """Whether a sign occurs at least `least` times in a text, and after a single letter."""
    if sign not in low or low.count(sign) < least:
        return False
    at = low.find(sign)
    while at >= 0:
        if low[at - 1 : at].isalpha() and not low[max(at - 2, 0) : at - 1].isalnum():
            return True
        at = low.find(sign, at + 1)
    return False


def _numbers(low: str, said: set[str]) -> Iterator[Edit]:
    """Numbers with many digits, spoken one by one or in groups."""
    if not said.isdisjoint(_DIGITS):
        for match in _SPOKEN_DIGITS.finditer(low):
            digits = "".join(_DIGITS[m[2]] * TIMES.get(m[1] or "", 1) for m in _ONE_DIGIT.finditer(match[0]))
            steps = {ord(b) - ord(a) for a, b in pairwise(digits)}
            line = low[low.rfind("\n", 0, match.start()) + 1 : match.start()]
            if len(steps) > 1 and (len(digits) > 4 or LABELED.search(line[-80:])):
                yield *match.span(), _grouped(digits)
    if not said.isdisjoint(_LARGER):
        for match in _SPOKEN_PAIRS.finditer(low):
            number, _, more = match[0].partition("extension")
            if len(digits := _figures(number)) > 7:
                yield (
                    *match.span(),
                    "+" * number.startswith("plus") + _grouped(digits) + (" x" + _figures(more)) * bool(more),
                )


def _houses(text: str, low: str, streets: set[str]) -> Iterator[Edit]:
    """House numbers before the name of a street: "number twelve, Juniper Court"."""
    if any(" " + street.title() in text for street in streets):
        for match in _HOUSE.finditer(low):
            if text[match.end()].isupper():
                hundreds, _, rest = match[1].rpartition(" hundred")
                number = 100 * int(_figures(hundreds)) + int(_figures(rest) or 0) if hundreds else _figures(rest)
                yield *match.span(), f"{number} "


def _figures(words: str) -> str:
    """The digits of numbers in words, joined. "forty-seven" is one number."""
    found = _NUMBER_WORD.findall(_TENS_AND_ONE.sub(r"\1\2", words))
    return "".join(_NUMBER[word] * TIMES.get(times, 1) + "00" * bool(hundred) for times, word, hundred in found)


def _grouped(digits: str) -> str:
    """Digits grouped like a telephone number if their count fits one."""
    return {7: f"{digits[:3]}-{digits[3:]}", 10: f"{digits[:3]}-{digits[3:6]}-{digits[6:]}"}.get(len(digits), digits)


def _mail(words: str) -> str:
    words = re.sub(r"(?<![a-z])([a-z]) as in [a-z]+", r"\1", words)
    words = re.sub(rf"({'|'.join(_TENS)})[ -]({'|'.join(_DIGITS)})(?![a-z])", r"\1\2", words)
    words = _NUMBER_WORD.sub(lambda m: _NUMBER[m[2]] * TIMES.get(m[1] or "", 1) if m[2] != "o" else m[0], words)
    words = re.sub(_WORDED, lambda m: _SEPARATORS[re.sub("[^a-z]", "", m[0])], words)
    return re.sub(r"[\[(, \"']|[\])]", "", words)


def _broken(text: str, said: Set[str]) -> Iterator[Edit]:
    """The edits that join broken months in dates, and broken kinds of streets after a house number.

    Args:
        said: the words of the text, in lower case.
    """
    if _ALL_ENDS.isdisjoint(said):
        return
    if not _MONTH_ENDS.isdisjoint(said):
        for match in _broken_date().finditer(text):
            yield from ((match.start(1) + i, match.start(1) + i + 1, "") for i, c in enumerate(match[1]) if c == " ")
            for part in (2, 3):
                at, digits = match.start(part), match[part] or ""
                yield from ((at + i, at + i + 1, "") for i, c in enumerate(digits) if c == " ")
    if not _STREET_ENDS.isdisjoint(said):
        for match in _broken_street().finditer(text):
            blank = text.index(" ", match.start(1))
            yield blank, blank + 1, ""


def _pieces(words: list[str], ends: frozenset[str]) -> str:
    return "|".join(f"{w[:i]} {w[i:]}" for w in words for i in range(1, len(w) - 1) if w[i:] in ends)


@cache
def _broken_date() -> re.Pattern[str]:
    return re.compile(
        rf"(?<![^\W_])({_pieces(_MONTHS, _MONTH_ENDS)})[ ]([0-3]?[ ]?\d)(?:st|nd|rd|th)?"
        r"(?:,?[ ](\d[ ]?\d[ ]?\d[ ]?\d))?(?!\w)"
    )


@cache
def _broken_street() -> re.Pattern[str]:
    return re.compile(
        r"(?<![\w.,/])\d{1,5}[ ](?:[A-Z][\w'’-]{0,24}[ ](?:[a-z]{2,12}[ ])?){1,3}?"
        rf"({_pieces(_BROKEN_STREETS, _STREET_ENDS)})(?!\w)"
    )
