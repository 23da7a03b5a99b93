"""Names, institutions and towns from the word lists of a language. English has finders of its own (docs/languages.md).

A bundle states them in `rules/lists.toml` and in its lexicon, and uses `finders(code)` in its `rules/__init__.py`. A
name is announced by a title, a label or a relative, or it consists of words of the lexicon. The contextual matching of
prefixes follows the Arabic paper (papers/001 §4.1.3).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import cache

from incognote.detectors.rules.view import Candidate, View, cases
from incognote.languages import language
from incognote.nouns import Span
from incognote.schemas.catalogue import catalogue
from incognote.text.lexicon import KINDS, commonness, fold, given, lexicon, surname

_MOST = 6  # words of a name or an institution
_SPACE = re.compile(r"[ \t\u00a0]{0,3}\Z")
_LINK = re.compile(r"[ \t\u00a0]{0,3}[:：.=|\-–]{0,3}[ \t\u00a0]{0,12}\Z")  # between a label and its value
_RTL = re.compile(r"[\u0590-\u08ff]")
_LETTERS = re.compile(r"[^\W\d_]+")
_TATWEEL, _ALEF, _LAM = "\u0640", "\u0627", "\u0644"
_JOINED = re.compile(
    r"[\u0628\u0639\u0641\u0643\u0644\u0648]?(?:\u0627?\u0644)?\u0640?(?<=[\u0621-\u064a])(?=[A-Za-z\d])"
)
_INITIAL, _SHORTEST = "\u0639\u0641\u0643", 3  # letters that are cut only before an article, and letters left
_CUT = frozenset({"PERSON", "LOCATION"})
_PLACES = frozenset({"CITY", "STATE", "COUNTRY", "LOCATION"})


@dataclass(frozen=True, slots=True)
class Lists:
    """The content of `rules/lists.toml`. All words are folded.

    Attributes:
        titles: type of a name → titles before it ("Dr", "Frau", "la paciente").
        labels: type of a name → labels before it ("Patient", "Name", "Médico").
        kin: words for relatives.
        particles: words inside a name ("de", "von", "بن").
        before: words at the start of a name that never end one ("abu", "saint").
        clitics: letters that may be attached before a name, longest first.
        elisions: words that an apostrophe joins to the next word ("d" in "d'Aurélie"). They are outside the span.
        endings: endings of words that no list has and that are no names ("tion", "ectomie").
        proper: whether a capital inside a sentence shows a proper noun, so that usual words in an institution count.
        heads: type of an institution → the word it begins with ("Hospital", "Klinikum", "مستشفى").
        tails: type → endings of compounds ("krankenhaus" in "Marienkrankenhaus").
        joining: words inside an institution ("de", "la", "und").
        near: words before a town ("in", "aus", "en", "à", "من").
        never: words that are never names here.
        certain: titles that only a name follows, even one that ends like a noun ("Frau Lindqvist").
        suffixes: endings of usual words ("ung"), for languages whose nouns have capitals.
        towns: towns, states and countries → their type, from the bundle's gazetteer.
    """

    titles: dict[str, str]
    labels: dict[str, str]
    kin: frozenset[str]
    particles: frozenset[str]
    before: frozenset[str]
    clitics: tuple[str, ...]
    elisions: frozenset[str]
    endings: tuple[str, ...]
    proper: bool
    heads: dict[str, str]
    tails: dict[str, str]
    joining: frozenset[str]
    near: frozenset[str]
    never: frozenset[str]
    certain: frozenset[str]
    suffixes: tuple[str, ...]
    towns: dict[str, str]


@cache
def lists(code: str) -> Lists:
    """Return the lists of a language."""
    raw = language(code).table("rules", "lists.toml")

    elided = re.compile(rf"(?<![^ ])(?:{'|'.join(raw['elisions'])})['’](?=\w)", re.I) if raw.get("elisions") else None

    def plain(phrase: str) -> str:
        return fold(elided.sub("", phrase) if elided else phrase)

    def by_word(key: str) -> dict[str, str]:
        return {plain(word): kind for kind, words in raw.get(key, {}).items() for word in words}

    def words(key: str) -> frozenset[str]:
        return frozenset(map(fold, raw.get(key, ())))

    towns = dict.fromkeys(map(plain, _lines(code, "countries.txt")), "COUNTRY")
    towns |= dict.fromkeys(map(plain, _lines(code, "states.txt")), "STATE")
    towns |= dict.fromkeys(map(plain, _lines(code, "cities.txt")), "CITY")  # a policy may keep states and countries
    return Lists(
        by_word("titles"), by_word("labels"), words("kin"), words("particles"), words("before"),
        tuple(sorted(raw.get("clitics", ()), key=len, reverse=True)), words("elisions"),
        tuple(map(fold, raw.get("endings", ()))), bool(raw.get("proper")),
        by_word("heads"), by_word("tails"),
        words("joining"), words("near"), words("never"), words("certain"), tuple(words("suffixes")), towns,
    )  # fmt: skip


def _lines(code: str, name: str) -> list[str]:
    file = language(code).file("gazetteer", name)
    lines = file.read_text(encoding="utf-8").split("\n") if file.is_file() else []
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def finders(code: str) -> tuple[Callable[[View], Iterator[Candidate]], ...]:
    """Return the finders of names, institutions and towns of a language."""
    return (lambda view: _settled(_names(view, code), code), lambda view: _places(view, code))


def unattached(span: Span, code: str) -> Span:
    """Cut letters attached before an identifier ("ل" in "لأحمد") if the rest is in another script, or only it is known.

    Letters with which many names begin are cut only before an article. Of 7,495 marks in training texts (synthetic),
    246 have attached letters. Of these, 191 are cut, and so is one letter of 2 other marks.
    """
    own = lists(code)
    if not own.clitics:
        return span
    text, group = span.source.content, catalogue()[span.type].group
    joined = _JOINED.match(text, span.start, span.end) if group != "ID" else None  # a plate may begin with a letter
    if joined:
        return replace(span, start=joined.end())
    found = _LETTERS.match(text, span.start, span.end) if group in _CUT else None
    if found is None or _known(found[0], code):
        return span
    for clitic in own.clitics:
        rest = found[0].removeprefix(clitic).lstrip(_TATWEEL)
        article = rest.startswith(_ALEF + _LAM)
        if len(rest) < _SHORTEST or not found[0].startswith(clitic) or (clitic[0] in _INITIAL and not article):
            continue
        cut = len(found[0]) - len(rest)
        if _known(rest, code) or fold(text[span.start + cut : span.end]) in own.towns:
            return replace(span, start=span.start + cut)
        if clitic == rest[0] == _LAM and _known(_ALEF + rest, code):  # the article is written without its alef
            return replace(span, start=span.start + cut + 1)
    return span


def placed(span: Span, code: str) -> Span:
    """Give a place the type of the gazetteer if it is a town, or a country but no town.

    Many states have the name of their capital, and a policy may keep states.
    """
    kind = lists(code).towns.get(fold(span.text)) if span.type in _PLACES else None
    return span if kind in (None, "STATE", span.type) else replace(span, type=kind)


def _known(word: str, code: str) -> bool:
    key = fold(word)
    entry = lexicon(code).get(key, 0)
    return bool(given(entry) or surname(entry)) or key in lists(code).towns or key in lists(code).heads


class _Words:
    """The tokens of a view, folded, with what the lexicon says about each."""

    def __init__(self, view: View, code: str) -> None:
        self.view, self.lists, self.table = view, lists(code), lexicon(code)
        self.cuts = [self._elided(word) for word in view.words] if self.lists.elisions else [0] * len(view)
        upper, lower = cases(view.text)
        self.small = bool(self.lists.suffixes) and 60 * upper < lower  # dictated or typed without capitals
        self.keys = [fold(word[cut:]) for word, cut in zip(view.words, self.cuts, strict=True)]

    def _elided(self, word: str) -> int:
        """Return the length of an elided word and its apostrophe at the start of a token ("l'hôpital": 2)."""
        cut = max(word.find("'"), word.find("’")) + 1
        if not 1 < cut < len(word) or fold(word[:cut]) not in self.lists.elisions:
            return 0
        rest = word[cut:]
        return cut if word[0].islower() or rest[0].islower() or fold(rest) in self.lists.heads else 0

    def entry(self, i: int) -> int:
        """Return the entry of a token. A compound with hyphens has the weights of its names."""
        key = self.keys[i]
        entry = self.table.get(key, 0)
        if entry or "-" not in key:
            return entry
        parts = [self.table.get(part, 0) for part in key.split("-") if part not in self.lists.particles]
        named = [part for part in parts if given(part) or surname(part)]
        if len(named) == len(parts) > 0:
            return max(map(given, named)) | max(map(surname, named)) << 3
        if not named:
            return max(map(commonness, parts), default=0) << 6 | max((part & KINDS for part in parts), default=0)
        most = 7 if not any(map(commonness, parts)) else 1
        return min(most, max(map(given, named))) | min(most, max(map(surname, named))) << 3

    def bare(self, i: int) -> tuple[int, int]:
        """Return the entry of a token and the number of attached letters before it."""
        entry, key = self.entry(i), self.keys[i]
        if given(entry) or surname(entry) or commonness(entry):
            return entry, 0
        for clitic in self.lists.clitics:
            if key.startswith(clitic) and len(key) - len(clitic) > 2:
                inner = self.table.get(key[len(clitic) :], 0)
                if given(inner) or surname(inner):
                    return inner, len(clitic)
        return entry, 0

    def capital(self, i: int) -> bool:
        """Whether a token may be a proper noun: a capital, or letters of a script without capitals."""
        word = self.view.words[i][self.cuts[i] :]
        return word[0].isupper() or bool(_RTL.match(word))

    def usual(self, i: int) -> bool:
        """Whether a token is a common or medical word and not a usual name."""
        entry = self.entry(i)
        weight = max(given(entry), surname(entry))
        if not weight and self.lists.suffixes and not commonness(entry):
            return self.keys[i].endswith(self.lists.suffixes) and self.keys[i] not in self.lists.towns
        return (commonness(entry) >= 2 or bool(entry & KINDS)) and weight < 3 * commonness(entry)

    def medical(self, i: int) -> bool:
        """Whether a token is a medical word and not a usual surname ("Pasteur")."""
        return bool(self.entry(i) & KINDS) and surname(self.entry(i)) < 3

    def phrase(self, i: int, known: dict[str, str]) -> tuple[str, int] | None:
        """Return the value of the longest phrase at token i, and the number of its tokens."""
        for n in (3, 2, 1):
            if i + n <= len(self.keys) and (kind := known.get(" ".join(self.keys[i : i + n]))):
                return kind, n
        return None

    def run(self, i: int, *, announced: bool) -> int:
        """Return the index after the name that begins at token i; i if there is none."""
        view, own = self.view, self.lists
        at, last = i, i
        while at < len(view) and at - i < _MOST:
            word, key = view.words[at], self.keys[at]
            if at > i and not _joined(view, at):
                break
            if key in own.never or not word[0].isalpha():
                if word == "." and at > i and len(view.words[at - 1]) == 1 and view.gap(at) == "":
                    at += 1
                    last = at
                    continue
                break
            if key in own.particles or key in own.before:
                at += 1
                continue
            entry, _ = self.bare(at)
            named = bool(given(entry) or surname(entry))
            unheard = self.small and not entry and len(word) > 3
            small = announced and not commonness(entry) and (max(given(entry), surname(entry)) >= 2 or unheard)
            begins = at == i or given(self.bare(at - 1)[0]) >= 3
            staff = at == i and any(own.titles.get(key) == "CLINICIAN" for key in self.keys[max(0, i - 4) : i])
            surnamed = bool(own.suffixes or own.proper) and announced and begins and self.capital(at)
            surnamed &= surname(entry) >= 3 or (bool(own.suffixes) and staff and bool(entry & KINDS))
            certain = at == i and not own.certain.isdisjoint(self.keys[max(0, i - 2) : i])
            surnamed |= certain and not entry and self.capital(at)
            initial = announced and len(word) == 1 and word.isupper() and not _RTL.match(word)
            if not (self.capital(at) or small) or (self.usual(at) and not surnamed and not initial):
                break
            unknown = not named and not commonness(entry)
            if not (named or (unknown and announced) or (len(word) == 1 and (at > i or initial))):
                break
            if _RTL.match(word) and not named and at > i:
                break
            at += 1
            last = at
        return last

    def candidate(self, i: int, end: int, kind: str, score: float, rule: str) -> Candidate:
        _, attached = self.bare(i)
        return Candidate(
            self.view.starts[i] + self.cuts[i] + attached, self.view.ends[end - 1], kind, score, f"listed.{rule}"
        )


def _joined(view: View, at: int) -> bool:
    gap = view.gap(at)
    return bool(_SPACE.match(gap)) and (gap != "" or view.words[at] in ".-" or view.words[at - 1] in ".-'’")


def _settled(found: Iterator[Candidate], code: str) -> Iterator[Candidate]:
    """Yield the names. Where nouns have capitals, a word on its own counts only beside a name with a title or label."""
    names = list(found)
    alone = not lists(code).suffixes or any(name.rule not in ("listed.alone", "listed.run") for name in names)
    return (name for name in names if alone or name.rule != "listed.alone")


def _names(view: View, code: str) -> Iterator[Candidate]:
    words = _Words(view, code)
    own, at = words.lists, 0
    while at < len(view):
        if announced := _announced(words, at):
            yield announced[0]
            at = announced[1]
            continue
        if words.keys[at] in own.kin and at + 1 < len(view) and _joined(view, at + 1):
            end_at = words.run(at + 1, announced=False)
            if end_at > at + 1 and given(words.bare(at + 1)[0]) >= 2:
                yield words.candidate(at + 1, end_at, "RELATIVE", 0.8, "kin")
                at = end_at
                continue
        at = yield from _bare(words, at)


def _announced(words: _Words, at: int) -> tuple[Candidate, int] | None:
    """Return the name after a title or a label at token `at`, and the index after it."""
    own = words.lists
    for announcing, follow, rule in ((own.labels, _labelled, "labelled"), (own.titles, _after, "titled")):
        if (found := words.phrase(at, announcing)) and (named := follow(words, at + found[1])):
            return words.candidate(*named, found[0], 0.9, rule), named[1]
    return None


def _after(words: _Words, i: int) -> tuple[int, int] | None:
    """Return the name after a title, past further titles and dots."""
    view, own = words.view, words.lists
    for _ in range(6):
        if i >= len(view) or not _LINK.match(view.gap(i)):
            return None
        if view.words[i] == "." and len(view.words[i - 1]) > 5:
            return None
        if view.words[i] in ".-:/" or words.keys[i] in own.titles:
            i += 1
            continue
        end = words.run(i, announced=True)
        return (i, end) if end > i else None
    return None


def _labelled(words: _Words, i: int) -> tuple[int, int] | None:
    """Return the name after a label and a colon."""
    view = words.view
    colon = False
    while i < len(view) and view.words[i] in ":：.|/-–*_=" and "\n" not in view.gap(i):
        colon = colon or view.words[i] in ":：|="
        i += 1
    if not colon or i >= len(view) or "\n" in view.gap(i):
        return None
    if not words.entry(i) and words.keys[i].endswith(words.lists.endings):
        return None
    found = _after(words, i)
    if found and found[1] + 1 < len(view) and view.words[found[1]] == ",":  # surname, given name
        more = words.run(found[1] + 1, announced=True)
        if more > found[1] + 1 and "\n" not in view.gap(found[1] + 1):
            return found[0], more
    return found


def _bare(words: _Words, at: int) -> Generator[Candidate, None, int]:
    """Yield a name that nothing announces. Returns the index at which to go on."""
    view = words.view
    word = view.words[at]
    if not word[0].isalpha() or not words.capital(at) or words.usual(at) or words.keys[at] in words.lists.never:
        return at + 1
    entry, _ = words.bare(at)
    if not (given(entry) or surname(entry)):
        return at + 1
    end = words.run(at, announced=given(entry) >= 3)
    entries = [words.bare(i)[0] for i in range(at, end)]
    weights = [max(given(e), surname(e)) for e in entries]
    firm = sum(weight >= 2 for weight in weights)
    if end - at >= 2 and firm >= 1 and sum(weights) >= 4:
        yield words.candidate(at, end, "PERSON", 0.85 if firm >= 2 else 0.7, "run")
    elif end - at == 1 and _lone(words, entries[0]) >= 4 and not commonness(entries[0]) and not _starts(view, at):
        yield words.candidate(at, end, "PERSON", 0.6, "alone")
    return max(end, at + 1)


def _lone(words: _Words, entry: int) -> int:
    """Return the weight of a word as a name on its own. Where nouns have capitals, it must be more usual."""
    return max(given(entry), surname(entry)) - bool(words.lists.suffixes)


def _starts(view: View, at: int) -> bool:
    return at == 0 or "\n" in view.gap(at) or view.words[at - 1] in ".!?:"


def _places(view: View, code: str) -> Iterator[Candidate]:
    words = _Words(view, code)
    own, at = words.lists, 0
    while at < len(view):
        if found := words.phrase(at, own.heads):
            end = _institution(words, at + found[1])
            if end > at + found[1]:
                start = view.starts[at] + words.cuts[at]
                yield Candidate(start, view.ends[end - 1], found[0], 0.85, "listed.institution")
                at = end
                continue
        tail = next((t for t in own.tails if words.keys[at].endswith(t) and len(words.keys[at]) > len(t) + 2), None)
        if tail and words.capital(at) and not words.usual(at):
            end = _institution(words, at + 1) if at + 1 < len(view) else at + 1
            yield Candidate(view.starts[at], view.ends[max(end, at + 1) - 1], own.tails[tail], 0.8, "listed.compound")
            at = max(end, at + 1)
            continue
        if (town := words.phrase(at, own.towns)) and (words.small or words.capital(at)):
            introduced = at > 0 and (words.keys[at - 1] in own.near or view.words[at - 1] in "(,")
            near = (introduced and bool(_SPACE.match(view.gap(at)))) or words.cuts[at] > 0
            if near or not words.usual(at) or "-" in words.keys[at]:
                score = 0.85 if near else 0.6
                start = view.starts[at] + words.cuts[at]
                yield Candidate(start, view.ends[at + town[1] - 1], town[0], score, "listed.town")
                at += town[1]
                continue
        at += 1


def _ends(words: _Words, i: int) -> bool:
    """Whether a period after a word ends the sentence: after a town or a long word, but not after an abbreviation."""
    key = words.keys[i]
    return len(key) > 5 or key in words.lists.towns


def _institution(words: _Words, i: int) -> int:
    """Return the index after the proper words of an institution, whose head ends before token i."""
    view, own = words.view, words.lists
    at = last = i
    while at < len(view) and at - i < _MOST and (_joined(view, at) or view.words[at] in "-."):
        word = view.words[at]
        if word == "." and _ends(words, at - 1):
            break
        if words.keys[at] in own.joining or word in ("-", ".", "'", "’", "“", '"', "«"):
            at += 1
            continue
        proper = (
            words.keys[at] in own.towns
            or words.keys[at] in own.heads
            or (own.proper and not word.isupper() and words.keys[at] not in own.never and not words.medical(at))
        )
        if not word[0].isalpha() or not words.capital(at) or (words.usual(at) and not proper):
            break
        if _RTL.match(word) and last > i and not (given(words.bare(at)[0]) or words.keys[at] in own.towns):
            break
        at += 1
        last = at
    return last
