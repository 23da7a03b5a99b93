"""Correct the type of names that the text shows to be of another kind: a town, an institution, a user name.

The detectors find a name better than its kind: a town gets the type of a person ("called from Oldham"), and so does a
hospital ("a stent at Prince Edwin"). A wrong type gives a surrogate of the wrong kind. The evidence is the name itself
(the word for an institution, a gazetteer), the words beside it, and an institution named in full in the same text. A
title, a kinship word, a degree, or a person's verb beside a name shows a person, and nothing retypes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, pairwise

from incognote.languages import language
from incognote.nouns import Span
from incognote.schemas.catalogue import catalogue
from incognote.text.lexicon import fold, given, is_common, lexicon, surname, titles

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_BEFORE = re.compile(r"(?:([^\W\d_]+)[ ])?([^\W\d_]+)\.?:?[ ]\Z")
_NEXT = re.compile(r",? ?([A-Za-z-]+)(?!\w)")
_OWNED = re.compile(r"['’]s?(?!\w)")
_SAINTLY = re.compile(r"(?:St\.?|Saint|Ste\.?) [A-Z]\w+['’]s")
_LOGIN = re.compile(r"[a-z][a-z0-9]*(?:[._][a-z0-9]+|[0-9])[a-z0-9._]*")
_PLAIN_LOGIN = re.compile(r"[a-z][a-z0-9._]{3,}")
_AFTER_PERSON = re.compile(r"\)?(?:, ?(?:[A-Z]{1,4}\.?|[A-Za-z][a-z]+(?: [a-z]+)?))?,\s\(?")
_USUAL, _RARE, _FREQUENT = 4, 1, 6
"""Weights of the lexicon: of a usual name, of a rare name, and of a frequent surname."""
_REACH = 40  # characters before a name that are read
_SHORTEST = 2  # words, of which the initials are no short name
_INSTITUTIONS = ("HOSPITAL", "PHARMACY", "ORGANIZATION")


def retyped(spans: Sequence[Span], serves: Callable[[str], bool]) -> list[Span]:
    """Return the spans of one text, each with the type that the text supports.

    Args:
        spans: disjoint, in order.
        serves: whether the policy replaces a type. A span never gets a type that it leaves unchanged.
    """
    text = _Names(spans)
    now = [replace(s, type=kind) if (kind := text.kind(s)) and serves(kind) else s for s in spans]
    # What a name is in one place of a text, it is everywhere that nothing contradicts.
    kinds = {fold(new.text): new.type for new, old in zip(now, spans, strict=True) if new.type != old.type}
    return [
        replace(s, type=kinds[fold(s.text)])
        if fold(s.text) in kinds and _is(s, "PERSON") and not text.announced(s) and serves(kinds[fold(s.text)])
        else s
        for s in now
    ]


class _Names:
    """The names of one text, with the people and institutions that it names in full."""

    def __init__(self, spans: Sequence[Span]) -> None:
        named = [s for s in spans if _is(s, "PERSON")]
        self._before = {later.start: earlier for earlier, later in pairwise(named)}
        self._institutions: dict[str, str] = {}
        for span in spans:
            kind = (span.type if _is(span, "ORGANIZATION") else "") or _head(span)
            if kind:
                self._institutions.update(dict.fromkeys(_short_names(span), kind))
        self._people = {
            word: s.type
            for s in named
            if self.announced(s)
            or (len(_WORD.findall(s.text)) > 1 and fold(s.text) not in self._institutions and not _head(s))
            for word in map(fold, _WORD.findall(s.text))
        }

    def kind(self, span: Span) -> str:
        """Return the type that the text supports, or "" to keep the type of the detectors."""
        if not all(source.startswith(("rules:", "encoder", "sweep")) for source in span.sources):
            return ""
        person = _is(span, "PERSON")
        if (person or span.type in ("ACCOUNT_NUMBER", "GUID", "ORGANIZATION")) and _login(span):
            return "USERNAME"
        if person:
            if introduced := _introduced(span):
                return introduced
            return "" if self.announced(span) else _head(span) or self._short(span) or self._place(span)
        if _is(span, "LOCATION") and span.type in ("CITY", "LOCATION"):
            bearer = self._people.get(fold(span.text))
            if bearer and _OWNED.match(span.source.content, span.end) and not _towns(span.text):
                return bearer  # "in Solomiia's room"
            saintly = _SAINTLY.fullmatch(span.text) is not None
            named = _head(span) or ("HOSPITAL" if saintly and not _towns(span.text) else "")
            at = _beside(span)[1] in _words("before", "at") and not _towns(span.text)
            return named or (self._short(span) if at else "")
        return ""

    def announced(self, span: Span) -> bool:
        """Whether a title, a kinship word, a degree, or what the bearer does shows that a name is a person's."""
        words, before = _WORD.findall(span.text), _beside(span)
        if words and fold(words[0]) in titles() - {"st", "saint"}:
            return True
        if not _announcing().isdisjoint((fold(before[1]), f"{fold(before[0])} {fold(before[1])}")):
            return True
        after = _NEXT.match(span.source.content, span.end)
        return after is not None and (after[1] in _credentials() or after[1] in _deeds())

    def _short(self, span: Span) -> str:
        """The type of the institution of which the span is the short name, or the initials."""
        if any(fold(word) in self._people for word in _WORD.findall(span.text)):
            return ""
        return self._institutions.get(fold(span.text), "")

    def _place(self, span: Span) -> str:
        """CITY, or the type of an institution, for a name that the words beside it and the gazetteer show to be one."""
        text, words = span.source.content, _WORD.findall(span.text)
        entries = [lexicon().get(fold(word), 0) for word in words]
        if not words or not words[0][0].isupper() or (len(words) == 1 and fold(words[0]) in self._people):
            return ""
        owned = _OWNED.match(text, span.end) is not None or re.search(r"['’]s?\Z", span.text) is not None
        homes = () if owned else _towns(span.text)
        town, large = bool(homes), any(home.endswith("*") for home in homes)
        if large and max(max(given(e), surname(e)) for e in entries) <= _RARE:
            return "CITY"
        earlier, word = _beside(span)
        unusual = min(map(given, entries)) < _USUAL
        if word in _words("before", "at") and not owned and earlier not in _words("before", "people_at"):
            line = text[max(0, span.start - 60) : span.start].lower().split("\n")[-1]
            at_work = not _words("before", "organization").isdisjoint(_WORD.findall(line))
            return "CITY" if town and unusual else "ORGANIZATION" if at_work else "HOSPITAL"
        unit = _NEXT.match(text, span.end)
        if unit and unit[1] in _words("after", "units") and all(given(e) < _USUAL for e in entries):
            return "HOSPITAL"
        if earlier in _words("before", "people_after") or owned:
            return ""
        if large and word == "from" and earlier in _words("before", "moved"):
            return "CITY"
        if town and unusual and word in _words("before", "place"):
            return "CITY"
        if word in _words("before", "within") and all(given(e) < _USUAL for e in entries):
            return "CITY"
        return "CITY" if town and self._of_person(span, entries) else ""

    def _of_person(self, span: Span, entries: Sequence[int]) -> bool:
        """Whether a town follows a whole name and a comma: "fire captain Kevin Donohue, Boardman; home 330"."""
        earlier = self._before.get(span.start)
        if earlier is None or not _is(earlier, "PERSON") or len(_WORD.findall(earlier.text)) == 1:
            return False
        between = span.source.content[earlier.end : span.start]
        weights = max(given(e) for e in entries) < _USUAL and max(surname(e) for e in entries) < _FREQUENT
        return weights and _AFTER_PERSON.fullmatch(between) is not None


def _is(span: Span, kind: str) -> bool:
    return kind in catalogue().lineage(span.type)


def _beside(span: Span) -> tuple[str, str]:
    """The two words before a span on its line, in lower case; "" for none."""
    before = _BEFORE.search(span.source.content, max(0, span.start - _REACH), span.start)
    return ((before[1] or "").lower(), before[2].lower()) if before else ("", "")


def _head(span: Span) -> str:
    """The type of the institution that the first or last word of a name stands for.

    It is "" for none, for a lone word, and for a span over two lines, which may hold a person too.
    """
    words = [fold(word) for word in _WORD.findall(span.text)]
    if len(words) <= 1 or "\n" in span.text:
        return ""
    ends, starts = _heads()
    return ends.get(words[-1], "") or starts.get(words[0], "")


def _introduced(span: Span) -> str:
    """The type of the institution that the words before a name announce: "care home Hlíðarsel"; "" for none."""
    earlier, word = _beside(span)
    said = {word, f"{earlier}-{word}"}
    return next((kind for kind in _INSTITUTIONS if not said.isdisjoint(_words("introducing", kind))), "")


def _login(span: Span) -> bool:
    """Whether a name in lower case is written as a user name, or follows a word such as "login"."""
    if _LOGIN.fullmatch(span.text) and any(map(str.isalpha, span.text)):
        return _is(span, "PERSON") or _after_login(span)
    return bool(_PLAIN_LOGIN.fullmatch(span.text)) and _after_login(span)


def _after_login(span: Span) -> bool:
    text = span.source.content
    before = text[max(0, span.start - _REACH) : span.start].lower().split("\n")[-1]
    return not _words("before", "login").isdisjoint(_WORD.findall(before)[-2:])


def _short_names(span: Span) -> Iterator[str]:
    """Yield the short names of an institution, folded: without the words for its kind, and its initials."""
    words = _WORD.findall(span.text)
    folded = [fold(word) for word in words]
    ends, _ = _heads()
    while len(folded) > 1 and (folded[-1] in ends or is_common(folded[-1])):
        folded.pop()
        if len(folded) > 1 or not is_common(folded[0]):
            yield " ".join(folded)
    if len(words) > _SHORTEST:
        yield fold("".join(word[0] for word in words))


def _towns(name: str) -> tuple[str, ...]:
    """The homes of the towns with this name. A star follows the home of a large town."""
    places = language().part("places")
    return () if places is None else places.homes_of(name)


@cache
def _deeds() -> frozenset[str]:
    return frozenset(language().table("words", "sweep.toml").get("names", {}).get("deeds", ()))


@cache
def _words(section: str, key: str) -> frozenset[str]:
    return frozenset(language().table("words", "retyping.toml").get(section, {}).get(key, "").split())


@cache
def _heads() -> tuple[dict[str, str], dict[str, str]]:
    """The words at the end and at the start of an institution's name, each with its type. No usual name is one."""
    listed = language().table("gazetteer", "organizations.toml")
    ends: dict[str, str] = {}
    starts: dict[str, str] = {}
    for kind in _INSTITUTIONS:
        more = _words("heads", kind)
        ends.update(_unusual(chain(listed.get("head", {}).get(kind.lower(), "").split(), more), kind))
        starts.update(_unusual(listed.get("first", {}).get(kind.lower(), "").split(), kind))
    return ends, starts


def _unusual(words: Iterable[str], kind: str) -> Iterator[tuple[str, str]]:
    for word in map(fold, words):
        entry = lexicon().get(word, 0)
        if max(given(entry), surname(entry)) < _USUAL:
            yield word, kind


@cache
def _announcing() -> frozenset[str]:
    """Titles, kinship words, and professions, folded, after which a person's name follows."""
    cues = language().table("lexicon", "name_cues.toml").get("cue", ())
    words = {fold(word) for cue in cues if cue["kind"] in ("title", "kin", "weak") for word in cue["words"]}
    return (titles() | words) - {"born", "st"}


@cache
def _credentials() -> frozenset[str]:
    return frozenset(language().table("lexicon", "name_cues.toml").get("words", {}).get("credentials", ()))
