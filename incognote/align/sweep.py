"""Find further occurrences of identifiers that were already found in the same text.

The sweep passes over the words of the text once and looks each up in an index of the found identifiers. The time grows
with the length of the text plus the number of found words, not with their product. Words are runs of letters and
digits. In scripts without spaces between words, a name is found only where punctuation separates it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from incognote.align.merge import standings
from incognote.languages import language
from incognote.nouns import Span, Text
from incognote.schemas.catalogue import catalogue

FOUND = 0.5
"""Spans below this score are doubtful, and are not swept: a repeated doubt is no more certain."""
_MOST_WORDS = 16  # longer names and addresses are not swept, to limit the time per place of the text

# A type is swept like its nearest ancestor in this table. A type without one is not swept. Ages and dates may be bare
# numbers elsewhere (76 years, 76 mg), and e-mail addresses, URLs and IP addresses are found by their form.
_KINDS = {
    "PERSON": "name", "ADDRESS": "address",
    **dict.fromkeys(("ORGANIZATION", "LOCATION"), "title"),  # swept as a whole: one word ("Harbor") is not specific
    **dict.fromkeys(("GUID", "MAC_ADDRESS", "USERNAME"), "number"),
    **dict.fromkeys(("TELEPHONE_NUMBER", "FAX_NUMBER"), "phone"),
    **dict.fromkeys(("ZIP", "ROOM", "DEPARTMENT"), "unsought"),  # places, but also bare numbers and common chart words
}
# Combining marks belong to the word they modify, but `\w` does not include most of them.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17d3\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f"
)
_WORD = re.compile(rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*")
_NEXT = re.compile(rf"([\W_]{{1,40}})({_WORD.pattern})")
_MORE_DIGITS = re.compile(r"[\s().\-/‐‑–]{1,4}(\d+)(?![^\W_])")
_Key = TypeVar("_Key")
_SAME = str.maketrans("’ʼ‘`‐‑–", "''''---")


def _unsure(_: str) -> bool:
    return True


def sweep(text: Text, spans: Sequence[Span], common: Callable[[str], bool] = _unsure) -> list[Span]:
    """Return further places in `text` where an identifier that was found in it occurs again.

    The sweep covers names (whole, in the other order, without middle initials, and each part of three letters or more),
    organizations, places and addresses (whole), phone numbers (seven digits or more, in any grouping) and other numbers
    (five characters or more). It does not cover ages, dates and other bare numbers: 76 years, 76 mg. White space and
    line breaks between words are equivalent, and so are the kinds of hyphen and apostrophe. Names and titles of four
    letters or more match in any case. Shorter ones, parts and common words match only as proper nouns. A name before
    "disease", "catheter", "score" or a similar word is not swept (`words/sweep.toml` of the language).

    Args:
        text: the text in which the spans were found.
        spans: the spans found in it; those with a score below FOUND are ignored.
        common: whether a word in lower case is a common word or medical term; by default every word counts as one.

    Returns:
        New spans, disjoint and sorted, none inside a given one. They have the type and score of the span they repeat,
        and the source "sweep". They may overlap given spans: `merge` merges them.
    """
    return sweep_all([text], {text.field: spans}, common)[text.field]


def sweep_all(
    texts: Sequence[Text], spans: Mapping[str, Sequence[Span]], common: Callable[[str], bool] = _unsure
) -> dict[str, list[Span]]:
    """Return by field the further places in texts of one record where an identifier of any of them occurs again.

    Args:
        spans: the spans by field, as in `sweep`.
    """
    index = _Index(common)
    for each in spans.values():
        for span in each:
            if span.score >= FOUND:
                index.add(span)
    swept: dict[str, list[Span]] = {}
    for text in texts:
        known = _Cover(spans.get(text.field, ()))
        swept[text.field] = [
            Span(text, start, end, entry.type, entry.score, ("sweep",))
            for start, end, entry in index.find(text.content)
            if not known.holds(start, end)
        ]
    return swept


@dataclass(frozen=True, slots=True)
class _Entry:
    """The type and score of a hit, and the shape it must have: any | capital | exact | proper | number | phone."""

    type: str
    score: float
    shape: str
    form: str = ""

    @property
    def rank(self) -> tuple[int, int, float]:
        standing = standings()[self.type]
        return standing.tier, standing.place, -self.score


@dataclass(slots=True)
class _Node:
    """A node of the index: the possible next words, and the entries that end here, by shape and form."""

    next: dict[tuple[str, str], _Node] = field(default_factory=dict)
    entries: dict[tuple[str, str], _Entry] = field(default_factory=dict)


class _Index:
    """The identifiers to sweep for: word sequences as a tree, phone numbers by their digits."""

    def __init__(self, common: Callable[[str], bool]) -> None:
        self._common = common
        self._root: dict[str, _Node] = {}
        self._phones: dict[str, _Entry] = {}
        self._dialled: set[str] = set()  # the beginnings of the phone numbers

    def add(self, span: Span) -> None:
        """Add the text of a span to the index, by the kind of its type."""
        kind = _kind(span.type)
        if kind == "phone":
            digits = max((_digits(part) for part in re.split(r"[^\W\d_]", span.text)), key=len)
            if 7 <= len(digits) <= 20:  # E.164 (ITU-T) allows up to 15; an extension may follow
                _keep(self._phones, digits, _Entry(span.type, span.score, "phone"))
                self._dialled.update(digits[:n] for n in range(1, len(digits) + 1))
        elif kind == "number":
            self._add_number(span)
        elif kind in ("name", "title", "address"):
            words = _words(span.text)
            if len(words) > 1 and words[-1] == ("'", "s"):  # found as "Long's"
                words.pop()
            if kind == "name":
                self._add_name(span, words)
            elif kind == "title" or len(words) > 1:
                self._put(words, self._whole(span, words))

    def _add_number(self, span: Span) -> None:
        words = _words(span.text)
        if sum(len(word) for _, word in words) < 5:
            return
        if any(c.isdigit() for c in span.text):
            self._put(words, _Entry(span.type, span.score, "number"))
            self._put([("", "".join(word for _, word in words))], _Entry(span.type, span.score, "number"))
        elif len(words) == 1 and not self._common(words[0][1].lower()):  # a user name, a plate with letters only
            self._put(words, _Entry(span.type, span.score, "exact", words[0][1]))

    def _add_name(self, span: Span, words: list[tuple[str, str]]) -> None:
        for order in _orders(words):
            self._put(order, self._whole(span, order))
        for chunk in _chunks(words):
            if 1 < len(chunk) < len(words):
                self._put(chunk, self._whole(span, chunk))
            if len(words) > 1:
                for _, word in chunk:
                    if self._tells(word):
                        self._put([("", word)], _Entry(span.type, span.score, "capital"))

    def _tells(self, part: str) -> bool:
        """Whether a part of a name is swept on its own."""
        lowered = part.lower()
        return not (
            len(part) < 3 or part[0].islower() or lowered in sweep_words()["names"]["affixes"] or self._common(lowered)
        )

    def _whole(self, span: Span, words: list[tuple[str, str]]) -> _Entry | None:
        """Return the shape that a repeated name or title must have, or None if it is too unspecific to sweep."""
        letters = sum(c.isalpha() for _, word in words for c in word)
        ordinary = all(len(word) < 2 or self._common(word.lower()) for _, word in words)
        if len(words) > 1 and any(len(word) > 1 for _, word in words):
            shape = "any" if letters >= 4 and not ordinary else "capital"
            return _Entry(span.type, span.score, shape)
        word = words[0][1] if len(words) == 1 else ""  # initials alone ("J. L.") are in every note
        titled = word[:1].isupper() and word[1:] == word[1:].lower()
        if letters < 2 or (letters < 3 and not titled) or (ordinary and letters < 4 and not titled):
            return None
        if ordinary:
            return _Entry(span.type, span.score, "proper")
        return _Entry(span.type, span.score, "any") if letters >= 4 else _Entry(span.type, span.score, "exact", word)

    def _put(self, words: list[tuple[str, str]], entry: _Entry | None) -> None:
        if entry is None or not words or len(words) > _MOST_WORDS:
            return
        first = _lower(words[0][1])
        node = self._root.get(first)
        if node is None:
            node = self._root[first] = _Node()
        for gap, word in words[1:]:
            step = (gap, _lower(word))
            onward = node.next.get(step)
            if onward is None:
                onward = node.next[step] = _Node()
            node = onward
        _keep(node.entries, (entry.shape, entry.form), entry)

    def find(self, content: str) -> Iterator[tuple[int, int, _Entry]]:
        """Yield the occurrences of the indexed identifiers, disjoint and in order, the longest at each place."""
        if not self._root and not self._phones:
            return
        lowered = _lower(content)
        root, dialled, done = self._root, self._dialled, 0
        for match in _WORD.finditer(lowered):
            word = match.group()
            node = root.get(word)
            if (node is None and word not in dialled) or match.start() < done:
                continue
            walked = self._walk(node, content, lowered, match) if node else ()
            dialed = self._dial(content, match) if word in dialled else ()
            best = max((*walked, *dialed), key=lambda hit: hit[1], default=None)
            if best is not None:
                yield best
                done = best[1]

    def _walk(self, node: _Node, content: str, lowered: str, first: re.Match[str]) -> Iterator[tuple[int, int, _Entry]]:
        start, end, word = first.start(), first.end(), first.group()
        while True:
            fitting = [e for e in node.entries.values() if _fits(e, content, start, end)]
            if fitting:
                yield start, end, fitting[0] if len(fitting) == 1 else min(fitting, key=lambda e: e.rank)
            step = _NEXT.match(lowered, end) if node.next else None
            if step is None:
                return
            onward = node.next.get((_gap(step[1], word), step[2]))
            if onward is None:
                return
            node, end, word = onward, step.end(), step[2]

    def _dial(self, content: str, first: re.Match[str]) -> Iterator[tuple[int, int, _Entry]]:
        start, end, digits = first.start(), first.end(), first.group()
        while digits in self._dialled:
            entry = self._phones.get(digits)
            if entry is not None:
                yield start - (content[start - 1 : start] == "(" and ")" in content[start:end]), end, entry
            step = _MORE_DIGITS.match(content, end)
            if step is None:
                return
            digits, end = digits + step[1], step.end()


class _Cover:
    """The stretches already found, to check whether a place is inside one."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []  # the largest end of all spans up to this start
        for span in sorted(spans, key=lambda s: s.start):
            self._starts.append(span.start)
            self._ends.append(max(span.end, self._ends[-1] if self._ends else 0))

    def holds(self, start: int, end: int) -> bool:
        at = bisect_right(self._starts, start) - 1
        return at >= 0 and self._ends[at] >= end


def _keep(entries: dict[_Key, _Entry], key: _Key, entry: _Entry) -> None:
    if key not in entries or entry.rank < entries[key].rank:
        entries[key] = entry


def _lower(text: str) -> str:
    """Convert to lower case of the same length: a character with a longer lower case is not changed."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _digits(text: str) -> str:
    return "".join(c for c in text if c.isdecimal())


def _gap(gap: str, before: str) -> str:
    """Normalize the characters between two words: drop white space and the period after an initial."""
    if gap.count("\n") > 1:
        return "\n\n"  # no identifier continues across a blank line
    kept = "".join(gap.split()).translate(_SAME)
    return kept.replace(".", "") if len(before) <= 2 else kept


def _words(text: str) -> list[tuple[str, str]]:
    """Return the words of a found stretch, each with the gap between it and the one before ("" for the first)."""
    words: list[tuple[str, str]] = []
    end = 0
    for match in _WORD.finditer(text):
        words.append((_gap(text[end : match.start()], words[-1][1]) if words else "", match.group()))
        end = match.end()
    return words


def _orders(words: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Return a name as found, with first and last name swapped, and both of these without initials."""
    commas = [i for i, (gap, _) in enumerate(words) if gap == ","]
    orders = [words]
    if len(commas) == 1:
        (at,) = commas
        orders.append([("", words[at][1]), *words[at + 1 :], ("", words[0][1]), *words[1:at]])
    elif not commas and len(words) > 1:
        orders.append([("", words[-1][1]), (",", words[0][1]), *words[1:-1]])
    for order in tuple(orders):
        full = [word for word in order if len(word[1]) > 1]
        if 1 < len(full) < len(order):
            orders.append([("", full[0][1]), *full[1:]])
    return orders


def _chunks(words: list[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Yield the parts of a name. Words joined by a hyphen or an apostrophe are one part."""
    chunk: list[tuple[str, str]] = []
    for gap, word in words:
        if chunk and gap not in ("-", "'"):
            yield chunk
            chunk = []
        chunk.append((gap if chunk else "", word))
    if chunk:
        yield chunk


@cache
def sweep_words() -> dict[str, dict[str, frozenset[str]]]:
    written = language().table("words", "sweep.toml")
    return {section: {name: frozenset(words) for name, words in lists.items()} for section, lists in written.items()}


@cache
def _kind(type_: str) -> str | None:
    """Return how spans of a type are swept: name, title, address, number or phone. "unsought" or None: not swept."""
    return next((_KINDS[ancestor] for ancestor in catalogue().lineage(type_) if ancestor in _KINDS), None)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return a context of `words/sweep.toml` as a pattern: eponym (after), of (before), deed (after), unit (after)."""
    data = sweep_words()

    def any_of(*lists: frozenset[str]) -> str:
        words = sorted(map(re.escape, frozenset().union(*lists)), key=lambda word: (-len(word), word))
        return "(?:" + "|".join(words) + r")(?!\w)"

    eponyms = data["eponyms"]
    between = rf"(?:(?i:{any_of(eponyms['between'])})[ \t]+)?"
    compound = r"(?:[-‐‑–][^\W\d_]{1,40}){0,3}"

    def head(words: str) -> str:  # on the next line only in lower case: "Test" begins a heading there
        return rf"(?:[ \t]+{between}(?i:{words})|[ \t]*\r?\n[ \t]*{between}{words})"

    always, either = any_of(eponyms["always"]), any_of(eponyms["always"], eponyms["bare"])
    return re.compile(
        {
            "eponym": rf"(?:['’ʼ][sS]?){compound}{head(always)}|{compound}{head(either)}",
            "of": rf"(?i)(?<!\w){any_of(eponyms['before_of'])}\s+of\s+\Z",
            "deed": rf"(?i)\s+{any_of(data['names']['deeds'])}",
            "unit": rf"(?i)\s?(?:%|{any_of(data['numbers']['units'])})",
        }[name]
    )


def _fits(entry: _Entry, content: str, start: int, end: int) -> bool:
    """Whether a stretch with the right words has the shape and the context that the entry requires."""
    stretch = content[start:end]
    if entry.shape == "number":
        return not _measures(content, start, end)
    if entry.shape == "exact" and stretch != entry.form:
        return False
    if entry.shape == "capital" and any(word[0].islower() for word in (stretch, _words(stretch)[-1][1])):
        return False
    if entry.shape == "proper" and not _proper(content, start, end):
        return False
    single = not any(c.isspace() for c in stretch)
    return not (single and _kind(entry.type) in ("name", "title") and _eponym(content, start, end))


def _proper(content: str, start: int, end: int) -> bool:
    """Whether a common word is used like a name: one capital, inside a sentence or with a verb for human actions."""
    word = content[start:end]
    if not word[0].isupper() or word[1:] != word[1:].lower():
        return False
    if _pattern("deed").match(content, end):
        return True
    before = content[max(0, start - 2) : start]
    inside = before.endswith((" ", "\t")) and (before[0].islower() or before[0] in ",;")
    after = content[end : end + 2]
    onward = after[:1] == "-" or (after[:1] == " " and after[1:].isupper())  # "Long-Term Care", "Long QT", "Long Beach"
    return inside and not onward


def _eponym(content: str, start: int, end: int) -> bool:
    """Whether a name denotes a disease, a device, or a score, by the word after it or by "tetralogy of" before it."""
    if _pattern("eponym").match(content, end):
        return True
    before = content[max(0, start - 24) : start]
    return before.rstrip()[-2:].lower() == "of" and _pattern("of").search(before) is not None


def _measures(content: str, start: int, end: int) -> bool:
    """Whether a number is a measurement, or is short and only part of a longer number."""
    if _pattern("unit").match(content, end):
        return True
    if sum(c.isalnum() for c in content[start:end]) >= 7:
        return False  # long enough to be unique in any context
    before, after = content[max(0, start - 2) : start], content[end : end + 2]
    return (len(before) == 2 and before[1] in ".,:/-" and before[0].isdigit()) or (
        len(after) == 2 and after[0] in ".,:/-" and after[1].isdigit()
    )
