"""Decide which findings may get a surrogate. A surrogate must never state another clinical fact.

A finding is withheld from relexicalization, and gets its label, in two cases: it is or lies in a clinical number, or it
is probably no identifier. A detector that takes "saw" for a name, or an insulin scale for a date, would otherwise put
a wrong fact in the note. Identifiers that a person or a structured field gave are withheld only if they have the shape
of a clinical code.

The word lists and patterns are data of the language (`words/facts.toml`, and the lexicon of the rules).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain
from typing import Literal

from incognote.detectors.agreement import never_names, weak
from incognote.detectors.rules.lexicon import (
    BRAND,
    EPONYM,
    EPONYM_NOUN,
    MEDICAL,
    PLACE,
    commonness,
    fold,
    given,
    lexicon,
    only_titles,
    surname,
)
from incognote.detectors.rules.patterns.rule import shipped_macros
from incognote.languages import language
from incognote.nouns import PACK, Span
from incognote.operators.readers import dates
from incognote.relex.cluster.grouping import group_of
from incognote.relex.generate.values import is_known_work

Withheld = Literal["clinical-number", "clinical-word", "ordinary-word", "number-without-label", "no-surrogate"]
"""Why a finding gets no surrogate."""
GIVEN = frozenset(("given", "schema", "known", "roster"))
"""Sources of identifiers that a person, a record or a list named."""
_GUESSES = ("encoder", "audit", "sweep", "reading", "script")
_NEAR = 48  # characters of context on each side of a number
_SURE = 0.96
"""The score from which the encoder alone is right about a word or number in more than nine of ten cases."""
_LIKELY = 0.9
_FAIR = 0.8
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NEXT = re.compile(r"(?:['’]s)?[ -]([a-z]+)")
_DISEASE = re.compile(r"(?:itis|osis|oma|a?emia|opathy|ectomy|otomy)$")
_VERY = 3  # the lexicon's mark for the most frequent words
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_LAST, _FIRST = re.compile(r"([^\W\d_]+)[. ]{0,2}\Z"), re.compile(r"[. ]{1,2}([^\W\d_]+)")
_CUES = 4  # words before a number that may say what it identifies


def withheld(spans: Iterable[Span]) -> dict[Span, Withheld]:
    """Return the findings that must not get a surrogate, each with the reason.

    Args:
        spans: findings that the policy replaces by surrogates.
    """
    return {span: reason for span in spans if (reason := _reason(span)) is not None}


def _reason(span: Span) -> Withheld | None:
    if any(source in GIVEN or source.startswith((*GIVEN, PACK)) for source in span.sources):
        clinical = any(pattern.fullmatch(span.text.strip()) for pattern in _patterns("shapes"))
        return "clinical-number" if clinical else None
    if any(c.isdecimal() for c in span.text):
        return _number(span)
    return _word(span)


def reliable(span: Span) -> bool:
    """Whether something other than a guess found the span: a rule that is not weak, a list, or a language model."""
    return any(not source.startswith(_GUESSES) and source not in weak() for source in span.sources)


def guessed(span: Span) -> bool:
    """Whether only a guess with a middling score found the span, and the words around a surrogate can confirm it."""
    return not reliable(span) and span.score < _SURE and group_of(span.type) not in ("DATE", "OCCUPATION", "OTHER")


def doubled(text: str, start: int, end: int, span: Span) -> bool:
    """Whether a surrogate repeats the word before or after it, and the original did not ("Dr. Dr.").

    Args:
        text: the new text, with the surrogate at `start:end`.
        span: the original.
    """
    return _repeats(text, start, end) and not _repeats(span.source.content, span.start, span.end)


def _repeats(text: str, start: int, end: int) -> bool:
    if not text[start].isalpha() or not text[end - 1].isalpha():
        return False
    before = _LAST.search(text, max(0, start - 30), start)
    after = _FIRST.match(text, end)
    first, last = _FIRST_WORD.match(text, start, end), _LAST.search(text, start, end)
    return bool(before and first and before[1].lower() == first[0].lower()) or bool(
        after and last and after[1].lower() == last[1].lower()
    )


def clinical_name(words: str) -> bool:
    """Whether a name that was drawn or proposed contains a drug, a brand, or a very frequent word."""
    entries = [_entry(word) for word in _WORD.findall(words) if len(word) > 2]
    return any(entry & (MEDICAL | BRAND) or commonness(entry) == _VERY for entry in entries)


# Numbers


def _number(span: Span) -> Withheld | None:
    group, sure = group_of(span.type), reliable(span)
    if group in ("PERSON", "ORG", "PLACE") and span.type != "ROOM" and (sure or span.score >= _FAIR):
        return None  # "Dr. Osei 2", "12 Fern Street"
    if group == "OCCUPATION":
        return None  # "grade 4 teacher"
    if _clinical(span, "shapes", "always", whole=sure or span.score >= _SURE):
        return "clinical-number"
    if sure:
        return None
    if _clinical(span, "unsure") and not _aged(span):
        return "clinical-number"
    return None if _labelled(span, group) else "number-without-label"


def _clinical(span: Span, *patterns: str, whole: bool = False) -> bool:
    """Whether a digit of the span, or with `whole` each digit, lies in a match of one of the patterns."""
    text, start = span.source.content, max(0, span.start - _NEAR)
    around = text[start : span.end + _NEAR]
    digits = [at for at in range(span.start - start, span.end - start) if around[at].isdecimal()]
    return any(
        (all if whole else any)(match.start() <= at < match.end() for at in digits)
        for pattern in chain.from_iterable(map(_patterns, patterns))
        for match in pattern.finditer(around)
    )


def _labelled(span: Span, group: str) -> bool:
    """Whether words near a number, or its form, show what it identifies."""
    alone = "audit" not in span.sources
    if group == "AGE":
        return alone and (_aged(span) or span.score >= _LIKELY)
    if group == "DATE":
        return alone and (span.score >= _SURE or _dated(span))
    before = span.source.content[max(0, span.start - _NEAR) : span.start]
    words = before.rpartition("\n")[2].lower().split()[-_CUES:]
    if any(word.strip(":=(.,-") in _lists()["label"] or word.endswith("#") for word in words):
        return True
    if not alone:
        return False
    size = sum(c.isalnum() for c in span.text)
    mixed = any(c.isalpha() for c in span.text)
    if group == "CONTACT":
        return size >= 7 or span.score >= _SURE
    return span.score >= (_LIKELY if size >= 5 or mixed else _SURE)


def _aged(span: Span) -> bool:
    """Whether a unit of age stands in the span or directly behind it."""
    if group_of(span.type) != "AGE":
        return False
    behind = span.source.content[span.end : span.end + 8].lower()
    words = {*re.findall(r"[^\W\d_]+(?:/o)?", span.text.lower()), *re.findall(r"[\s-]*([^\W\d_]+(?:/o)?)", behind)[:1]}
    return not _lists()["age"].isdisjoint(words)


def _dated(span: Span) -> bool:
    """Whether a date has a year or the name of a month."""
    read = dates().parse_all(span.words) or ()
    return any(not isinstance(part, str) and part.year is not None for part in read) or (
        bool(read) and any(c.isalpha() for c in span.words)
    )


# Words


def _word(span: Span) -> Withheld | None:
    group = group_of(span.type)
    if group == "OCCUPATION":
        said = any("professions." in source for source in span.sources)
        guess = not said and not reliable(span) and span.score < _FAIR and not is_known_work(span.words)
        return "ordinary-word" if guess else None
    words: list[str] = _WORD.findall(span.words)
    if group in ("ID", "CONTACT") and len(words) > 2 and _digit_words().issuperset(word.lower() for word in words):
        return "no-surrogate"  # a number that was dictated digit by digit
    if group not in ("PERSON", "PLACE", "ORG") or not words:
        return None
    if only_titles(words):
        return "ordinary-word"
    if reliable(span):
        return None
    if "audit" in span.sources and span.score < _SURE:
        return "ordinary-word"
    if _names_thing(span):
        return "clinical-word"
    if group == "PERSON":
        return _name(span, words)
    entry = _entry(words[0])
    thing = len(words) == 1 and (_thing(words[0], entry) or fold(words[0]) in _peoples()) and not entry & PLACE
    return "clinical-word" if thing and span.score < _SURE else None


def _name(span: Span, words: list[str]) -> Withheld | None:
    """The reason for a name that only a guess found.

    A full name is none. A single word that also means something else needs a higher score, and more so if it is a
    clinical word or is not written like a name.
    """
    entries = [_entry(word) for word in words]
    things = [_thing(word, entry) for word, entry in zip(words, entries, strict=True)]
    named = [_weight(entry) >= 3 and word[0].isupper() for word, entry in zip(words, entries, strict=True)]
    if any(named) and sum(word[0].isupper() for word in words) > 1 and fold(" ".join(words)) not in never_names():
        return None
    if all(thing or commonness(entry) >= 2 for thing, entry in zip(things, entries, strict=True)):
        drugs = any(entry & (MEDICAL | BRAND) for entry in entries)
        needed = _SURE if drugs or not all(named) else _LIKELY if any(things) else _FAIR
        if span.score < needed or ("sweep" in span.sources and any(things)):
            return "clinical-word" if any(things) else "ordinary-word"
    if all(word.islower() for word in words) and not _all_lower(span):
        usual = all(commonness(entry) == _VERY for entry in entries)
        return "ordinary-word" if usual or span.score < _LIKELY else None
    return None


def _names_thing(span: Span) -> bool:
    """Whether the next word shows that the span belongs to the name of a thing: "Cameron lesions"."""
    following = _NEXT.match(span.source.content, span.end)
    word = following[1] if following is not None else ""
    named = bool(_entry(word) & (MEDICAL | EPONYM_NOUN)) or _DISEASE.search(word) is not None
    return named or word in _things_named()


def _all_lower(span: Span) -> bool:
    """Whether the text around the span is written without capitals, as in a chat."""
    around = _WORD.findall(span.source.content[max(0, span.start - 400) : span.end + 400])
    return bool(sum(word[0].isupper() for word in around) < 0.04 * len(around))


def _entry(word: str) -> int:
    base = fold(word)
    entry = lexicon().get(base, 0)
    return entry if entry or not base.endswith("s") else lexicon().get(base[:-1], 0)


def _weight(entry: int) -> int:
    return max(given(entry), surname(entry))


def _thing(word: str, entry: int) -> bool:
    """Whether a word names a drug, a device, a disease, a test or a sign, or is a clinical abbreviation."""
    base = fold(word)
    if entry & (MEDICAL | BRAND | EPONYM | EPONYM_NOUN) or base in never_names() or base in _lists()["thing"]:
        return True
    return word.isupper() and base in _abbreviations()


@cache
def _abbreviations() -> frozenset[str]:
    return frozenset(language().table("lexicon", "residue.toml").get("abbreviations", "").split())


@cache
def _things_named() -> frozenset[str]:
    eponyms = language().table("words", "sweep.toml").get("eponyms", {})
    return frozenset(word for words in eponyms.values() for word in words)


@cache
def _digit_words() -> frozenset[str]:
    return frozenset(shipped_macros().get("digit_word", "").split("|"))


@cache
def _peoples() -> frozenset[str]:
    """Peoples, languages and religions, which are words of a social history and no places."""
    groups = language().table("lexicon", "demographics.toml").get("group", ())
    return frozenset(fold(word) for group in groups if group["type"] == "ETHNICITY" for word in group["words"])


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    written = language().table("words", "facts.toml").get("words", {})
    return {name: frozenset(words.split()) for name, words in written.items()}


@cache
def _patterns(name: str) -> tuple[re.Pattern[str], ...]:
    """The patterns of `facts.toml` with their word lists filled in, longest words first."""
    lists = {each: "|".join(sorted(map(re.escape, words), key=len, reverse=True)) for each, words in _lists().items()}
    macro = re.compile(r"\{([a-z]+)\}")
    patterns = language().table("words", "facts.toml").get("numbers", {}).get(name, ())
    return tuple(re.compile(macro.sub(lambda found: lists[found[1]], pattern)) for pattern in patterns)
