"""Find short forms of the persons already found in a text: suffixes, quoted nicknames, and initials.

A name of several words shows which initials its bearer has. Initials alone are in every note ("M.D.", "AM"), so they
count only if they fit such a name and are written as a person's: with periods, as a signature, or before a verb that
only a person does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from incognote.align.sweep import FOUND, sweep_words
from incognote.languages import language
from incognote.nouns import Span, Text
from incognote.schemas.catalogue import catalogue

_WORD = re.compile(r"[^\W\d_]+")
_HEIR = re.compile(r"(?i)\b(?:[js]n?r|junior|senior|I{2,3}|IV)\b")
_SUFFIX = re.compile(
    r",?[ ]\(?(?:[JS]n?r|jn?r|sn?r)\b(?:\.\)?|\)|(?!\s*:))|[ ]I(?:II?|V)\b(?![,/])|(?<=[ ,][JS]r)\.(?![^\W_])"
)
_QUOTED = re.compile(r"[ ]?\(?[\"“]([A-Z][\w'’-]{1,14}(?:[ ][A-Z][\w'’-]{1,14})?)[\"”]")
_INITIALS = re.compile(r"(?<![\w.&+])[A-Z](?:[A-Z]{1,3}(?![\w&+])|\.(?:[ ]?[A-Z]\.){0,3}(?!\w))")
_LINE_END = re.compile(r"(?m)(?:/[A-Za-z]{2,4})?[ \t]*$")
_REACH = 12  # characters before initials that are read


def short_forms(text: Text, spans: Sequence[Span], common: Callable[[str], bool]) -> list[Span]:
    """Return the short forms of the persons among `spans`, with the type and score of the person they stand for.

    The forms are a name with the suffix after it ("Joe Jr."), a nickname in quotation marks directly after a name or
    after words such as "everyone calls him", a lone "Junior", and initials that fit a name of the text.

    Args:
        text: the text in which the spans were found.
        spans: the spans found in it; those with a score below FOUND are ignored.
        common: whether a word in lower case is a common word or medical term.

    Returns:
        New spans with the source "sweep". They may overlap given spans and one another: `merge` merges them.
    """
    people = [s for s in spans if s.score >= FOUND and catalogue()[s.type].group == "PERSON"]
    if not people:
        return []

    def usual(word: str) -> bool:
        return word in _never() or common(word)

    return [*_beside(text, people), *_called(text, people, usual), *_initials(text, people, usual)]


def _beside(text: Text, people: Sequence[Span]) -> Iterator[Span]:
    """Yield names with the suffix after them, and the nicknames in quotation marks after them."""
    for person in people:
        if match := _SUFFIX.match(text.content, person.end):
            yield Span(text, person.start, match.end(), person.type, person.score, ("sweep",))
        if match := _QUOTED.match(text.content, person.end):
            yield Span(text, *match.span(1), person.type, person.score, ("sweep",))


def _called(text: Text, people: Sequence[Span], usual: Callable[[str], bool]) -> Iterator[Span]:
    """Yield the names by which people go, and a lone Junior or Senior if somebody in the text has a suffix."""
    content = text.content
    for match in _pattern("called").finditer(content) if any(c in content for c in _forms("called")) else ():
        if not usual(match[1].lower()):
            before = [p for p in people if p.end <= match.start()] or people[:1]
            yield Span(text, *match.span(1), before[-1].type, before[-1].score, ("sweep",))
    heir = next((p for p in people if _HEIR.search(p.text)), None)
    if heir is not None:
        for match in _pattern("lone").finditer(content):
            yield Span(text, match.start(), match.end(), heir.type, heir.score, ("sweep",))


def _initials(text: Text, people: Sequence[Span], usual: Callable[[str], bool]) -> Iterator[Span]:
    bearers: dict[str, Span] = {}
    for person in people:
        for letters in _letters(person.text):
            bearers.setdefault(letters, person)
    if not bearers:
        return
    content = text.content
    given = {letters[0]: person for letters, person in reversed(bearers.items())}
    again: dict[str, Span] = {}
    for match in _INITIALS.finditer(content):
        letters = _joined(match.group())
        known = given if len(letters) == 1 else bearers
        bearer = known.get(letters) or (bearers.get(letters[0] + letters[-1]) if "." in match.group() else None)
        if bearer is None or not _personal(content, *match.span(), usual):
            continue
        yield Span(text, match.start(), match.end(), bearer.type, bearer.score, ("sweep",))
        if match.group() == letters and not usual(letters.lower()):
            again[letters] = bearer
    for letters, bearer in again.items():
        for match in re.finditer(rf"(?<![\w.&+/-]){letters}(?![\w&+/-])", content):
            yield Span(text, match.start(), match.end(), bearer.type, bearer.score, ("sweep",))


def _personal(content: str, start: int, end: int, usual: Callable[[str], bool]) -> bool:
    """Whether initials are written as a person's, by their form or their context."""
    written, before = content[start:end], content[max(0, start - _REACH) : start]
    letters = _joined(written).lower()
    acts = _pattern("deed").match(content, end) is not None
    if "." in written:
        return letters not in _never() if len(letters) > 1 else acts and _pattern("clause").search(before) is not None
    ends_line = _LINE_END.match(content, end) is not None
    if ends_line and _pattern("signed").search(before):
        return True
    if usual(letters):
        return False
    if ends_line and before[-1:] in ("", "\n"):
        return True
    if before[-1:] in ("/", "-") or content[end : end + 1] in ("/", "-"):
        return False
    return len(letters) > 2 or acts or _pattern("addressed").search(before) is not None


def _joined(initials: str) -> str:
    return "".join(filter(str.isalpha, initials))


def _letters(name: str) -> Iterator[str]:
    """Yield the initials of a name of two to four words: all, the first and last, and the given names' (Otis James)."""
    last, comma, first = name.partition(",")
    affixes = sweep_words()["names"]["affixes"]
    words = [w for w in _WORD.findall(f"{first} {last}" if comma else name) if w.lower() not in affixes]
    if 2 <= len(words) <= 4 and any(len(word) > 1 for word in words):
        yield "".join(word[0] for word in words).upper()
        yield (words[0][0] + words[-1][0]).upper()
        yield (words[0][0] + words[1][0]).upper()


@cache
def _never() -> frozenset[str]:
    """Abbreviations and credentials, which are not initials even if they fit a name."""
    words = language().table("lexicon", "name_cues.toml").get("words", {})
    return frozenset(word.lower() for key in ("not_initials", "credentials") for word in words.get(key, ()))


def _forms(name: str) -> frozenset[str]:
    return sweep_words()["forms"][name]


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return a context of `words/sweep.toml` as a pattern: called, deed, clause, signed, addressed, or lone."""

    def any_of(*lists: frozenset[str]) -> str:
        return "(?:" + "|".join(map(re.escape, sorted(frozenset().union(*lists), reverse=True))) + ")"

    deeds = sweep_words()["names"]["deeds"]
    inside = "".join(rf"|(?<=\b{re.escape(word)}\s)" for word in sorted(_forms("before_suffix")))
    verb = rf"(?: {any_of(deeds, _forms('verbs'))}\b|['’]s\s)"
    return re.compile(
        {
            "called": rf"\b{any_of(_forms('called'))}\s[\"“]?([A-Z][\w'’-]{{1,14}})",
            "deed": rf" {any_of(deeds)}\b",
            "clause": rf"(?:\A|\n|[.:;,!?][ ]|\b{any_of(_forms('joining'))}[ ])\Z",
            "signed": r"(?:(?<![^\s.!?)])[-–—~][ ]?|/s/[ ]?|(?<![^\n])[A-Z]{2,4}/"
            rf"|\b{any_of(_forms('signed'))}:?[ ])\Z",
            "addressed": rf"\b{any_of(_forms('addressed'))}[ ]\Z",
            "lone": rf"(?:\A|(?<=[.:;,(!?\n]\s)|(?<=\n){inside}){any_of(_forms('suffixes'))}(?={verb})",
        }[name]
    )
