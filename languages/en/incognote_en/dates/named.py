"""Dates without a day in numbers: holidays, seasons, quarters, ISO weeks, decades, and days without a month."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from functools import partial

from incognote_en import numbers
from incognote_en.dates.feasts import holiday
from incognote_en.dates.holidays import feast
from incognote_en.dates.pieces import (
    YEAR,
    CalendarNamePiece,
    DatePiece,
    DecadePiece,
    DigitsPiece,
    HolidayPiece,
    LiteralPiece,
    QuarterPiece,
    SeasonPiece,
    SuffixPiece,
    WeekPiece,
    WordsPiece,
    calendar_names,
    is_real,
    year_of,
)
from incognote_en.dates.written import EnglishDate

_WEEKDAY = r"(?:(?P<weekday>(?!(?:the|on)\b)[^\W\d_]{1,11})\.?,?\s+)?"
_DAY = re.compile(
    rf"{_WEEKDAY}(?P<the>(?:on\s+)?(?:the\s+)?)(?:(?P<day>\d{{1,2}})(?P<suffix>st|nd|rd|th|\.)?|(?P<words>{numbers.ORDINAL.pattern}))"
    rf"(?P<more>,?\s*{YEAR})?\Z",
    re.IGNORECASE,
)
_SEASON = re.compile(
    rf"(?P<before>(?:(?:early|mid|late|the|in|last|this|past|next)[\s-]+)*)(?P<season>spring|summer|autumn|fall|winter)"
    rf"(?:(?P<gap>,?\s+(?:of\s+)?){YEAR})?\Z",
    re.IGNORECASE,
)
_QUARTER = re.compile(rf"(?P<q>Q)(?P<n>[1-4])(?P<gap>[\s/,-]*(?:of\s+)?){YEAR}\Z", re.IGNORECASE)
_QUARTER_LAST = re.compile(rf"{YEAR}(?P<gap>[\s/-]*Q)(?P<n>[1-4])\Z", re.IGNORECASE)
_WEEK = re.compile(r"(?P<year>(?:19|20)\d\d)(?P<gap>[\s-]*(?:W|week\s?|wk\s?))(?P<week>\d{1,2})\Z", re.IGNORECASE)
_DECADE = re.compile(
    r"(?P<before>(?:(?:the|early|mid|late|in)[\s-]+)*['’]?)(?P<decade>(?:1[89]|20)?\d0)(?P<s>['’]?s)\Z", re.IGNORECASE
)
_FISCAL = re.compile(r"(?P<fy>FY\s?|fiscal\s+(?:year\s+)?)(?P<year>(?:19|20)\d\d|['’]?\d\d)\Z", re.IGNORECASE)
_GAP = re.compile(r",?\s+(?:\()?")
_CJK = re.compile(r"(?P<year>\d{4})\s*年\s*(?P<month>\d{1,2})\s*月\s*(?P<day>\d{1,2})\s*日\Z")
_MIDDLES = {"spring": (4, 15), "summer": (7, 16), "autumn": (10, 16), "fall": (10, 16), "winter": (1, 15)}
_DIGIT_LIKE = str.maketrans({"l": "1", "I": "1", "|": "1", "O": "0", "o": "0"})
_LETTER_LIKE = str.maketrans({"1": "l", "0": "o"})
_NUMBER_LIKE = re.compile(r"(?<![^\W_])(?=[lIoO|]*\d|[lIoO|]{1,2}[/.:-]|l\s)[\dlIoO|]+(?=st|nd|rd|th|[ap]m|[^\w]|_|\Z)")
_WORD_LIKE = re.compile(r"(?<![^\W_])(?=\w*[^\W\d_])[^\W_]{3,10}")
_MONTHS = [name.lower() for name in calendar.month_name[1:]]


def named(
    text: str, latest: int, cues: frozenset[str], parse: Callable[[str], EnglishDate | None]
) -> EnglishDate | None:
    """The date that a text names, or None.

    Args:
        latest: the latest year that two digits may mean.
        cues: what the text around it says. It decides how a holiday is written.
        parse: reads the rest of a text after the name of a holiday.
    """
    readers = (_day, _season, _quarter, _week, _decade, _fiscal, _cjk)
    found = next((read for reader in readers if (read := reader(text, latest))), None)
    return found or feast(text, latest, cues) or _beside(text, parse)


def repaired(text: str) -> str:
    """The text with letters that were read as digits (and the reverse) mended, and misspelt months corrected."""
    text = _NUMBER_LIKE.sub(lambda match: match.group().translate(_DIGIT_LIKE), text)
    return _WORD_LIKE.sub(_month, text)


def _month(match: re.Match[str]) -> str:
    word = match.group()
    low = word.lower().translate(_LETTER_LIKE)
    if low in calendar_names("months") or low in calendar_names("weekdays"):
        return word if low == word.lower() else low.title()
    close = [*get_close_matches(low.replace("rn", "m"), _MONTHS, 1, 0.8), *get_close_matches(low, _MONTHS, 1, 0.8)]
    if not close or len(low) < 4:
        return word
    return close[0].upper() if word.isupper() else close[0] if word.islower() else close[0].title()


def _day(text: str, latest: int) -> EnglishDate | None:
    """ "the 8th", "Saturday the 22nd", "15": a day without its month."""
    match = _DAY.match(text)
    if match is None:
        return None
    named = calendar_names("weekdays").get((match["weekday"] or "").lower()) if match["weekday"] else None
    day = numbers.read_ordinal(match["words"]) if match["words"] else int(match["day"])
    if (match["weekday"] and not named) or not 1 <= day <= 31:
        return None
    pieces: list[DatePiece] = []
    if named:
        pieces += [CalendarNamePiece("weekday", named[0].names, match["weekday"])]
        pieces += [LiteralPiece(text[match.end("weekday") : match.start("the")])]
    pieces.append(LiteralPiece(match["the"]))
    if match["words"]:
        pieces.append(WordsPiece("day", match["words"]))
    else:
        pieces.append(DigitsPiece("day", len(match["day"]) if match["day"][0] == "0" else 1))
        suffix = match["suffix"] or ""
        pieces.append(LiteralPiece(suffix) if suffix in ("", ".") else SuffixPiece(suffix))
    year, more = year_of(match["year"], latest)
    if more:
        pieces += [LiteralPiece(text[match.start("more") : match.start("year")]), *more]
    return EnglishDate("day-only", year, None, day, named[0].place if named else None, tuple(pieces))


def _season(text: str, latest: int) -> EnglishDate | None:
    match = _SEASON.match(text)
    if match is None:
        return None
    year, more = year_of(match["year"], latest)
    middle = _MIDDLES[match["season"].lower()]
    gap = LiteralPiece(match["gap"] or "")
    pieces: list[DatePiece] = [LiteralPiece(match["before"]), SeasonPiece(match["season"]), gap, *more]
    return EnglishDate("season", year, middle[0], None, None, tuple(pieces), middle)


def _quarter(text: str, latest: int) -> EnglishDate | None:
    first, last = _QUARTER.match(text), _QUARTER_LAST.match(text)
    match = first or last
    if match is None:
        return None
    year, pieces = year_of(match["year"], latest)
    gap, month = LiteralPiece(match["gap"]), 3 * int(match["n"]) - 1
    own: list[DatePiece] = [*pieces, gap, QuarterPiece()]
    if first:
        own = [LiteralPiece(first["q"]), QuarterPiece(), gap, *pieces]
    return EnglishDate("quarter", year, month, None, None, tuple(own), (month, 15))


def _week(text: str, latest: int) -> EnglishDate | None:
    match = _WEEK.match(text)
    if match is None:
        return None
    try:
        day = dt.date.fromisocalendar(int(match["year"]), int(match["week"]), 4)
    except ValueError:
        return None
    pieces = (WeekPiece(True, 4), LiteralPiece(match["gap"]), WeekPiece(False, len(match["week"])))
    return EnglishDate("week", day.year, None, None, None, pieces, place=partial(_fixed, day))


def _fixed(day: dt.date, year: int) -> dt.date:
    return day


def _decade(text: str, latest: int) -> EnglishDate | None:
    match = _DECADE.match(text)
    if match is None:
        return None
    number = int(match["decade"])
    year = number if number > 99 else latest - (latest - number) % 100
    pieces = (LiteralPiece(match["before"]), DecadePiece(len(match["decade"])), LiteralPiece(match["s"]))
    return EnglishDate("decade", year, None, None, None, pieces)


def _fiscal(text: str, latest: int) -> EnglishDate | None:
    match = _FISCAL.match(text)
    if match is None:
        return None
    digits = match["year"].lstrip("'’")
    year = int(digits) if len(digits) == 4 else latest - (latest - int(digits)) % 100
    pieces = (LiteralPiece(text[: match.end() - len(digits)]), DigitsPiece("year", len(digits)))
    return EnglishDate("year", year, None, None, None, pieces)


def _beside(text: str, parse: Callable[[str], EnglishDate | None]) -> EnglishDate | None:
    """A holiday before its own date: "Good Friday, 10th April 2009"."""
    for gap in reversed(list(_GAP.finditer(text))):
        if holiday(text[: gap.start()]) and (rest := parse(text[gap.end() :])) is not None and rest.exact:
            sample = text[: gap.start()]
            return replace(rest, pieces=(HolidayPiece("weekday", sample), LiteralPiece(gap.group()), *rest.pieces))
    return None


def _cjk(text: str, latest: int) -> EnglishDate | None:
    match = _CJK.match(text)
    if match is None:
        return None
    year, month, day = (int(match[part]) for part in ("year", "month", "day"))
    pieces = (DigitsPiece("year", 4), LiteralPiece("年"), DigitsPiece("month", 1), LiteralPiece("月"))
    whole = (*pieces, DigitsPiece("day", 1), LiteralPiece("日"))
    return EnglishDate("day", year, month, day, None, whole) if is_real(year, month, day) else None
