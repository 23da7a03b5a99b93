"""Holidays in a text: what the words around one say, and how it is written on another day.

A holiday becomes a plain day ("since November 3"), or words without a day if the text means the occasion
("celebrated the holiday", "the family dinner").
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from functools import partial

from incognote_en.dates.feasts import Holiday, holiday, nouns
from incognote_en.dates.pieces import YEAR, DatePiece, HolidayPiece, HolidayStyle, LiteralPiece, year_of
from incognote_en.dates.written import EnglishDate, Precision

_EVENT = re.compile(
    r"(?i)\b(?:for|because\s+of|due\s+to|on\s+account\s+of|celebrat\w+|observ\w+|honou?r\w*|spen[dt]\w*|fast\w*|keeps?|"
    r"kept|hosted|hosting|(?:nights?|days?|eve|start|end|feast|rest)\s+of|days?\s+(?:before|after))\s+"
    r"(?:(?:the|his|her|their|our|this|that)\s+)?\Z"
)
_FOR_DAY = re.compile(r"(?i)\b(?:schedul\w+|planned|booked|set|due|appointments?|appt|slated|moved|listed)\s+for\s+\Z")
_IS = re.compile(
    r"(?i)\b(?:was|is|it['’]s)\s+(?:(?:not|also|just|only|really)\s+)?(?:(?:his|her|their|my|the|an?)\s+[\w'’]+\s+and\s+)?\Z"
)
_FASTING = re.compile(r"(?i)\bfast(?:s|ed|ing)?\s+(?:for\s+)?\Z")
_OF_PEOPLE = re.compile(r"\b[A-Z][a-z]+(?:an|ish|ese|ic|dox|ch)\s+\Z")
_WAS = re.compile(r"(?i)\s+(?:was|is|fell|falls|observed|observance)\b")
_DATED = re.compile(
    r"(?i)\s?[,(]?\s?\(?(?:\d{1,2}[/-]\d|(?:on\s+)?(?:\d{1,2}\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d)"
)
_DATED_BEFORE = re.compile(r"\d(?:st|nd|rd|th)?\s*\((?:a\s+|the\s+|on\s+)?\Z")
_PREPOSITION = re.compile(r"(?i)\b(at|over|in|during|throughout)\s+(?:the\s+)?\Z")
_BARE = re.compile(
    r"(?i)\b(?:at|over|in|during|on|after|before|since|until|till|for|by|from|of|to|and|with|throughout|around)\s+\Z"
)
_ARTICLE = re.compile(r"(?i)\b(?:the|an?|his|her|their|our|my|your|this|that)\s+\Z")
_EACH = re.compile(r"(?i)\b(?:last|this|next|past|every|each|previous|coming)\s+\Z")
_FIRST = re.compile(r"(?:\A|\n|[.!?]\s)\W*\Z")
_BEHIND = re.compile(r"(?:['’]s?)?[ -]([A-Za-z5][A-Za-z-]+)(?![\w-])")

_OCCASION = re.compile(
    r"(?i)\b(?:trick-or-treat\w*|costumes?|jack-o'?-lanterns?|pumpkins?|fireworks|firecrackers|cook-?outs?|barbecues?|"
    r"parades?|(?-i:turkey)|menorah|dreidels?|santa claus|mistletoe|carol(?:s|ing)|christmas tree|midnight mass|"
    r"egg hunts?|seders?|matzah|iftar|bon dances?|lion dances?|red envelopes?|mooncakes?|tamales|piñata)\b"
)
_OTHER_SENTENCE = re.compile(r"[.!?;]\s|\n")
_LEAD = re.compile(
    r"\W?(?:(?:on|the|last|this|next|past|near|falls?|night|week|weekend|morning|evening|after|before|of|around)\s+)*\W?",
    re.IGNORECASE,
)
_DAY_AFTER = re.compile(r"(?i)(?:the\s+)?day(?:\s+(?:(after)|before)\s+(?:the\s+)?|\s+)?\Z")
_YEAR_LAST = re.compile(rf"(?P<gap>,?\s*(?:of\s+)?){YEAR}\Z", re.IGNORECASE)
_NOUN = re.compile(r"['’]?\s+([A-Za-z-]+)\Z")
_UNKNOWN = re.compile(r"(?:the\s+)?(?:[A-Z][\w'’.-]*\s+){1,4}(?:Day|Eve|Festival|New\s+Year(?:['’]s)?)")
_DAYS = frozenset(("day", "days"))


def holiday_cues(before: str, behind: str) -> Iterator[str]:
    """What the text around a date says about it if it is a holiday.

    Yields:
        `event` (the occasion is meant), `occasion` (the sentence tells what people do on it),
        `dated` (its date is beside it), `at` or `over` (the preposition), `bare` (a
        preposition directly before it), `article`, `is`, `fasting`, `each` ("last", "every"), `first` (a sentence
        begins), and `as-…` for the noun behind it (`feasts.nouns`).
    """
    if _EVENT.search(before) and not _FOR_DAY.search(before):
        yield "event"
    if _IS.search(before) or _WAS.match(behind):
        yield "event"
    if _OCCASION.search(_OTHER_SENTENCE.split(before)[-1] + "\n" + _OTHER_SENTENCE.split(behind, maxsplit=1)[0]):
        yield "occasion"
    if _OF_PEOPLE.search(before):  # Mexican Mother's Day
        yield from ("event", "article")
    if _DATED_BEFORE.search(before) or _DATED.match(behind):
        yield "dated"
    if match := _PREPOSITION.search(before):
        yield "at" if match.group(1).lower() == "at" else "over"
    patterns = {"article": _ARTICLE, "bare": _BARE, "each": _EACH, "fasting": _FASTING, "first": _FIRST, "is": _IS}
    for cue, said in patterns.items():
        if said.search(before):
            yield cue
    if (noun := _BEHIND.match(behind)) and (kind := nouns().get(noun[1].lower())):
        yield f"as-{kind}"


def feast(text: str, latest: int, cues: frozenset[str]) -> EnglishDate | None:
    """The holiday that a text names, with words before it ("the day after"), a noun, or a year after it; or None.

    Args:
        latest: the latest year that two digits may mean.
        cues: from `holiday_cues`.
    """
    dated = _YEAR_LAST.search(text)
    body = text[: dated.start()] if dated else text
    for start in (0, *(match.end() for match in re.finditer(r"\s+|[(\"“'‘]", body))):
        lead = body[:start]
        after = _DAY_AFTER.match(lead)
        if not after and not _LEAD.fullmatch(lead):
            return None
        if (found := _named(body[start:])) is None:
            continue
        known, name, noun = found
        if after:
            known, lead = Holiday(partial(_beside, known.place, 1 if after[1] else -1)), ""
        year, ending = year_of(dated["year"], latest) if dated else (None, [])
        pieces = _pieces(known, name, noun, cues, lead, bool(after), bool(dated))
        if ending:
            pieces += [LiteralPiece(", " if getattr(pieces[-1], "style", "") == "day" else " "), *ending]
        precision: Precision = "season" if known.lasting or known is _ANY else "holiday"
        return EnglishDate(precision, year, None, None, None, (LiteralPiece(lead), *pieces), place=known.place)
    return None


def _beside(place: Callable[[int], dt.date], days: int, year: int) -> dt.date:
    return place(year) + dt.timedelta(days)


_ANY = Holiday(lambda year: dt.date(year, 7, 2))
"""A holiday that no list names."""


def _named(words: str) -> tuple[Holiday, str, str] | None:
    """The holiday, its name, and the noun after it."""
    if known := holiday(words):
        return known, words, ""
    noun = _NOUN.search(words)
    if noun and (noun[1].lower() in nouns() or noun[1].lower() in _DAYS) and (known := holiday(words[: noun.start()])):
        return known, words[: noun.start()], noun[1].lower()
    return (_ANY, words, "") if _UNKNOWN.fullmatch(words) else None


def _pieces(
    known: Holiday, name: str, noun: str, cues: frozenset[str], lead: str, after: bool, dated: bool
) -> list[DatePiece]:
    """The pieces for a holiday, its noun, and nothing else."""
    kind = nouns().get(noun) or next((cue[3:] for cue in cues if cue.startswith("as-")), "")
    if not dated and (word := _occasion(known, kind, cues)):
        needed = not lead and not cues & {"article", "each"} and ("bare" in cues or not kind)
        the = "a " if "is" in cues else "on the " if _alone(cues) else "the "
        text = the * needed + word + (f" {noun}" if noun else "")
        return [LiteralPiece(text.upper() if name.isupper() and len(name) > 4 else _capital(text, cues, lead))]
    if "dated" in cues and not dated and not noun:
        return [HolidayPiece("weekday", name)]
    if kind in ("unit", "week") and noun:
        the = "" if lead.lower().endswith("the ") or (not lead and "article" in cues) else "the "
        return [LiteralPiece(_capital(f"{the}{noun} of ", cues, lead)), HolidayPiece("day", name)]
    style: HolidayStyle = "day"
    if known.lasting or kind == "month" or (_EACH.search(lead) or "each" in cues):
        style = "month"
    elif not (after or kind or lead) and cues & {"at", "over"}:
        style = "at" if "at" in cues else "third"
    more: list[DatePiece] = [LiteralPiece(f" {noun}")] if noun and noun not in _DAYS else []
    the = "the " if kind == "week" and "bare" in cues and not lead else ""
    return [LiteralPiece(the), HolidayPiece(style, name), *more]


def _occasion(known: Holiday, kind: str, cues: frozenset[str]) -> str:
    """The words for a holiday that is not meant as a day, or ""."""
    if kind not in ("", "unit", "week", "month"):
        return kind
    if not kind and (cues & {"event", "occasion"} or known is _ANY):
        return "fast" if known.fasting and "fasting" not in cues else "holiday"
    return ""


def _alone(cues: frozenset[str]) -> bool:
    """Whether only the rest of the sentence shows the occasion, and no preposition is before the holiday."""
    return "occasion" in cues and not cues & {"event", "bare", "first"}


def _capital(text: str, cues: frozenset[str], lead: str) -> str:
    return text[:1].upper() + text[1:] if "first" in cues and not lead else text
