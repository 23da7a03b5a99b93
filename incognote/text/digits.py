"""Restore numbers that a reader would recognize: separated digits, unusual separators, letters that look like digits.

It also restores words with distorted letters: backwards, doubled, in alternating capitals, or mixed with digits. For
these, only odd tokens are searched (`shape.odd_tokens`), because a plain word has none of these forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from incognote.text import Vocabulary, labels
from incognote.text.escapes import Edit

_TWISTED = re.compile(
    r"(?<![^\W_])(?:(?P<doubled>(?:([A-Za-z])\2){3,}(?:([.:;,])\3)?)|(?P<backwards>[a-z]{3,40}[A-Z])"
    r"|(?P<capitals>(?:[A-Z](?:[a-z][A-Z]){2,20}[a-z]|(?:[a-z][A-Z]){3,20}[a-z]?|[A-Z](?:[a-z][A-Z]){3,20})))(?![^\W_])"
)
_LEET = re.compile(
    r"(?<![\w$@])(?=[A-Za-z0-9$@|]{0,12}[0134578$@|])(?=[0134578$@|]{0,12}[A-Za-z])[A-Za-z0134578$@|]{4,14}(?![\w$@])|(?<!\w)[A-Z][a-z0145]{1,10}I+[a-z]{0,10}(?!\w)"
)
_LEET_LETTERS = str.maketrans("0134578$@|", "oieastbsal")
_LEET_ELLS = str.maketrans("0134578$@|", "oleastbsal")
# Groups with the same separator twice. A sum, a ratio or a list does not count.
_SIGN = r"[^\w\s.,:;/+*=<>%&'\"()\[\]{}×÷±°-]"
_GROUPS = re.compile(
    rf"(\d(?<![\w/.|~^-]\d)\d{{0,3}})([ ]{{0,3}}{_SIGN}[ ]{{0,3}})(\d{{2,3}})(\2)['’]?(\d{{2,4}})(?![\w/|~^-]|\.\d)"
)
# The same for an SSN or a phone number, with a separator that usually means something else.
_NUMBER = re.compile(r"(?<![\w/.-])(\d{3})( / )(\d\d\d?)( / )(\d{4})(?![\w/-])")
_RARE = re.compile("[\u00a7-\u00b7\u2010-\u2bff][ ]{0,3}['’]?\\d")
_NUMBERS = frozenset(((3, 2, 4), (3, 3, 4)))
_SINGLES = re.compile(
    r"\d(?<![^\W_]\d)(?<![.,/]\d)(?:(?:[^\w,/+%:]|_){1,4}\d){8,9}(?![^\W_]|(?:[^\w,/+%:]|_){1,4}\d(?!\d))"
)
_PARTS = {9: (3, 5), 10: (3, 6)}  # where the first two groups of an SSN and of a phone number end
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


def untwisted(tokens: Iterable[tuple[int, str]], words: Vocabulary) -> Iterator[Edit]:
    """Yield the edits that put the letters of words in order.

    Args:
        tokens: the result of `shape.odd_tokens`.
    """
    backwards = []
    for at, token in tokens:
        for match in _TWISTED.finditer(token):
            word = match[0][::2] if match["doubled"] else match[0].title()
            if not match["backwards"]:
                yield at + match.start(), at + match.end(), word
            elif not words.known(match[0].lower()):
                backwards.append((at + match.start(), at + match.end(), match[0][::-1]))
    if any(words.name(word.lower()) > 1 for _, _, word in backwards):
        yield from backwards


def meant(tokens: Iterable[tuple[int, str]], words: Vocabulary) -> Iterator[Edit]:
    """Yield edits for names in which digits and symbols replace letters, as OCR and users write them."""
    for at, token in tokens:
        for match in _LEET.finditer(token):
            if word := _letters_meant(match[0], words):
                yield at + match.start(), at + match.end(), word


def _letters_meant(token: str, words: Vocabulary) -> str:
    """Return the name that a token spells with digits and symbols for letters, or "" if it is not a name."""
    letters, low = sum(map(str.isalpha, token)), token.lower()
    if (token[-1].isdigit() and letters + 1 == len(token)) or (token[0].isdigit() and len(token) < 5):  # ROS1, 84yo
        return ""
    meant = [low.translate(table) for table in (_LEET_LETTERS, _LEET_ELLS)]
    if "I" in token[1:]:
        meant.append(token[0].lower() + token[1:].replace("I", "l").lower().translate(_LEET_ELLS))
    if letters < 2 or any(words.usual(word) and words.name(word) < 6 for word in meant):
        return ""
    signs = len(token) - letters
    least = 3 if 2 * letters > len(token) or len(token) > 5 else 4
    if len(token) > 8 and signs > 1:
        least = 1
    best = max((word for word in meant if word.isalpha()), key=words.name, default="")
    return best.title() if best and words.name(best) >= least else ""


def parted(text: str, kinds: bytes) -> Iterator[Edit]:
    """Yield edits for dates and numbers with an unusual separator between groups: "184 ✦ 52 ✦ 7306".

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
    """Yield edits for single digits whose groups have another separator: "2 1 4 _ 5 5 5 _ 0 1 7 0"."""
    for match in _SINGLES.finditer(text):
        gaps = list(_GAP.finditer(match[0]))
        ends = _PARTS[len(gaps) + 1]
        between = {gap[0] for n, gap in enumerate(gaps, 1) if n in ends}
        steps = {ord(b) - ord(a) for a, b in pairwise(_GAP.sub("", match[0]))}
        if len(steps) > 2 and between.isdisjoint(gap[0] for n, gap in enumerate(gaps, 1) if n not in ends):
            for n, gap in enumerate(gaps, 1):
                yield match.start() + gap.start(), match.start() + gap.end(), "-" if n in ends else ""


def alike(text: str, tokens: Iterable[tuple[int, str]]) -> Iterator[Edit]:
    """Yield edits for letters in place of digits (OCR errors) in a number that its label or its shape identifies.

    Args:
        tokens: the result of `shape.odd_tokens`.
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
            number_like = shaped or labels().LABELED.search(text[max(0, start - 80) : start])
            if letters and inside and digits >= letters and number_like:
                yield *match.span(), number.translate(_LIKE)
                done = match.end()


def _read_date(match: re.Match[str]) -> str:
    """Return the date that letters and digits mean, or "" if it is not a date or if a group has only letters."""
    groups = match.group(1, 3, 5)
    date = [group.translate(_LIKE) for group in groups]
    sure = date != [*groups] and all(any(map(str.isdigit, group)) for group in groups) and _date(*date)
    return match[2].join(date) if sure else ""


def _dialed(signs: str) -> str:
    """Return a phone number in digits. Its last part may be letters on a telephone keypad."""
    digits = signs.translate(_KEYS)
    return f"{digits[:3]}-{digits[3:6]}-{digits[6:]}"


def _date(first: str, second: str, third: str) -> bool:
    """Whether three groups are a date: day and month in any order, and the year last or first."""
    year, rest = (first, third) if len(first) == 4 else (third, first)
    if len(rest) > 2 or len(second) > 2 or len(year) == 3:
        return False
    small, large = sorted((int(rest), int(second)))
    return 0 < small <= 12 and large <= 31 and (len(year) == 2 or 1900 <= int(year) < 2100)
