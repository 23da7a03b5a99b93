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
_SUFFIX = re.compile(
    r",?[ ]\(?(?:[JS]n?r|jn?r|sn?r)\b(?:\.\)?|\)|(?!\s*:))|[ ]I(?:II?|V)\b(?![,/])|(?<=[ ,][JS]r)\.(?![^\W_])"
)
_QUOTED = re.compile(r"[ ]?\(?[\"“]([A-Z][\w'’-]{1,14}(?:[ ][A-Z][\w'’-]{1,14})?)[\"”]")
_DOTTED = re.compile(r"(?<![\w.])[A-Z]\.(?:[ ]?[A-Z]\.){1,3}(?!\w)")
_BARE = re.compile(r"(?<![\w.&+/-])[A-Z]{3,4}(?![\w&+/-])")
_LINE = re.compile(r"(?m)^[A-Z]{2,4}(?=/[A-Za-z]{2,4}[ \t]*$|[ \t]*$)")
_SIGNED = re.compile(r"(?m)(?:(?<![^\s.!?)])[-–—~][ ]?|\b[Ss]igned:?[ ]|/s/[ ]?|^[A-Z]{2,4}/)([A-Z]{2,4})(?=[ \t]*$)")


def short_forms(text: Text, spans: Sequence[Span], common: Callable[[str], bool]) -> list[Span]:
    """Return the short forms of the persons among `spans`, with the type and score of the person they stand for.

    The forms are a name with the suffix after it ("Joe Jr."), a nickname in quotation marks directly after a name, and
    initials that fit a name of the text.

    Args:
        text: the text in which the spans were found.
        spans: the spans found in it; those with a score below FOUND are ignored.
        common: whether a word in lower case is a common word or medical term.

    Returns:
        New spans with the source "sweep". They may overlap given spans and one another: `merge` merges them.
    """
    people = [s for s in spans if s.score >= FOUND and catalogue()[s.type].group == "PERSON"]
    return [*_beside(text, people), *_initials(text, people, common)] if people else []


def _beside(text: Text, people: Sequence[Span]) -> Iterator[Span]:
    """Yield names with the suffix after them, and the nicknames in quotation marks after them."""
    for person in people:
        if match := _SUFFIX.match(text.content, person.end):
            yield Span(text, person.start, match.end(), person.type, person.score, ("sweep",))
        if match := _QUOTED.match(text.content, person.end):
            yield Span(text, *match.span(1), person.type, person.score, ("sweep",))


def _initials(text: Text, people: Sequence[Span], common: Callable[[str], bool]) -> Iterator[Span]:
    bearers: dict[str, Span] = {}
    for person in people:
        for letters in _letters(person.text):
            bearers.setdefault(letters, person)
    if not bearers:
        return
    given = {letters[0]: person for letters, person in reversed(bearers.items())}
    content = text.content
    places = [match.span(1) for match in _SIGNED.finditer(content)]
    for match in (*_DOTTED.finditer(content), *_BARE.finditer(content), *_LINE.finditer(content)):
        word = _joined(match.group()).lower()
        if word not in _never() and ("." in match.group() or not common(word)):
            places.append(match.span())
    found = [(place, bearers.get(_joined(content[slice(*place)]))) for place in places]
    found += [(match.span(1), given.get(match[1][0])) for match in _alone().finditer(content)]
    for (start, end), bearer in found:
        if bearer is not None:
            yield Span(text, start, end, bearer.type, bearer.score, ("sweep",))


def _joined(initials: str) -> str:
    return "".join(filter(str.isalpha, initials))


def _letters(name: str) -> Iterator[str]:
    """Yield the initials of a name of two to four words, with and without those of the middle names."""
    last, comma, first = name.partition(",")
    affixes = sweep_words()["names"]["affixes"]
    words = [w for w in _WORD.findall(f"{first} {last}" if comma else name) if w.lower() not in affixes]
    if 2 <= len(words) <= 4 and any(len(word) > 1 for word in words):
        yield "".join(word[0] for word in words).upper()
        yield (words[0][0] + words[-1][0]).upper()


@cache
def _never() -> frozenset[str]:
    """Abbreviations and credentials, which are not initials even if they fit a name."""
    words = language().table("lexicon", "name_cues.toml").get("words", {})
    return frozenset(word.lower() for key in ("not_initials", "credentials") for word in words.get(key, ()))


@cache
def _alone() -> re.Pattern[str]:
    """One initial that begins a clause, before a verb that only a person does: "O. wants her mother at home"."""
    deeds = "|".join(map(re.escape, sorted(sweep_words()["names"]["deeds"])))
    return re.compile(rf"(?m)(?:^|[.:;,!?] |\band )([A-Z]\.)(?= (?:{deeds})\b)")
