"""Words, numbers and addresses as people say them: spoken e-mail, digits in words, spelled and dictated names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from incognote.text.escapes import Edit
from incognote.text.layout import LABELED

_CAPPED = re.compile(r"(?<![^\W_])(?:cap(?:ital)? [a-z]{2,14}(?: |(?![^\W_]))){2,}")
_WORDED = r",?[ ]?[\[({]?\b(?:dot|period|point|underscore|dash|hyphen)\b[\])}]?,?[ ]?"
_DOT = r",?[ ]?[\[({]?\b(?:dot|period|point)\b[\])}]?,?[ ]?|[ ]?\.[ ]?"
_SPOKEN_MAIL = re.compile(
    rf"(?<![\w@.])(?P<who>[a-z0-9]+(?:(?:[._-]|{_WORDED})[a-z0-9]+){{0,5}})"
    r"(?P<at>,?[ ]?[\[({<]?(?<![a-z])(?:at(?:[ ]sign)?|@)(?![a-z])[\])}>]?,?[ ]?|[ ]@[ ]?|@[ ])"
    rf"(?P<where>[a-z0-9-]+(?:(?:{_WORDED}|{_DOT})[a-z0-9-]+){{0,3}}?(?P<dot>{_DOT})"
    r"(?:com|org|net|edu|gov|io|co|us|uk|ca|au|de|fr|es|it|nl|ie|in|info|biz|health|hospital|test|example|mail))(?!\w)"
)
_SEPARATORS = {"dot": ".", "period": ".", "point": ".", "underscore": "_", "dash": "-", "hyphen": "-"}
_DIGITS = {w: str(i) for i, w in enumerate("zero one two three four five six seven eight nine".split())}
_DIGITS |= {"oh": "0", "o": "0", "nought": "0", "niner": "9"}
_DIGIT = rf"(?:(?:double|triple)[ -])?(?:{'|'.join(_DIGITS)})"
_SPOKEN_DIGITS = re.compile(rf"(?<![\w-]){_DIGIT}(?:(?:[ ]?[,–—-][ ]?|[ ]|\.[ ]|\r?\n){_DIGIT}){{3,}}(?![\w-])")
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_LARGER = frozenset((*_TEENS, *_TENS))
_NUMBER = {**_DIGITS, **{w: str(10 + i) for i, w in enumerate(_TEENS)}, **{w: f"{i}0" for i, w in enumerate(_TENS, 2)}}
NUMBERS = dict(_NUMBER)
"""The digits of each number that is one word."""
_NUMBER |= {f"{tens}{one}": f"{i}{_DIGITS[one]}" for i, tens in enumerate(_TENS, 2) for one in list(_DIGITS)[1:10]}
_TENS_AND_ONE = re.compile(rf"({'|'.join(_TENS)})-({'|'.join(list(_DIGITS)[1:10])})(?![a-z])")
_NUMBER_WORD = re.compile(rf"(?<![a-z])(?:{'|'.join(sorted(_NUMBER, key=len, reverse=True))})(?![a-z])")
_SIMPLE = rf"(?:(?:{'|'.join(_TENS)})(?:-(?:{'|'.join(list(_DIGITS)[1:10])}))?|{'|'.join(_TEENS)}|{'|'.join(_DIGITS)})"
_SPOKEN_PAIRS = re.compile(rf"(?<![\w-]){_SIMPLE}(?:(?:,[ ]|[ ]|[ ][–—-][ ]){_SIMPLE}){{3,}}(?![\w-])")
_ONE_DIGIT = re.compile(rf"(?:(double|triple)[ -])?({'|'.join(_DIGITS)})(?![a-z])")
_AS_IN = r"[ ]?(?:as[ ]in|is[ ]for|for|like|-)[ ]?[a-z]{2,12}"
_SPELLED = re.compile(rf"(?<![^\W_])[a-z]{_AS_IN}(?:[ ]?[,;-]?[ ]?(?:and[ ])?[a-z](?:{_AS_IN})?(?![^\W_])){{2,}}")
_SPELLED_ONE = re.compile(r"(?<![^\W_])([a-z])[ ]?(?:as[ ]in|is[ ]for|for|like|-)[ ]?([a-z]{2,12})")
_LONE = re.compile(r"(?<![^\W_])[a-z](?![^\W_])")
_NATO_WORDS = (
    "alfa|alpha|bravo|charlie|delta|echo|foxtrot|golf|hotel|india|juliet|kilo|lima|mike|november|oscar|papa|quebec|"
    "romeo|sierra|tango|uniform|victor|whiskey|x-ray|yankee|zulu"
)
_NATO_SET = frozenset(_NATO_WORDS.replace("x-", "").split("|"))
_BETWEEN = "".join(c if c.isalpha() else " " for c in map(chr, range(128)))
_NATO = re.compile(rf"(?<![\w-])(?:{_NATO_WORDS})(?:[ ,-]{{1,2}}(?:{_NATO_WORDS})){{2,}}(?![\w-])")


def spoken(text: str) -> Iterator[Edit]:
    """E-mail addresses, numbers and spelled words as people say them."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    if any(sign in low for sign in (" dot ", " period, ", "dot]", "dot)", "dot}", "[at]", "(at)", " @ ")):
        for match in _SPOKEN_MAIL.finditer(low):
            worded = re.search("[a-z]", match["at"]) is not None
            marked = re.search(r"[\[({@]", match["at"]) is not None
            if (marked or re.search("dot|period|point", match["dot"])) and (worded or " " in match["at"]):
                yield *match.span(), _mail(match["who"]) + "@" + _mail(match["where"])
    said = set(low.translate(_BETWEEN).split())
    if len(said & _DIGITS.keys()) > 1:
        for match in _SPOKEN_DIGITS.finditer(low):
            digits = "".join(
                _DIGITS[m[2]] * {"double": 2, "triple": 3}.get(m[1] or "", 1) for m in _ONE_DIGIT.finditer(match[0])
            )
            steps = {ord(b) - ord(a) for a, b in pairwise(digits)}
            line = low[low.rfind("\n", 0, match.start()) + 1 : match.start()]
            if len(steps) > 1 and (len(digits) > 4 or LABELED.search(line[-80:])):
                yield *match.span(), _grouped(digits)
    if not said.isdisjoint(_LARGER):
        for match in _SPOKEN_PAIRS.finditer(low):
            digits = "".join(_NUMBER[word] for word in _NUMBER_WORD.findall(_tens(match[0])))
            if len(digits) > 7:
                yield *match.span(), _grouped(digits)
    if " as in " in low or " is for " in low or low.count(" for ") > 2 or low.count(" like ") > 2:
        for match in _SPELLED.finditer(low):
            pairs = [(m[1], m[2]) for m in _SPELLED_ONE.finditer(match[0])]
            if pairs and all(a == b[0] for a, b in pairs):
                yield *match.span(), "".join(_LONE.findall(_SPELLED_ONE.sub(r"\1", match[0]))).title()
    if low.count("cap ") > 1 or low.count("capital ") > 1:
        for match in _CAPPED.finditer(low):
            names = re.findall(r"cap(?:ital)? ([a-z]+)", match[0])
            yield *match.span(), " ".join(map(str.title, names)) + " " * match[0].endswith(" ")
    if len(said & _NATO_SET) > 1:
        for match in _NATO.finditer(low):
            yield *match.span(), "".join(word[0] for word in re.findall(_NATO_WORDS, match[0])).title()


def _tens(words: str) -> str:
    """Numbers in words with every "forty-seven" in one piece."""
    return _TENS_AND_ONE.sub(r"\1\2", words)


def _grouped(digits: str) -> str:
    """Digits as they are written where their number tells a telephone number."""
    return {7: f"{digits[:3]}-{digits[3:]}", 10: f"{digits[:3]}-{digits[3:6]}-{digits[6:]}"}.get(len(digits), digits)


def _mail(words: str) -> str:
    words = re.sub(
        r"(?i)[ ]?[\[({]?\b(dot|period|point|underscore|dash|hyphen)\b[\])}]?[ ]?",
        lambda m: _SEPARATORS[m[1].lower()],
        words,
    )
    return words.replace(" ", "")
