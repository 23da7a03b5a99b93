"""Numbers as a reader puts them together: digits apart, groups that odd signs divide, letters that look like digits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from incognote.text.escapes import Edit
from incognote.text.vocabulary import labels

# Groups that one sign divides, alike both times; a sum, a ratio or a list is none.
_SIGN = r"[^\w\s.,:;/+*=<>%&'\"()\[\]{}×÷±°-]"
_GROUPS = re.compile(
    rf"(\d(?<![\w/.|~^-]\d)\d{{0,3}})([ ]{{0,3}}{_SIGN}[ ]{{0,3}})(\d{{2,3}})(\2)['’]?(\d{{2,4}})(?![\w/|~^-]|\.\d)"
)
# The same of an SSN or a phone number, with a sign that usually means something else.
_NUMBER = re.compile(r"(?<![\w/.-])(\d{3})( / )(\d\d\d?)( / )(\d{4})(?![\w/-])")
_RARE = re.compile("[\u00a7-\u00b7\u2010-\u2bff][ ]{0,3}['’]?\\d")
_NUMBERS = frozenset(((3, 2, 4), (3, 3, 4)))
_SINGLES = re.compile(
    r"\d(?<![^\W_]\d)(?<![.,/]\d)(?:(?:[^\w,/+%:]|_){1,4}\d){8,9}(?![^\W_]|(?:[^\w,/+%:]|_){1,4}\d(?!\d))"
)
_PARTS = {9: (3, 5), 10: (3, 6)}  # where the groups of an SSN and of a phone number end
_GAP = re.compile(r"\D+")
_LIKE = str.maketrans("OoIlSBZ", "0011582")
_LOOKS = re.compile(r"[(\"']?[\dOoIlSBZ()./-]{4,16}[,;:.\"')]?")
_D = r"[\dOoIlSBZ]"
_SHAPED_DATE = re.compile(
    rf"(?<![\w/.-])({_D}{{1,2}}|{_D}{{4}})([/.-])({_D}{{1,2}})(\2)({_D}{{4}}|{_D}{{1,2}})(?![\w/-])"
)
_DIALED = re.compile(
    r"(?<![\w.:-])([2-9]\d\d):(\d{3}):(\d{4})(?![\w:])|(?<![\w.-])(?:1-)?(8\d\d)-(\d{0,3})-?([A-Z]{3,7})(?![\w-])"
)
_KEYS = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "22233344455566677778889999")
_SHAPED = re.compile(
    rf"(?<![\w.-])(?:\(?{_D}{{3}}(?:\)[ ]?|[ .-]){_D}{{3}}[ .-]{_D}{{4}}|{_D}{{3}}-{_D}\d-{_D}{{4}}"
    rf"|(?=\d|\w\d){_D}{{3,12}})(?![\w-])"
)


def parted(text: str, kinds: bytes) -> Iterator[Edit]:
    """Dates and numbers whose groups a sign divides: "184 ✦ 52 ✦ 7306".

    Args:
        kinds: the shape of the text.
    """
    for match in _NUMBER.finditer(text) if b"000 / 00" in kinds else ():
        yield *match.span(2), "-"
        yield *match.span(4), "-"
    if "~" in text or "|" in text or "^" in text or (not text.isascii() and _RARE.search(text)):
        for match in _GROUPS.finditer(text):
            sizes = tuple(len(match[n]) for n in (1, 3, 5))
            if "|" in match[2] and match[2] != "|":  # cells of a table
                continue
            if sizes in _NUMBERS or _date(match[1], match[3], match[5]):
                sign = "-" if sizes in _NUMBERS else "/"
                yield *match.span(2), sign
                yield match.start(4), match.start(5), sign


def apart(text: str) -> Iterator[Edit]:
    """Single digits, their groups divided by other signs than the digits of one group: "2 1 4 _ 5 5 5 _ 0 1 7 0"."""
    for match in _SINGLES.finditer(text):
        gaps = list(_GAP.finditer(match[0]))
        ends = _PARTS[len(gaps) + 1]
        between = {gap[0] for n, gap in enumerate(gaps, 1) if n in ends}
        steps = {ord(b) - ord(a) for a, b in pairwise(_GAP.sub("", match[0]))}
        if len(steps) > 2 and between.isdisjoint(gap[0] for n, gap in enumerate(gaps, 1) if n not in ends):
            for n, gap in enumerate(gaps, 1):
                yield match.start() + gap.start(), match.start() + gap.end(), "-" if n in ends else ""


def alike(text: str, tokens: Iterable[tuple[int, str]]) -> Iterator[Edit]:
    """Letters for digits, as OCR reads them, in a number that its label or its shape tells.

    Args:
        tokens: as `shape.odd_tokens` gives them.
    """
    done = 0
    for at, token in tokens:
        if at < done:
            continue
        if "-" in token or ":" in token:
            for match in _DIALED.finditer(token):
                signs = "".join(group or "" for group in match.groups())
                if len(signs) == 10:
                    yield at + match.start(), at + match.end(), _dialed(signs)
        if not _LOOKS.fullmatch(token):
            continue
        if (shaped_date := _SHAPED_DATE.search(token)) and (date := _read_date(shaped_date)):
            yield at + shaped_date.start(), at + shaped_date.end(), date
            continue
        for match in _SHAPED.finditer(text, max(0, at - 10), at + len(token) + 12):
            number, start = match[0], match.start()
            digits, letters = sum(map(str.isdigit, number)), sum(map(str.isalpha, number))
            inside = re.search(r"\d[OoIlSBZ]+\d", number)
            shaped = not number.isalnum() or (len(number) > 6 and re.search("[OoIl]", number))
            told = shaped or labels().LABELED.search(text[max(0, start - 80) : start])
            if letters and inside and digits >= letters and told:
                yield *match.span(), number.translate(_LIKE)
                done = match.end()


def _read_date(match: re.Match[str]) -> str:
    """The date that letters and digits mean; empty where they mean none, or a group is of letters alone."""
    groups = match.group(1, 3, 5)
    date = [group.translate(_LIKE) for group in groups]
    sure = date != [*groups] and all(any(map(str.isdigit, group)) for group in groups) and _date(*date)
    return match[2].join(date) if sure else ""


def _dialed(signs: str) -> str:
    """A phone number of which the last may be letters on the keys of a telephone, in digits."""
    digits = signs.translate(_KEYS)
    return f"{digits[:3]}-{digits[3:6]}-{digits[6:]}"


def _date(first: str, second: str, third: str) -> bool:
    """Whether three groups are a date: day and month in any order, then a year, or the year first."""
    year, rest = (first, third) if len(first) == 4 else (third, first)
    if len(rest) > 2 or len(second) > 2 or len(year) == 3:
        return False
    small, large = sorted((int(rest), int(second)))
    return 0 < small <= 12 and large <= 31 and (len(year) == 2 or 1900 <= int(year) < 2100)
