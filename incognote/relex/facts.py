"""Decide which findings may get a surrogate. A surrogate must never state another clinical fact.

A finding is withheld from relexicalization, and gets its label, in two cases: it is a clinical number or part of one,
or it is probably not an identifier. If a detector takes "saw" for a name, or an insulin scale for a date, a surrogate
would put a wrong fact in the note. Identifiers that a person or a structured field named are withheld only if they have
the form of a clinical code.

The word lists and patterns are data of the language (`words/facts.toml`, and the lexicon of the rules).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from typing import Literal

from incognote.detectors.agreement import is_weak
from incognote.detectors.clinical import acronym, never_names
from incognote.nouns import PACK, Span
from incognote.operators.readers import dates
from incognote.relex.cluster.grouping import group_of
from incognote.relex.factcontext import NEXT, all_lower, at_work, in_use, like_a_storm, names_thing, of_discovery
from incognote.relex.factwords import (
    digit_words,
    entry_of,
    lists,
    name_weight,
    names_a_thing,
    patterns,
    peoples,
)
from incognote.relex.generate.values import is_known_work
from incognote.relex.pools import pools
from incognote.text.lexicon import (
    BRAND,
    EPONYM,
    MEDICAL,
    PLACE,
    commonness,
    fold,
    given,
    only_titles,
    surname,
)

Withheld = Literal[
    "clinical-number", "clinical-word", "ordinary-word", "number-without-label", "no-surrogate", "no-identifier"
]
"""Why a finding gets no surrogate. The words of `no-identifier` stay; the others get a label."""
GIVEN = frozenset(("given", "schema", "known", "roster"))
"""Sources of identifiers that a person, a record or a list named."""
_GUESSES = ("encoder", "audit", "sweep", "reading", "script")
_DATES = re.compile(r"rules:(?:[a-z]{2}/)?dates")
_NEAR = 48  # characters of context on each side of a number
_SURE = 0.96
"""The score from which the encoder alone is right about a word or number in more than nine of ten cases."""
_LIKELY = 0.9
_FAIR = 0.8
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NEXT_NAME = re.compile(r"[ ]+(?:[A-Z][a-z]|St\b|Ave\b|\d+(?:st|nd|rd|th)\b)")
_VERY = 3  # the lexicon's mark for the most frequent words
_LETTERED = re.compile(r"[A-Z]{3,6}(?= [A-Za-z])")
_SERIAL = re.compile(r"(?i)(?<![^\W_])(?:s/?n|serial|lot)\.?(?: (?:no|nr|number|#)\.?)?[ :#]{0,3}\Z")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_BEGIN = re.compile(r"(?:\A|\n|[.!?][\"”’)]?\s)[ \t•*-]{0,8}\Z")
_SPOKEN = re.compile(r"\b(?:in|speaks?|speaking|spoke|spoken|into|language:?|interpreter:?) \Z", re.IGNORECASE)
_PAIR = re.compile(r"0?([1-9]|[12]\d|3[01])[/-]0?([1-9]|[12]\d|3[01])")
_PAIRED = 0.65
_SEXED = re.compile(r"\d{1,3} ?[MF]")
_OUT_OF = frozenset((3, 4, 6, 8, 12, 14, 16, 18, 24, 27, *range(5, 32, 5)))
"""The highest results of common scores and scales, such as 4/5 (strength) or 12/15 (Glasgow Coma Scale)."""
_LAST, _FIRST = re.compile(r"([^\W\d_]+)[. ]{0,2}\Z"), re.compile(r"[. ]{1,2}([^\W\d_]+)")
_TITLE = 4  # letters of the longest title with a period
_DOUBTS = frozenset(("clinical-word", "ordinary-word"))
_CUES = 4  # words before a number that may say what it identifies


def withheld(spans: Iterable[Span]) -> dict[Span, Withheld]:
    """Return the findings that must not get a surrogate, each with the reason.

    Args:
        spans: findings that the policy replaces by surrogates.
    """
    spans = list(spans)
    reasons = {span: reason for span in spans if (reason := _reason(span)) is not None}
    certain = named_with_certainty(span for span in spans if span not in reasons)
    left: dict[Span, Withheld] = {}
    for span, reason in reasons.items():
        if reason not in _DOUBTS:
            left[span] = reason
        elif not confirmed(span, certain):
            left[span] = "no-identifier" if _plain(span) else reason
    return left


def named_with_certainty(spans: Iterable[Span]) -> frozenset[str]:
    """Return the folded words of people's names that need no confirmation, and the initials of institutions.

    Args:
        spans: findings that get a surrogate.
    """
    words: set[str] = set()
    for span in spans:
        group, parts = group_of(span.type), _WORD.findall(span.words)
        if group == "PERSON" and (span.score >= _SURE or reliable(span) or len(parts) > 1):
            words.update(fold(part) for part in parts if len(part) > 2)
        elif group == "ORG" and len(parts) > 2:
            words.add("".join(fold(part[0]) for part in parts if fold(part) not in lists()["small"]))
    return frozenset(words)


def confirmed(span: Span, certain: frozenset[str]) -> bool:
    """Whether other findings of the record confirm that a doubted one is an identifier.

    Args:
        certain: the result of `named_with_certainty`.
    """
    words = [fold(word) for word in _WORD.findall(span.words)]
    words = [word for word in words if word not in lists()["suffix"]] or words
    group = group_of(span.type)
    if group == "PERSON":  # a word that is also frequent stays doubtful, unless it is written like a name
        return bool(words) and certain.issuperset(words) and (not span.text.islower() or min(map(_uses, words)) < _VERY)
    if group != "ORG" or not words:
        return False
    if len(words) == 1:
        return len(words[0]) > 2 and span.text.isupper() and words[0] in certain
    letters = _LETTERED.match(span.text)  # KMC Imaging: the acronym's surrogate is an acronym, which no detector knows
    kinds = pools().words("institutions", "kept", "words") if letters else ()
    return bool(letters) and not entry_of(words[0]) & (MEDICAL | BRAND) and set(words[1:]) <= set(kinds)


def _uses(word: str) -> int:
    return commonness(entry_of(word))


def _reason(span: Span) -> Withheld | None:
    if any(source in GIVEN or source.startswith((*GIVEN, PACK)) for source in span.sources):
        clinical = any(pattern.fullmatch(span.text.strip()) for pattern in patterns("shapes"))
        return "clinical-number" if clinical else None
    if _stays(span):
        return "no-identifier"
    if any(c.isdecimal() for c in span.text):
        return _number(span)
    return _word(span)


def reliable(span: Span) -> bool:
    """Whether something other than a guess found the span: a rule that is not weak, a list, or a language model."""
    return any(not source.startswith(_GUESSES) and not is_weak(source) for source in span.sources)


def guessed(span: Span) -> bool:
    """Whether only a guess with a middling score found the span, and the words around a surrogate can confirm it."""
    if reliable(span) or span.score >= _SURE or group_of(span.type) in ("DATE", "OCCUPATION", "OTHER"):
        return False
    words = _WORD.findall(span.words)
    names = group_of(span.type) == "PERSON" and bool(words) and not span.text.isupper()
    return not (names and all(given(each) >= 4 and commonness(each) == 0 for each in map(entry_of, words)))


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
    if before and before[0] != before[1] and "." in before[0] and len(before[1]) > _TITLE:
        before = None  # another sentence
    if after and "." in text[end : after.start(1)] and len(after[1]) > _TITLE:
        after = None
    first, last = _FIRST_WORD.match(text, start, end), _LAST.search(text, start, end)
    return bool(before and first and before[1].lower() == first[0].lower()) or bool(
        after and last and after[1].lower() == last[1].lower()
    )


def clinical_name(words: str) -> bool:
    """Whether a name that was drawn or proposed contains a drug, a brand, or a very frequent word."""
    entries = [entry_of(word) for word in _WORD.findall(words) if len(word) > 2]
    return any(entry & (MEDICAL | BRAND) or commonness(entry) == _VERY for entry in entries)


def _stays(span: Span) -> bool:
    """Whether the form of a finding and the words beside it prove that it is no identifier.

    This holds for a gestational age, a duration, an Apgar or Child-Pugh score, a weekday, a time of day, a hospital
    unit ("NICU", "5 West"), a specialty, a word for a relative, and a finding of an occupation that is no work.
    """
    if "audit" in span.sources and span.score >= _SURE:
        return False
    group, words = group_of(span.type), span.words.strip(" .")
    if group in ("PERSON", "PLACE", "ORG") and any(pattern.fullmatch(words) for pattern in patterns("plain")):
        return not (group == "PLACE" and _NEXT_NAME.match(span.source.content, span.end))
    if group == "AGE" and not reliable(span) and _clinical(span, "duration"):
        return True
    forms = {"DATE": "dateless", "OCCUPATION": "no_work"}.get(group)
    if forms and any(pattern.fullmatch(words) for pattern in patterns(forms)):
        return True
    return group in ("AGE", "DATE", "ID", "CONTACT") and _clinical(span, "shapes", "scored", whole=True)


def _plain(span: Span) -> bool:
    """Whether a doubted finding is an ordinary word whose capital letter only shows that a sentence begins.

    Nothing else in the record confirms it, and it is hardly ever a name: "Pleasant 55F", "Fall on the stairs".
    The same holds for the eponym of a named thing ("Wilson relapse"), a scale with its score ("Barthel 45"), a device
    in use ("with Foley"), a language ("in Tamil"), an abbreviation ("now 77, NED"), and a frequent word ("little").
    """
    words = _WORD.findall(span.words)
    if not words or reliable(span) or span.score >= _SURE:
        return False
    if of_discovery(span) or in_use(span) or acronym(span, _SURE):
        return True
    if len(words) != 1:
        return False
    word, entry, text = words[0], entry_of(words[0]), span.source.content
    if word.islower() and commonness(entry) == _VERY and given(entry) <= 3 and not all_lower(span):
        return span.score < _LIKELY  # her namesake ("little" Ana)
    if word[1:].islower() and commonness(entry) >= 2 and given(entry) <= 3 and surname(entry) <= 4:
        return span.score < _LIKELY and _BEGIN.search(text, max(0, span.start - 30), span.start) is not None
    if fold(word) in peoples():
        return _SPOKEN.search(text, max(0, span.start - 20), span.start) is not None
    return bool(entry & EPONYM or fold(word) in never_names()) and names_thing(span)


# Numbers


def _number(span: Span) -> Withheld | None:
    group, sure = group_of(span.type), reliable(span)
    if group in ("PERSON", "ORG", "PLACE") and span.type != "ROOM" and (sure or span.score >= _FAIR):
        return None  # "Dr. Osei 2", "12 Fern Street"
    if group == "OCCUPATION":
        return None  # "grade 4 teacher"
    if group == "AGE" and _SEXED.fullmatch(span.words):
        return None  # "54 F"
    serial = group == "ID" and _SERIAL.search(span.source.content, max(0, span.start - 20), span.start)
    if not serial and _clinical(span, "shapes", "always", whole=sure or span.score >= _SURE):
        score = group == "DATE" and not sure and _PAIR.fullmatch(span.text)  # "single words 12/20"
        return "no-identifier" if score else "clinical-number"
    if sure or serial:
        return None
    if _clinical(span, "unsure") and not _aged(span):
        return "clinical-number"
    return None if _labeled(span, group) else "number-without-label"


def _clinical(span: Span, *names: str, whole: bool = False) -> bool:
    """Whether a digit of the span, or with `whole` each digit, lies in a match of one of the patterns."""
    text, start = span.source.content, max(0, span.start - _NEAR)
    around = text[start : span.end + _NEAR]
    digits = [at for at in range(span.start - start, span.end - start) if around[at].isdecimal()]
    return bool(digits) and any(
        (all if whole else any)(match.start() <= at < match.end() for at in digits)
        for pattern in chain.from_iterable(map(patterns, names))
        for match in pattern.finditer(around)
    )


def _labeled(span: Span, group: str) -> bool:
    """Whether words near a number, or its form, show what it identifies."""
    alone = "audit" not in span.sources
    if group == "AGE":
        return alone and (_aged(span) or span.score >= _LIKELY)
    if group == "DATE":
        return alone and (span.score >= _SURE or _dated(span) or _no_fraction(span) or _ruled(span))
    before = span.source.content[max(0, span.start - _NEAR) : span.start]
    words = before.rpartition("\n")[2].lower().split()[-_CUES:]
    if any(word.strip(":=(.,-") in lists()["label"] or word.endswith("#") for word in words):
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
    return not lists()["age"].isdisjoint(words)


def _ruled(span: Span) -> bool:
    """Whether a rule for dates, even a weak one, is sure of a date."""
    return span.score >= _LIKELY and any(map(_DATES.match, span.sources))


def _no_fraction(span: Span) -> bool:
    """Whether a month and a day cannot be a score ("4/5", "8/10", "12/20")."""
    parts = _PAIR.fullmatch(span.text)
    if parts is None or span.score < _PAIRED:
        return False
    first, second = int(parts[1]), int(parts[2])
    valid = min(first, second) <= 12 and max(first, second) <= 31
    return valid and (first > second or second not in _OUT_OF)


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
        if not reliable(span) and at_work(span):
            return "no-identifier"
        said = any("professions." in source for source in span.sources)
        guess = not said and not reliable(span) and span.score < _FAIR and not is_known_work(span.words)
        return "ordinary-word" if guess else None
    words: list[str] = _WORD.findall(span.words)
    if group in ("ID", "CONTACT") and len(words) > 2 and digit_words().issuperset(word.lower() for word in words):
        return "no-surrogate"  # a number that was dictated digit by digit
    if group not in ("PERSON", "PLACE", "ORG") or not words:
        return None
    if only_titles(words):
        return "ordinary-word"
    if reliable(span):
        return None
    if "audit" in span.sources and span.score < _SURE:
        return "ordinary-word"
    if in_use(span) or of_discovery(span):
        return "clinical-word"
    if names_thing(span) and not (group == "PERSON" and _bearer(span, words)):
        return "clinical-word"
    if group == "PERSON":
        return "ordinary-word" if like_a_storm(span) else _name(span, words)
    entry = entry_of(words[0])
    thing = len(words) == 1 and (names_a_thing(words[0], entry) or fold(words[0]) in peoples()) and not entry & PLACE
    return "clinical-word" if thing and span.score < _SURE else None


def _name(span: Span, words: list[str]) -> Withheld | None:
    """The reason for a name that only a guess found.

    A full name is none. A single word that also means something else needs a higher score, and more so if it is a
    clinical word or is not written like a name.
    """
    entries = [entry_of(word) for word in words]
    things = [names_a_thing(word, entry) for word, entry in zip(words, entries, strict=True)]
    named = [name_weight(entry) >= 3 and word[0].isupper() for word, entry in zip(words, entries, strict=True)]
    if len(words) > 1 and span.score >= _FAIR and _full(words, span.words):
        return None
    if any(named) and sum(word[0].isupper() for word in words) > 1 and fold(" ".join(words)) not in never_names():
        return None
    if all(thing or commonness(entry) >= 2 for thing, entry in zip(things, entries, strict=True)):
        inside = _BEGIN.search(span.source.content, max(0, span.start - 30), span.start) is None
        if inside and not any(things) and span.text[1:].islower() and min(map(given, entries)) >= 6 and all(named):
            return None  # "took Ray to the lab"
        drugs = any(entry & (MEDICAL | BRAND) for entry in entries)
        needed = _SURE if drugs or not all(named) else _LIKELY if any(things) else _FAIR
        if span.score < needed or ("sweep" in span.sources and any(things)):
            return "clinical-word" if any(things) else "ordinary-word"
    if all(word.islower() for word in words) and not all_lower(span):
        usual = all(commonness(entry) == _VERY for entry in entries)
        return "ordinary-word" if usual or span.score < _LIKELY else None
    return None


def _full(words: list[str], written: str) -> bool:
    """Whether words in lower case are a surname, a comma, and a given name: "whitfield, ann"."""
    family, _, rest = written.partition(",")
    first = _WORD.search(rest)
    if first is None or len(words) > 5 or given(entry_of(first[0])) < 4:
        return False
    return all(surname(entry_of(word)) >= 3 for word in _WORD.findall(family))


def _bearer(span: Span, words: list[str]) -> bool:
    """Whether a name is a person's, although the next word is clinical: "Keisha pumps", "Suresh stented"."""
    following = NEXT.match(span.source.content, span.end)
    if len(words) > 1 and "," in span.words:
        return True
    done = following is not None and following[1].endswith("ed")
    return (done or words[0][0].isupper()) and all(
        not names_a_thing(word, entry := entry_of(word)) and given(entry) >= 4 for word in words
    )
