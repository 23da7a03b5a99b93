"""Recognize clinical words and numbers that a model takes for identifiers: "STEMI", "Farsi", "I69.320", "at 1900".

The lists and patterns are data of the language (`words/clinical.toml`). A detector that knows more, such as a rule with
a label or a title, is never overruled: only findings that nothing but a guess supports are checked.
"""

from __future__ import annotations

import re
from functools import cache

from incognote.languages import language
from incognote.nouns import Span
from incognote.schemas.catalogue import catalogue
from incognote.text.characters import BLANK
from incognote.text.lexicon import MEDICAL, PLACE, commonness, fold, given, lexicon, surname

_NEAR = 48  # characters of context on each side of a number
_AROUND = 300  # characters in which the use of capitals is counted
_CENTURY = 105  # years: a note mentions no year that is further back
_LIKELY, _SURE = 0.9, 0.93
_NAME = 4  # the lexicon's weight of a usual given name
_SHORT = 5  # letters of the longest short field name
_ACRONYM = re.compile(r"[A-Z]{3,10}s?")
_FIELD = re.compile(r"[A-Za-z]{1,6}(?:[-.][A-Za-z]{1,3})?\.?")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_CLOCK = re.compile(r"(?:[01]\d|2[0-3])[0-5]\d")
_CONTINUES = re.compile(r"[-/.]\w")
_SIGNED = re.compile(r"(?i)(?:/|\b(?:dictated|typed|transcribed|signed|initials|by|rn|md|np|d|t):?)\s?\Z")
_NEW_FIELD, _CODE = re.compile(r"(?:\A|\n|  |\t)[ \t]*\Z"), re.compile(r":[ ]?#?[A-Z]{0,2}-?\d")
_SPEECH = re.compile(r"(?i)interp|speak|spoke|language|dialect|translat|\w/[a-z]")
_BEFORE = re.compile(r"([^\W\d_]+) \Z")
_OPENS, _KEY = re.compile(r"(?:\A|\n|[\"“‘])[ \t]*\Z"), re.compile(rf"\.?:|[ ]#?[\d{BLANK}]")
_SERVES = re.compile(r" (?:to|from|crew|consult(?:ed)?|following|aware|recs|recommends|team|clinic|fellow)\b")
_CLOSES = re.compile(r"\s*(?:[,!.…]|\n|\Z)")
_MEASURE = re.compile(r"[-+.]?\d{1,3}(?:[./]\d{1,3})?[+%]?")
_DATED = re.compile(r"\d{1,2}/\d{1,2}")
_ROW, _MEASURES, _PLAIN = 6, 0.8, 2  # cells of a row of measures; the share that are; those that are no partial dates
_PERSON, _PLACES, _NUMBERS = frozenset(("PERSON",)), frozenset(("LOCATION",)), frozenset(("ID", "CONTACT"))
_YEAR = re.compile(r"(?:\d[/.-]|, ?)((?:19|20)\d\d)\b(?![-/.]?\d)|\b((?:19|20)\d\d)-\d\d-\d\d|\d/\d{1,2}/(\d\d)\b(?!/)")


def clinical(span: Span) -> bool:
    """Whether a guess is a clinical word, abbreviation, code or time of day, and identifies nobody."""
    group, words = catalogue()[span.type].group, span.text
    if any(c.isdecimal() for c in words):
        return _number(span, group)
    if group in _NUMBERS:
        return words.isupper() and _FIELD.fullmatch(words) is not None
    if group not in _PERSON | _PLACES:
        return False
    if _in_phrase(span):
        return True
    sure = _LIKELY if given(lexicon().get(fold(words), 0)) >= _NAME else _SURE
    return acronym(span, sure) or _word(span, group)


def acronym(span: Span, sure: float) -> bool:
    """Whether a span is a known abbreviation in capitals, in a text that is not in capitals.

    Args:
        sure: from this score, a span is no abbreviation.
    """
    text = span.source.content
    forms = {fold(span.text), fold(span.text.removesuffix("s"))}
    if not _ACRONYM.fullmatch(span.text) or _words("acronyms").isdisjoint(forms):
        return False
    if span.score >= sure:
        return False
    signed = _SIGNED.search(text, max(0, span.start - 16), span.start) or text[span.end : span.end + 1] == "/"
    return not signed and _mixed(span)


def _word(span: Span, group: str) -> bool:
    """Whether a single word is a language, a service, a greeting, or, as a place, an ordinary word in lower case."""
    if not _WORD.fullmatch(span.text):
        return False
    if (before := _BEFORE.search(span.source.content, max(0, span.start - 24), span.start)) and (
        f"{fold(before[1])} {fold(span.text)}" in never_names()
    ):
        return True  # "Nurse Pool"
    if before and before[1].lower() in _words("meeting") and fold(span.text) in _words("criteria"):
        return True  # "within Milan"
    word, entry = fold(span.text), lexicon().get(fold(span.text), 0)
    if group in _PERSON:
        text = span.source.content
        if word in _words("field"):
            return _KEY.match(text, span.end) is not None and span.score < _LIKELY
        if len(word) <= _SHORT and max(given(entry), surname(entry)) < _NAME and _CODE.match(text, span.end):
            return _NEW_FIELD.search(text, max(0, span.start - 8), span.start) is not None  # "  Loc: 412B"
        if word in _words("service") and given(entry) < _NAME:
            return _SERVES.match(text, span.end) is not None and span.score < _LIKELY
        opens = _OPENS.search(text, max(0, span.start - 4), span.start) is not None
        return word in _words("greeting") and opens and _CLOSES.match(text, span.end) is not None
    if word in _words("language") or (word.endswith("ese") and _spoken(span)):
        return True
    if not span.text.islower() or not _mixed(span):
        return False
    ordinary = commonness(entry) >= 2 or bool(entry & MEDICAL)
    return word in _words("service") or (ordinary and not entry & PLACE)


def _in_phrase(span: Span) -> bool:
    """Whether a span lies in a phrase whose names identify nobody: "recites Virgil", "Azorean Portuguese"."""
    start = max(0, span.start - _NEAR)
    around = span.source.content[start : span.end + _NEAR]
    return any(
        match.start() <= span.start - start and span.end - start <= match.end()
        for pattern in _patterns("phrases")
        for match in pattern.finditer(around)
    )


def _spoken(span: Span) -> bool:
    """Whether the words around a span show that it is a language: "Fuzhounese/Mandarin", "Burmese interpreter"."""
    text = span.source.content
    return _SPEECH.search(text[max(0, span.start - _NEAR // 2) : span.end + _NEAR // 2]) is not None


def _mixed(span: Span) -> bool:
    """Whether the text around a span has mostly lower case, and words with a capital."""
    text = span.source.content
    around = text[max(0, span.start - _AROUND) : span.start] + text[span.end : span.end + _AROUND]
    if span.text.isupper():
        return sum(c.islower() for c in around) > sum(c.isupper() for c in around)
    return any(word[0].isupper() for word in _WORD.findall(around))


def _number(span: Span, group: str) -> bool:
    text, start = span.source.content, max(0, span.start - _NEAR)
    around = text[start : span.end + _NEAR]
    digits = [at for at in range(span.start - start, span.end - start) if around[at].isdecimal()]
    if any(
        all(match.start() <= at < match.end() for at in digits)
        for pattern in (*_patterns("never"), *(_patterns("no_date") if group == "DATE" else ()))
        for match in pattern.finditer(around)
    ):
        return True
    return group in _NUMBERS | {"DATE", "AGE"} and (_clock(span) or _in_row_of_measures(span))


def _in_row_of_measures(span: Span) -> bool:
    """Whether a span is in a line of a flow sheet: many short numbers, most of which can be no date."""
    text = span.source.content
    first, last = text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end)
    cells = text[first : last if last >= 0 else len(text)].split()
    numbers = [cell for cell in cells if _MEASURE.fullmatch(cell)]
    if len(numbers) < _ROW or len(numbers) < _MEASURES * len(cells):
        return False
    plain = sum(not _DATED.fullmatch(cell) for cell in numbers)
    return plain >= _PLAIN and all(map(_MEASURE.fullmatch, span.text.split()))


def _clock(span: Span) -> bool:
    """Whether four digits are a time of day: after "at" or an event, or if the note has other such times.

    A label such as "pager" before them excludes this.
    """
    text = span.source.content
    if not _CLOCK.fullmatch(span.text) or _CONTINUES.match(text, span.end):
        return False
    before = text[max(0, span.start - 24) : span.start]
    if _times()["sure"].search(before):
        return True
    if _times()["label"].search(before):
        return False
    if span.text[:2] in ("19", "20") and catalogue()[span.type].group == "DATE" and not _no_year(span, before):
        return False
    if span.text[0] == "0" or _times()["likely"].search(before):
        return True
    return any(match.end() != span.end for match in _times()["others"].finditer(text))


def _no_year(span: Span, before: str) -> bool:
    """Whether a year is more than a century before the text's latest date, or later and after a word for an event."""
    found = (match[1] or match[2] or f"20{match[3]}" for match in _YEAR.finditer(span.source.content))
    latest = max(map(int, found), default=None)
    if latest is None:
        return False
    event = _times()["likely"].search(before) is not None
    return int(span.text) < latest - _CENTURY or (int(span.text) > latest and event)


@cache
def never_names() -> frozenset[str]:
    """Words and word pairs that are never names, folded, from the language's rules."""
    rules = language().part("rules")
    return rules.never_names() if rules is not None else frozenset()


@cache
def _table() -> dict[str, dict[str, str]]:
    return language().table("words", "clinical.toml")


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(map(fold, _table().get("words", {}).get(name, "").split()))


@cache
def _patterns(name: str) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, _table().get("numbers", {}).get(name, ())))


@cache
def _times() -> dict[str, re.Pattern[str]]:
    return {name: re.compile(pattern) for name, pattern in _table().get("times", {}).items()}
