"""Written dates: reading one into its parts, and writing another date in exactly the same format.

    written = parse("Tuesday, March 4th, '25")
    written.moved(30)                        # "Thursday, April 3rd, '25"

It reads numeric dates (month or day first, ISO, dotted, HL7 timestamps), dates with month names or Roman months,
dictated dates, and partial dates (month and year, month and day, year, month, weekday). Each may have weekdays,
ordinals, filler words, line breaks and a time of day. The time of day stays unchanged. It also reads misspelt months,
digits that were scanned as letters, seasons, quarters, weeks, decades, days without a month, and holidays (`named`). A
holiday is written as a plain day. The caller writes a label for anything else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal

from incognote.operators.readers import LATEST_TWO_DIGIT_YEAR
from incognote_en import numbers
from incognote_en.dates import named
from incognote_en.dates.cues import ADMISSION, cues
from incognote_en.dates.hijri import HijriPiece, gregorian
from incognote_en.dates.holidays import feast
from incognote_en.dates.pieces import (
    DASHES,
    THIRDS,
    CalendarNamePiece,
    DatePart,
    DatePiece,
    DigitsPiece,
    LiteralPiece,
    Named,
    SuffixPiece,
    ThirdPiece,
    WordsPiece,
    calendar_names,
    either_order,
    fillers,
    fits,
    is_real,
    long_names,
    order_of_three,
    order_of_two,
    reads_day_first,
    roman_month,
)
from incognote_en.dates.ranges import divided
from incognote_en.dates.written import EnglishDate, Precision

__all__ = ["ADMISSION", "EnglishDate", "cues", "parse", "parse_all", "reads_day_first"]

_LONGEST = 100  # characters; a longer text is not a date, and patterns need not be tried on it

_CLOCK = (
    r"\d{1,2}(?:[:h]\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[ap]\.?m\.?|[ap]\b|hrs?|hours|h|uhr)?|\s*[ap]\.?m\b\.?|[ap]\b|\s*uhr)"
    r"|\d{4}\s*(?:hrs?|hours|h)\b"
    r"|\d{1,2}\.\d{2}\s*[ap]\.?m\b\.?"  # no other dotted clock: in "Mon 10.07" it would be a date
)
_ZONE = r"(?:\s*(?:Z|UTC|GMT|[A-Z]{1,2}[SD]T|[+-]\d{2}:?\d{2}))?"
_HHMM = r"(?:[01]\d|2[0-3])[0-5]\d"
_MILITARY = (
    rf"(?:(?:(?<=[/.-]\d[/.-]\d\d)|(?<=[/.-]\d\d[/.-]\d\d)|(?<=\d[/.-]\d{{4}}))\s+{_HHMM}"  # 5/20/22 2235
    rf"|(?:(?<=\d/\d)|(?<=\d/\d\d))\s+(?!19|20){_HHMM}"  # 11/05 0530, but 2015 after 3/14 may be its year
    rf"|(?:(?<=\b(?:mon|tue|wed|thu|fri|sat|sun))|(?<=\b(?:tues|weds|thur))|(?<=\bthurs))\s+{_HHMM}"  # Fri 1640
    rf"|(?<=[\s,](?:19|20)\d\d)\s+{_HHMM}|(?<=\))\s+{_HHMM}"  # April 6, 2023 1340; 12/4/23 (Mon) 1430
    rf"|(?<=\d),\s+(?!1[89]|2[01]){_HHMM}"
    rf"|(?<=\d)(?:\s*@\s*|\s+at\s+){_HHMM})"
)
_TIME_AFTER = re.compile(
    rf"(?:{_MILITARY}|(?:T|[\s,;(]+(?:(?:at|@|um|à|a\s+las)\s*)?)(?:{_CLOCK}){_ZONE}\)?"
    r"|(?<=\d),?\s+(?:over)?(?:night|morning|afternoon|evening|noon|midnight))\Z",
    re.IGNORECASE,
)
_TIME_BEFORE = re.compile(
    rf"(?:{_CLOCK}){_ZONE}[\s,]+(?:on\s+)?|(?:{_HHMM}|\d{{1,2}}\.[0-5]\d)(?:,\s*|\s+on\s+)(?=\d)", re.IGNORECASE
)
_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)((?:T?(?:[01]\d|2[0-4])(?:[0-5]\d){0,2}(?:\.\d+)?(?:[+-]\d{4}|Z)?)?)\Z")
_SUFFIXES = ("st", "nd", "rd", "th", "er", "º", "ª")


_HIJRI = frozenset({"هـ", "ه"})
_DAY_BEHIND = re.compile(r"\.? \d{1,2}(?!\d)")  # "April 3": no German date is written so


@cache
def _token() -> re.Pattern[str]:
    return re.compile(
        rf"(?P<year_words>{numbers.YEAR.pattern})|(?P<day_words>{numbers.ORDINAL.pattern})"
        r"|(?P<space>\s+)|(?P<short>['’‘`´]\d\d)(?!\d)|(?P<number>\d+)"
        rf"|(?P<word>(?:{long_names()})(?![^\W\d_])|هـ|[^\W\d_]+)|(?P<mark>[-/.,،‐‑–—−~()])",
        re.IGNORECASE,
    )


@dataclass(slots=True)
class _Token:
    kind: str
    text: str
    named: Named | None = None
    part: str = ""


def parse(
    text: str,
    *,
    day_first: bool = False,
    latest: int = LATEST_TWO_DIGIT_YEAR,
    around: frozenset[str] = frozenset(),
) -> EnglishDate | None:
    """Read a written date; None if it is not a date that can be written again.

    Args:
        text: the date and nothing else.
        day_first: how 03/04/2024 is read. Dotted dates are always read day first. An impossible reading (13/04/2024) is
            replaced by the other one.
        latest: the latest year that two digits may mean.
        around: the cues of the date (`DateReader.parse_all`).
    """
    if len(text) > _LONGEST:
        return None
    if (read := _parsed(text, day_first, latest, around)) is not None:
        return read
    mended = named.repaired(text)
    return _parsed(mended, day_first, latest, around) if mended != text else None


@lru_cache(maxsize=1 << 12)
def _parsed(text: str, day_first: bool, latest: int, cues: frozenset[str]) -> EnglishDate | None:
    head, body, tail = _clocked(text)
    noun = body == "the Fourth" or any(cue.startswith("as-") for cue in cues)  # 4th of July cookout
    read = feast(body, latest, cues) if noun else None
    read = read or _stamp(body, day_first) or _tokens_read(body, day_first, latest, cues)
    if read is None:
        read = named.named(body, latest, cues, lambda rest: _parsed(rest, day_first, latest, cues))
    if read is None or not (head or tail):
        return read
    return replace(read, pieces=(LiteralPiece(head), *read.pieces, LiteralPiece(tail)))


def _clocked(text: str) -> tuple[str, str, str]:
    """The time of day before a date, the date, and the time of day after it."""
    if before := _TIME_BEFORE.match(text):
        return before.group(), text[before.end() :], ""
    if after := _TIME_AFTER.search(text):
        return "", text[: after.start()], after.group()
    return "", text, ""


def parse_all(
    text: str,
    *,
    day_first: bool = False,
    latest: int = LATEST_TWO_DIGIT_YEAR,
    around: frozenset[str] = frozenset(),
) -> list[EnglishDate | str] | None:
    """A date, or the dates of a range or list with the text between them; None as in `parse`."""
    return divided(text, lambda part: parse(part, day_first=day_first, latest=latest, around=around))


def _stamp(text: str, day_first: bool) -> EnglishDate | None:
    """HL7 and ISO basic timestamps, and eight digits with the year last."""
    match = _STAMP.match(text)
    if match and is_real(int(match[1]), int(match[2]), int(match[3])):
        return _glued(text[:8], ("year", "month", "day"), match[4])
    if re.fullmatch(r"\d{8}", text):
        values = (int(text[:2]), int(text[2:4]))
        order = next((o for o in either_order(day_first) if fits(values, o)), None)
        if order is not None and is_real(int(text[4:]), values[order.index("month")], values[order.index("day")]):
            return _glued(text, (*order, "year"), "")
    return None


def _glued(digits: str, order: Sequence[DatePart], tail: str) -> EnglishDate:
    values: dict[str, int] = {}
    pieces: list[DatePiece] = []
    at = 0
    for part in order:
        width = 4 if part == "year" else 2
        values[part] = int(digits[at : at + width])
        pieces.append(DigitsPiece(part, width, DigitsPiece.zero_of(digits)))
        at += width
    return EnglishDate("day", values["year"], values["month"], values["day"], None, (*pieces, LiteralPiece(tail)))


def _tokens_read(text: str, day_first: bool, latest: int, cues: frozenset[str]) -> EnglishDate | None:
    tokens = _lexed(text, cues)
    if tokens is None:
        return None
    months = [t for t in tokens if t.kind == "month"]
    weekdays = [t for t in tokens if t.kind == "weekday"]
    if any(t.kind == "hijri" for t in tokens):
        return _hijri(tokens)
    if len(months) > 1 or len(weekdays) > 1 or not _assign(tokens, bool(months), day_first):
        return None
    year, month, day = (_value(tokens, part, latest) for part in ("year", "month", "day"))
    weekday = weekdays[0].named.place if weekdays and weekdays[0].named else None
    precision = _precision(year, month, day, weekday)
    if precision is None or not is_real(year, month or 1, day or 1):
        return None
    return EnglishDate(precision, year, month, day, weekday, _pieces(tokens), _middle(tokens, month))


def _hijri(tokens: Sequence[_Token]) -> EnglishDate | None:
    """A date of the Islamic calendar with its year: day, month and year, month and year, or the year."""
    named = [t for t in tokens if t.part == "month"]
    numeric = [t for t in tokens if t.kind == "number"]
    if len(named) > 1 or not numeric or any(t.kind in ("short", "suffix", "third") for t in tokens):
        return None
    order: list[DatePart] = ["day", "year"] if named else ["day", "month", "year"]
    order = order[-len(numeric) :]
    if len(numeric[0].text) == 4:
        order.reverse()
    if len(order) != len(numeric):
        return None
    for token, part in zip(numeric, order, strict=True):
        token.part = part
    year, month, day = (_value(tokens, part, LATEST_TWO_DIGIT_YEAR) for part in ("year", "month", "day"))
    found = None if year is None else gregorian(year, month or 7, day or (15 if month else 1))
    if found is None:
        return None
    pieces = tuple(HijriPiece(piece) for piece in _pieces(tokens))
    if month and day:
        return EnglishDate("day", found.year, found.month, found.day, None, pieces)
    middle = (found.month, found.day)
    return EnglishDate(
        "month" if month else "year", found.year, found.month if month else None, None, None, pieces, middle
    )


def _middle(tokens: Sequence[_Token], month: int | None) -> tuple[int, int]:
    """The month and day of the middle of a vague date: early March is March 5, late 2019 is November 1."""
    third = next((THIRDS[t.text.lower()].index(t.text.lower()) for t in tokens if t.kind == "third"), 1)
    return (month, 5 + 10 * third) if month else ((3, 1), (7, 2), (11, 1))[third]


def _lexed(text: str, cues: frozenset[str]) -> list[_Token] | None:
    """Tokens and their kinds: month, weekday, number, suffix, year_words, day_words, literal, short (like '22)."""
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        match = _token().match(text, at)
        if match is None or match.lastgroup is None:
            return None
        kind, word = match.lastgroup, match.group()
        token = _Token(kind, word) if kind not in ("space", "mark") else _Token("literal", word)
        if kind == "word":
            named = _named(word, tokens, text[match.end() : match.end() + 5], cues)
            if named is None:
                return None
            token = named
        tokens.append(token)
        at = match.end()
    return tokens


def _named(word: str, before: Sequence[_Token], rest: str, cues: frozenset[str]) -> _Token | None:
    after, after_day = rest[:1], _DAY_BEHIND.match(rest) is not None
    low = " ".join(word.lower().split())
    if before and before[-1].kind == "number" and low in _SUFFIXES:
        return _Token("suffix", word)
    if low in _HIJRI:
        return _Token("hijri", word)
    if low in calendar_names("hijri"):
        return _Token("hijri", word, calendar_names("hijri")[low][0], "month")
    glued = bool(before) and (before[-1].kind == "number" or before[-1].text in DASHES or before[-1].text == "/")
    if low in calendar_names("months"):
        lists = calendar_names("months")[low]
        short = glued or (bool(after) and (after in DASHES or after in "/." or after.isdigit()))
        # September has a long full name
        fit = [named for named in lists if len(named.names[8]) <= 4] if short else lists
        return _Token("month", word, _likeliest(fit or lists, word, before, cues, after_day=after_day), "month")
    if low in calendar_names("weekdays"):
        return _Token("weekday", word, calendar_names("weekdays")[low][0], "weekday")
    if glued and after and (after in DASHES or after in "/.") and (numeral := roman_month(word)):
        return _Token("month", word, numeral, "month")
    if (before[-1].text == "." if before else len(word) > 1) and after == "." and (numeral := roman_month(word)):
        return _Token("month", word, numeral, "month")
    if low in THIRDS:
        return _Token("third", word)
    return _Token("literal", word) if low in fillers() else None


def _likeliest(
    lists: Sequence[Named], word: str, before: Sequence[_Token], cues: frozenset[str], *, after_day: bool
) -> Named:
    """The list of a month's name that several languages share, by the weekday, a dot after the day, or a capital."""
    codes = [token.named.language for token in before if token.kind == "weekday" and token.named]
    marks = "".join(token.text.lower() for token in before if token.kind == "literal")
    if ("german" in cues and not after_day) or (before and before[0].kind == "number" and marks.startswith(".")):
        codes.append("de")
    if " de " in marks:
        codes.append("es")
    if word[0].isupper() and not word.isupper():
        codes += ["en", "de"]  # Spanish and French months have no capital
    return next((named for code in codes for named in lists if named.language == code), lists[0])


def _assign(tokens: Sequence[_Token], has_month: bool, day_first: bool) -> bool:
    """Assign year, month and day to the numbers. Return False if that is impossible."""
    for token in tokens:
        token.part = {"short": "year", "year_words": "year", "day_words": "day"}.get(token.kind, token.part)
    at = [i for i, t in enumerate(tokens) if t.kind == "number"]
    for i in at:
        if i + 1 < len(tokens) and tokens[i + 1].kind == "suffix":
            tokens[i].part = "day"
    if has_month:
        return _assign_beside_month(tokens, [i for i in at if not tokens[i].part])
    if any(t.kind == "suffix" for t in tokens):
        return False  # "the 8th": a day without its month cannot be moved
    if any(t.kind in ("year_words", "day_words", "short") for t in tokens):
        return not at
    return _assign_numeric(tokens, at, day_first)


def _assign_beside_month(tokens: Sequence[_Token], free: Sequence[int]) -> bool:
    month = next(i for i, t in enumerate(tokens) if t.kind == "month")
    taken = {t.part for t in tokens}
    for i in free:
        digits = len(tokens[i].text)
        if digits == 4:
            part = "year"
        elif digits > 2:
            return False
        elif "day" not in taken and 1 <= int(tokens[i].text) <= 31:
            part = "day"
        elif digits == 2 and i > month and not _is_range(tokens, i, month):
            part = "year"
        else:
            return False
        if part in taken:
            return False
        tokens[i].part = part
        taken.add(part)
    parts = [t.part for t in tokens if t.part]
    return len(parts) == len(set(parts))


def _is_range(tokens: Sequence[_Token], at: int, month: int) -> bool:
    """Whether a dash before a two-digit number joins two days: "March 4-6", but not "Mar-04-06"."""
    dashed = [any(mark in token.text for mark in DASHES) for token in (tokens[at - 1], tokens[month + 1])]
    return dashed[0] and not dashed[1]


def _assign_numeric(tokens: Sequence[_Token], at: Sequence[int], day_first: bool) -> bool:
    sizes = [len(tokens[i].text) for i in at]
    joints = ["".join(t.text for t in tokens[a + 1 : b]).strip() for a, b in pairwise(at)]
    if len(set(joints)) > 1 or any(joint not in (*DASHES, "/", ".", "") for joint in joints):
        return False
    values = [int(tokens[i].text) for i in at]
    order: Sequence[DatePart] | None = None
    if len(at) == 0:
        order = ()
    elif len(at) == 1:
        order = ("year",) if sizes == [4] else None
    elif len(at) == 2:
        order = order_of_two(values, sizes, joints[0], day_first)
    elif len(at) == 3:
        order = order_of_three(values, sizes, joints[0], day_first)
    if order is None:
        return False
    for i, part in zip(at, order, strict=True):
        tokens[i].part = part
    return True


def _value(tokens: Sequence[_Token], part: str, latest: int) -> int | None:
    token = next((t for t in tokens if t.part == part), None)
    if token is None:
        return None
    if token.named is not None:
        return token.named.place + 1
    if token.kind == "day_words":
        return numbers.read_ordinal(token.text)
    if token.kind == "year_words":
        return numbers.read_year(token.text)
    number = int(token.text.lstrip("'’‘`´"))
    if part == "year" and len(token.text.lstrip("'’‘`´")) == 2:
        return latest - (latest - number) % 100
    return number


def _precision(year: int | None, month: int | None, day: int | None, weekday: int | None) -> Precision | None:
    known = (year is not None, month is not None, day is not None)
    if known == (False, False, False):
        return "weekday" if weekday is not None else None
    kinds: dict[tuple[bool, bool, bool], Precision] = {
        (True, True, True): "day",
        (True, True, False): "month",
        (True, False, False): "year",
        (False, True, True): "month-day",
        (False, True, False): "month-only",
    }
    return kinds.get(known)


def _pieces(tokens: Sequence[_Token]) -> tuple[DatePiece, ...]:
    pieces: list[DatePiece] = []
    for n, token in enumerate(tokens):
        if n and tokens[n - 1].kind == "third" and token.kind == "literal" and token.text in ("-", " "):
            third = pieces[-1]
            assert isinstance(third, ThirdPiece)
            pieces[-1] = replace(third, joint=token.text)
        elif token.kind == "short":  # '22: the apostrophe and two digits
            pieces += [LiteralPiece(token.text[0]), DigitsPiece("year", 2, DigitsPiece.zero_of(token.text[1]))]
        else:
            pieces.append(_piece(token, tokens))
    return tuple(pieces)


def _piece(token: _Token, tokens: Sequence[_Token]) -> DatePiece:
    if token.named is not None:
        return CalendarNamePiece("weekday" if token.kind == "weekday" else "month", token.named.names, token.text)
    if token.kind == "third":
        words = THIRDS[token.text.lower()]
        return ThirdPiece(not any(t.part == "month" for t in tokens), words, token.text)
    if token.kind == "suffix":
        return SuffixPiece(token.text)
    if token.kind in ("year_words", "day_words"):
        return WordsPiece("year" if token.kind == "year_words" else "day", token.text)
    if token.part == "year":
        return DigitsPiece("year", len(token.text), DigitsPiece.zero_of(token.text))
    if token.part in ("month", "day"):
        part: Literal["month", "day"] = "month" if token.part == "month" else "day"
        return DigitsPiece(part, _width(token, tokens), DigitsPiece.zero_of(token.text))
    return LiteralPiece(token.text)


def _width(token: _Token, tokens: Sequence[_Token]) -> int:
    """The padding, from the number itself, else from its neighbor, else from the convention of the format."""
    if len(token.text) == 1:
        return 1
    if int(token.text) < 10:
        return 2
    peers = [t for t in tokens if t is not token and t.kind == "number" and t.part in ("month", "day")]
    if peers and (len(peers[0].text) == 1 or int(peers[0].text) < 10):
        return len(peers[0].text)
    joints = "".join(t.text for t in tokens if t.kind == "literal")
    if any(t.kind == "suffix" for t in tokens):
        return 1
    if any(t.kind == "month" for t in tokens):
        return 1 if joints and not any(mark in joints for mark in (*DASHES, "/")) else 2
    return 2 if any(t.part == "year" for t in tokens) or "." in joints else 1
