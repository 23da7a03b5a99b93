"""Dates and times as people say them."""

from __future__ import annotations

from collections.abc import Iterator

from incognote_en.spoken_words.heard import Heard, Piece
from incognote_en.spoken_words.numbers import Number, below_hundred, nth, number, ordinal, short_year, year

MONTHS = frozenset(
    "january february march april may june july august september october november december".split()
)
WEEKDAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
WEEKDAYS |= {day + "s" for day in WEEKDAYS} | {day + "'s" for day in WEEKDAYS}
_ALSO_WORDS = frozenset(("march", "may"))
_MONTH_CUES = frozenset("in since last next of early late mid until till by this from during through every".split())
_DAY_CUES = WEEKDAYS | frozenset("on until till by since before after from through around said or".split())
_BIRTH = frozenset("born birth birthday birthdate dob date dated".split())
_COUNTED = frozenset(
    "percentile centile century week day time street avenue floor grade rib toe finger digit nerve trimester degree "
    "person child baby one dose visit opinion place line vertebra ventricle metatarsal of".split()
)
_AFTER = frozenset(
    "and at with but for to when he she we i they so then or if that in because around about you is it my your this no "
    "was until till please i'm he's she's it's comma period just through".split()
)
_LAST = 14
"""A word of birth counts for a date in figures at most this many words later."""
UNITS = frozenset(
    "milligram milligrams mg micrograms mcg gram grams milliliters ml liters cc ccs units unit percent degrees pounds "
    "kilos kilograms kilo ounces inches inch feet foot centimeters millimeters cm mm minutes minute hours hour seconds "
    "days day weeks week months month years year times pills tablets tablet capsules puffs drops beats over point "
    "dollars bucks cents stitches sutures milliequivalents joules liter gauge french thousand hundred million".split()
)
"""After these words, a number is an amount."""


def date(heard: Heard, i: int) -> Piece | None:
    """The date or time at a word."""
    found = max(_dates(heard, i), key=lambda piece: piece.last, default=None)
    return found or _clock(heard, i)


def _dates(heard: Heard, i: int) -> Iterator[Piece]:
    if heard.at(i).removesuffix("'s") in MONTHS:
        yield from _month_first(heard, i)
    yield from _day_first(heard, i)
    yield from _in_figures(heard, i)
    if (whole := year(heard, i)) and _is_year(heard, i, whole):
        yield Piece(whole.figures + "s" * (heard.at(whole.end - 1)[-1] == "s"), i, whole.end, "date")


def _is_year(heard: Heard, i: int, found: Number) -> bool:
    """Whether a number that reads like a year is one: no amount, and no part of a longer number."""
    after, before = heard.at(found.end), heard.at(i - 1)
    return (
        1880 <= found.value <= 2099
        and found.end - i > 1
        and after not in UNITS
        and (heard.ended(found.end - 1, found.end) or not number(heard, found.end))
        and (heard.ended(i - 1, i) or not number(heard, i - 1) or before == "one")
    )


def _day(heard: Heard, i: int) -> Number | None:
    found = ordinal(heard, i) or below_hundred(heard, i)
    return found if found and 1 <= found.value <= 31 else None


def _years(heard: Heard, i: int) -> Iterator[tuple[str, int]]:
    """The years that may follow a day: as written, and the word where they end."""
    i += heard.at(i) in ("of", "in")
    if found := year(heard, i):
        yield found.figures, found.end
    short = short_year(heard, i)
    if short and (short.value > 19 or heard.at(i) in ("oh", "zero")) and heard.at(short.end) not in UNITS:
        yield f"'{short.figures}", short.end


def _month_first(heard: Heard, i: int) -> Iterator[Piece]:
    name = heard.at(i).capitalize()
    at = i + 1 + (heard.at(i + 1) == "the")
    for digits, end in _years(heard, i + 1):
        if digits[0] != "'":
            yield Piece(f"{name} {digits}", i, end, "date")
    if day := _day(heard, at):
        if heard.at(day.end) not in UNITS or ordinal(heard, at):
            yield Piece(f"{name} {day.value}", i, day.end, "date")
        for digits, end in _years(heard, day.end):
            yield Piece(f"{name} {day.value}, {digits}", i, end, "date")
    low = heard.at(i)
    if low not in _ALSO_WORDS or heard.at(i - 1) in _MONTH_CUES:
        yield Piece(name, i, i + 1, "date")


def _day_first(heard: Heard, i: int) -> Iterator[Piece]:
    the = heard.at(i) == "the"
    day = _day(heard, i + the)
    if day is None:
        return
    is_ordinal = ordinal(heard, i + the) is not None
    j = day.end + (heard.at(day.end) == "day")
    of = heard.at(j) == "of"
    name = heard.at(j + of).removesuffix("'s")
    if name in MONTHS and (of or is_ordinal) and (of or the or name not in _ALSO_WORDS):
        text = "the " * the + (nth(day.value) if is_ordinal else day.figures) + " of" * of + f" {name.capitalize()}"
        yield Piece(text, i, j + of + 1, "date")
        for digits, end in _years(heard, j + of + 1):
            yield Piece(f"{text} {digits}", i, end, "date")
    elif the and is_ordinal and heard.at(day.end) not in _COUNTED and _is_day(heard, i, day):
        yield Piece(f"the {nth(day.value)}", i, day.end, "date")


def _is_day(heard: Heard, i: int, day: Number) -> bool:
    """Whether "the third" is a day of a month, and no adjective: by the words around it or by its size."""
    if day.end - i > 2:
        return True
    alone = heard.ended(day.end - 1, day.end) or heard.at(day.end) in _AFTER
    before = heard.before(i, 30)
    dated = not (MONTHS | WEEKDAYS).isdisjoint(before) or any(ordinal(heard, j) for j in range(max(i - 8, 0), i))
    cued = heard.at(i - 1) in _DAY_CUES
    timed = dated and number(heard, day.end) is not None
    done = heard.at(i - 1) == "on" and heard.at(i - 2).endswith(("ed", "en", "wn", "ne"))
    return done or (alone and (cued or dated)) or (cued and dated) or timed or day.value > 10


def _in_figures(heard: Heard, i: int) -> Iterator[Piece]:
    """Month, day and year in figures: "oh three twelve sixty two", "three slash twelve"."""
    month = _two(heard, i)
    within = not heard.ended(i - 1, i) and heard.at(i - 1) != "oh" and number(heard, i - 1)
    if month is None or month.value > 12 or within:
        return
    sign = {"slash": "/", "dash": "-", "hyphen": "-"}.get(heard.at(month.end), "")
    day = _two(heard, month.end + bool(sign)) or ordinal(heard, month.end + bool(sign))
    if day is None or not 1 <= day.value <= 31:
        return
    more = bool(sign) and heard.at(day.end) == heard.at(month.end)
    whole = year(heard, day.end + more)
    short = short_year(heard, day.end + more)
    head = f"{month.figures}{sign or '/'}{day.figures}"
    for found in (whole, short):
        sure = found is whole or bool(sign) or heard.at(i) == "oh"
        if found is None or heard.at(found.end) in UNITS or not (sure or _born(heard, i, found.end)):
            continue
        if found is whole or heard.ended(found.end - 1, found.end) or not number(heard, found.end):
            yield Piece(f"{head}{sign or '/'}{found.figures}", i, found.end, "date")
    if sign == "/":
        yield Piece(head, i, day.end, "date")


def _born(heard: Heard, i: int, end: int) -> bool:
    """Whether the words around speak of a date of birth or another date."""
    before = heard.before(i, _LAST)
    return not _BIRTH.isdisjoint(before) or not MONTHS.isdisjoint((*before[-6:], *heard.words[end : end + 3])) or (
        before[-3:] == ["d", "o", "b"]
    )


def _two(heard: Heard, i: int) -> Number | None:
    """A number of one or two figures, perhaps with a zero before: "oh three", "twelve"."""
    if heard.at(i) in ("oh", "zero"):
        return short_year(heard, i)
    return below_hundred(heard, i)


def _clock(heard: Heard, i: int) -> Piece | None:
    """A time: "ten thirty a m", "two o'clock", "at ten fifteen"."""
    hour = below_hundred(heard, i)
    if hour is None or hour.value > 24:
        return None
    minute = short_year(heard, hour.end)
    if minute and minute.value > 59:
        minute = None
    end = minute.end if minute else hour.end
    text = f"{hour.value}:{minute.figures}" if minute else hour.figures
    for half in "ap":
        if heard.at(end) == f"{half}m" or (heard.at(end) == half and heard.at(end + 1) == "m"):
            return Piece(f"{text} {half}m", i, end + 1 + (heard.at(end) == half), "number")
    if not minute and heard.at(end) in ("o'clock", "oclock"):
        return Piece(f"{text} o'clock", i, end + 1, "number")
    timed = heard.at(i - 1) in ("at", "by", "around", "about", "until", "till", "before", "after", "since")
    part = heard.says(end, ("in", "the")) and heard.at(end + 2) in ("morning", "afternoon", "evening")
    if not minute or hour.value > 12:
        return None
    last = heard.ended(end - 1, end) or heard.at(end) in ("on", "in", "for", "with", "and", "or", "tomorrow", "today")
    return Piece(text, i, end, "number") if part or (timed and last) else None
