"""Search for known identifiers in every variant: names, dates, telephone numbers, codes, addresses.

The detector walks over the tokens of a text once, with one or two dictionary lookups per token. A roster of ten
thousand people therefore costs as much as one of ten. The text has already been normalized to what a reader sees
(`incognote.text.reading`). Misspelled names are found by deletions (Garbe's symmetric delete algorithm) and the
Damerau distance.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from rapidfuzz.distance import OSA

from incognote.detectors.known.index import (
    INNER_HEAD,
    MIN_SQUEEZED_CODE,
    MIN_STITCHED,
    Entry,
    Index,
    deletions,
    is_usual,
)
from incognote.detectors.known.squeezed import hidden, squeezed
from incognote.detectors.known.values import known_from, read_roster, type_of_key
from incognote.detectors.known.words import TokenList, days_in, matches, tokens, vocabulary
from incognote.nouns import Known, Span, Text
from incognote.text.lexicon import EPONYM_NOUN, MEDICAL, commonness, lexicon
from incognote.text.parts import LARGE, parts

__all__ = ["KnownDetector", "known_from", "read_roster", "type_of_key"]

_NAME_GAP = re.compile("[\\s.,'’ʼ`_\\-‐‑–\u200b-\u200f]{0,4}\\Z")
_CODE_GAP = re.compile(r"[ \t.\-‐‑–/_]{0,2}\Z")
_WIDE_CODE_GAP = re.compile(r"[ \t.,\-‐‑–/_]{0,2}(?:\r?\n[ \t]{0,8})?\Z")
_SEAM = 12  # maximum number of characters between two pieces of a name
_PAGE_HEAD = 40  # maximum number of tokens between two pages
_PHONE_GAP = re.compile(r"[\s.\-‐‑–/()+\u200e\u200f]{0,4}\Z")
# After a name: "SutcliffeNormanB_OD.tif".
_INITIAL_IN_FILE = re.compile(r"[ _]?([A-Z])(?=_[A-Za-z0-9]|\.[a-z]{3,4}(?![a-z]))")
_LITERAL_GAP = re.compile(r"[^\w]{0,8}\Z")
_MAX_PHONE, _SURE_INSIDE = 18, 6


class Hit(NamedTuple):
    """A known value in a text. `leak` says that this hit alone proves that the value is present."""

    start: int
    end: int
    type: str
    score: float
    rule: str
    leak: bool


@cache
def _version() -> str:
    return hashlib.sha256(repr(sorted(vocabulary().months.items())).encode()).hexdigest()


class KnownDetector:
    """Finds known identifiers. Implements `Detector`. It does not search for ages.

    Args:
        known: values of any catalogue type; see `known_from` and `read_roster`.
        thorough: also search by letters and digits alone, for numbers spelled out, and for look-alike characters.
    """

    name = "known"
    reads: frozenset[str] = frozenset()

    def __init__(self, known: Sequence[Known], *, thorough: bool = True) -> None:
        self.version = _version()
        self._index = Index(known, thorough=thorough)
        self.unsought = self._index.unsought
        """The number of values per type that are not searched for: too short, or not in a form of that type."""

    def detect(self, texts: Sequence[Text]) -> list[list[Span]]:
        """Return one list of spans per text, ordered by offset. They may overlap. CPU-bound and thread-safe."""
        return [
            [
                Span(text, h.start, h.end, h.type, h.score, (f"{self.name}:{h.rule}",))
                for h in sorted(set(self._hits(text.content)))
            ]
            for text in texts
        ]

    def leaks(self, text: str) -> list[str]:
        """Return the types of known values that are still present, sorted, without duplicates.

        The search is conservative: it compares whole words, and codes by their normal form. Misspellings and single
        ordinary words do not count.
        """
        return sorted({hit.type for hit in self._hits(text, certain=True) if hit.leak})

    def _hits(self, content: str, certain: bool = False) -> Iterator[Hit]:
        index = self._index
        if not index or not content:
            return
        if len(content) < LARGE:
            yield from (hit for hit in self._walk(tokens(content), certain) if not _into_address(content, hit))
            return
        for part in parts(content):
            for hit in self._walk(tokens(part.content), certain):
                if part.owns(hit.start) and not _into_address(part.content, hit):
                    yield hit._replace(start=part.first + hit.start, end=part.first + hit.end)

    def _walk(self, words: TokenList, certain: bool) -> Iterator[Hit]:
        index = self._index
        sequences, near = index.sequences, {} if certain else index.near
        months = vocabulary().months
        for i, low in enumerate(words.lows):
            if low in sequences:
                yield from self._sequences(words, i)
            elif near and 4 < len(low) <= index.longest_near and (hit := self._misspelt(words, i)):
                yield hit
            if index.inner and len(low) > INNER_HEAD and (inner := self._inside(words, i)):
                yield inner
            if low[:2] in index.code_heads or (len(low) == 1 and index.codes):
                yield from self._code(words, i)
            if low[:1].isdigit():
                if index.phones:
                    yield from self._phone(words, i)
                if (
                    index.days
                    and low.isdecimal()
                    and (len(low) == 8 or (len(low) < 5 and int(low) in index.day_numbers))
                ):
                    yield from self._day(words, i)
            elif index.days and low in months:
                yield from self._day(words, i)
        if index.unspaced:
            yield from self._within(words.text)
        if sequences:
            yield from self._stitched(words)
        if index.squeezed and (certain or index.thorough):
            yield from self._squeezed(words)
        if index.thorough:
            yield from (Hit(start, end, kind, 0.9, "squeezed", True) for start, end, kind in hidden(words, index))

    def _sequences(self, words: TokenList, i: int) -> Iterator[Hit]:
        best = 0
        for entry in self._index.sequences[words.lows[i]]:
            end = _end(words, i, entry)
            if end <= best and not (end and entry.leak and end == best):
                continue
            score = entry.score if not entry.common else _spoken(words, i, end, entry)
            if entry.kind == "initials" and (
                not _dotted(words, i, end) or "".join(words.lows[i:end]) in vocabulary().not_initials
            ):
                continue
            if score:
                best = max(best, end)
                stop = words.ends[end - 1]
                if entry.kind == "initials" and words.text[stop : stop + 1] == ".":
                    stop += 1
                if entry.kind == "whole" and (initial := _INITIAL_IN_FILE.match(words.text, stop)):
                    stop = initial.end(1)
                yield Hit(words.starts[i], stop, entry.type, score, entry.kind, entry.leak)

    def _misspelt(self, words: TokenList, i: int) -> Hit | None:
        low = words.lows[i]
        if low in vocabulary().months or commonness(entry := lexicon().get(low, 0)) or entry & MEDICAL:
            return None
        for form in deletions(low):
            for known, kind in sorted(self._index.near.get(form, ())):
                allowed = 2 if len(known) >= 10 and len(low) >= 9 else 1
                if OSA.distance(low, known, score_cutoff=allowed) <= allowed:
                    return Hit(words.starts[i], words.ends[i], kind, 0.6, "misspelt", False)
        return None

    def _inside(self, words: TokenList, i: int) -> Hit | None:
        """Return a hit for the whole token if it contains a known name and is not a word itself.

        A name of fewer than six letters, or one that is a common word, may occur by accident. Such a hit is doubtful
        and not a leak.
        """
        low, inner = words.lows[i], self._index.inner
        if low in lexicon():
            return None
        hit: Hit | None = None
        for start in range(len(low) - INNER_HEAD + 1):
            for form, kind in inner.get(low[start : start + INNER_HEAD], {}).items():
                if len(form) == len(low) or not low.startswith(form, start):
                    continue
                sure = len(form) >= _SURE_INSIDE and not is_usual(form)
                if hit is None or sure > hit.leak:
                    hit = Hit(words.starts[i], words.ends[i], kind, 0.8 if sure else 0.48, "inside", sure)
        return hit

    def _code(self, words: TokenList, i: int) -> Iterator[Hit]:
        codes, longest = self._index.codes, self._index.longest_code
        heads, stems = self._index.code_heads, self._index.code_stems
        built, wide, wraps = "", False, 0
        for j in range(i, min(i + 12, len(words.lows))):
            built += words.lows[j]
            if len(built) > longest or (len(built) > 1 and built[:2] not in heads):
                return
            if len(built) > 3 and built[:4] not in stems:
                return
            if j > i and not _CODE_GAP.match(gap := words.gap(j)):
                wide, wraps = True, wraps + ("\n" in gap)
                if wraps > 1 or not _WIDE_CODE_GAP.match(gap):
                    return
            if wide and len(built) < MIN_SQUEEZED_CODE:
                continue  # lists and columns of numbers contain many short codes
            if (kind := codes.get(built)) and not (built.isdigit() and _within_number(words, i, j)):
                sure = len(built) > 4 or not built.isdigit()
                yield Hit(words.starts[i], words.ends[j], kind, 0.9 if sure else 0.6, "code", sure)

    def _phone(self, words: TokenList, i: int) -> Iterator[Hit]:
        phones = self._index.phones
        built = ""
        for j in range(i, min(i + 9, len(words.lows))):
            built += words.lows[j]
            if len(built) > _MAX_PHONE or (len(built) > 1 and built[:2] not in self._index.phone_heads):
                return
            if len(built) > 3 and built[:4] not in self._index.phone_stems:
                return
            if not words.lows[j].isdigit() or (j > i and not _PHONE_GAP.match(words.gap(j))):
                return
            if kind := phones.get(built):
                start = words.starts[i]
                while start and words.text[start - 1] in "+(":
                    start -= 1
                yield Hit(start, words.ends[j], kind, 0.9, "phone", True)

    def _day(self, words: TokenList, i: int) -> Iterator[Hit]:
        readings = list(days_in(words, i))
        dated = any(day[0] is not None for day, _ in readings)
        for day, end in readings:
            if day[0] is None and dated:
                continue  # 4 March 1951 is not also 4 March of any year
            for known, kind in self._index.days.get(day[1:], {}).items():
                if not matches(day, known):
                    continue
                named = any(words.lows[k] in vocabulary().months for k in range(i, end))
                told = named or any(low in vocabulary().before_day for low in words.lows[max(0, i - 3) : i])
                if day[0] is None and (not told or words.ends[i] == words.starts[i + 1]):
                    continue  # 3/4 is a strength, and FEV1 is not the first of February
                score = 0.9 if day[0] is not None else 0.6
                yield Hit(words.starts[i], words.ends[end - 1], kind, score, "date", day[0] is not None)
                return

    def _within(self, content: str) -> Iterator[Hit]:
        for start, char in enumerate(content):
            for whole, kind in self._index.unspaced.get(char, ()):
                if content.startswith(whole, start):
                    yield Hit(start, start + len(whole), kind, 0.9, "unspaced", True)

    def _stitched(self, words: TokenList) -> Iterator[Hit]:
        """Find names that are cut by a hyphen, a line break, cells or boxes, by joining their pieces."""
        lows, beginnings = words.lows, self._index.beginnings
        for i, low in enumerate(lows):
            if low not in beginnings:
                continue
            built, numbered = low, False
            for j in range(i + 1, len(lows)):
                gap = words.gap(j)
                if len(gap) > _SEAM or (gap == " " and len(lows[j]) > 1 and not numbered and self._words(low, lows[j])):
                    break
                numbered = lows[j].isdigit() and "\n" in gap
                if numbered:
                    continue  # a line number
                built += lows[j]
                entry = next((e for e in self._index.sequences.get(built, ()) if not e.rest), None)
                if entry is not None and len(built) >= MIN_STITCHED:
                    plain = words.words[i][0].islower() and all(is_usual(low) for low in lows[i : j + 1])
                    if not plain and (not entry.common or words.words[i][0].isupper()):
                        yield Hit(words.starts[i], words.ends[j], entry.type, 0.8, "glued", entry.leak)
                if built not in beginnings:
                    break
            if len(low) > 2 and i + 1 < len(lows) and "\n" in words.gap(i + 1):
                yield from self._over_page(words, i)

    def _words(self, *pieces: str) -> bool:
        """Whether one of two pieces with a single space between them is a word, so that the space is intended."""
        return any(commonness(lexicon().get(piece, 0)) for piece in pieces)

    def _over_page(self, words: TokenList, i: int) -> Iterator[Hit]:
        """Find a name split over two pages: at the end of a line, and at a line start below the next page's header."""
        for j in range(i + 2, min(i + _PAGE_HEAD, len(words.lows))):
            if "\n" in words.gap(j) and len(words.lows[j]) > 2 and words.words[j].islower():
                entry = next(
                    (e for e in self._index.sequences.get(words.lows[i] + words.lows[j], ()) if not e.rest), None
                )
                if entry is not None and not (is_usual(words.lows[i]) and is_usual(words.lows[j])):
                    for k in (i, j):
                        yield Hit(words.starts[k], words.ends[k], entry.type, 0.8, "glued", entry.leak)

    def _squeezed(self, words: TokenList) -> Iterator[Hit]:
        """Find full names and codes by their letters and digits alone, whatever separates these."""
        for i, j, form, kind, exact in squeezed(words, self._index):
            if not (exact and form.isdigit() and _within_number(words, i, j)):
                yield Hit(words.starts[i], words.ends[j], kind, 0.9, "squeezed", True)


def _into_address(content: str, hit: Hit) -> object:
    """Whether a hit consists of the end of a name and the beginning of the address in angle brackets after it."""
    inside = hit.rule in ("glued", "squeezed") and re.fullmatch(r"[^<>]*\s<[^<>\s@]*", content[hit.start : hit.end])
    return inside and re.match(r"[^<>\s@]*@", content[hit.end : hit.end + 64])


def _end(words: TokenList, i: int, entry: Entry) -> int:
    """Return the end of the entry's tokens at i, or 0 if they are not there. Skips a middle initial between names."""
    gap = _LITERAL_GAP if entry.kind == "literal" else _NAME_GAP
    lows, n = words.lows, len(words.lows)
    j = i + 1
    for wanted in entry.rest:
        if (
            j < n
            and lows[j] != wanted
            and entry.kind == "whole"
            and len(words.words[j]) == 1
            and words.words[j].isupper()
            and gap.match(words.gap(j))
        ):
            j += 1
        if j >= n or lows[j] != wanted or not gap.match(words.gap(j)):
            return 0
        j += 1
    if entry.kind == "initial" and not all(_initial(words, k) for k in range(i, j) if len(lows[k]) == 1):
        return 0
    return j


def _initial(words: TokenList, k: int) -> bool:
    """Whether a single letter may be an initial: upper case, or lower case, not a word, and not after a comma."""
    return words.words[k].isupper() or (
        words.lows[k] not in vocabulary().letters and "," not in (words.gap(k) if k else "")
    )


def _dotted(words: TokenList, i: int, end: int) -> bool:
    """Whether tokens are dotted initials such as J.S. or J. S.: capitals with a period after each."""
    return (
        all(words.words[k].isupper() for k in range(i, end))
        and all(
            words.text[words.ends[k] : words.ends[k] + 1] == "." and (k == end - 1 or words.gap(k + 1) in (".", ". "))
            for k in range(i, end)
        )
        and not (i and words.gap(i) == ".")
    )


def _spoken(words: TokenList, i: int, end: int, entry: Entry) -> float:
    """Return the score of ordinary words that are also a name, by their capitals and their neighbors."""
    written = words.words[i:end]
    if entry.kind == "literal" and len(written) > 1:
        return entry.score
    if not all(w[0].isupper() or w.isdigit() for w in written):
        return 0.0 if len(entry.rest) == 0 or not all(len(w) > 1 for w in written) else 0.5
    if len(written) > 1:
        return entry.score
    low, prior, after = words.lows[i], words.lows[i - 1] if i else "", words.lows[end] if end < len(words.lows) else ""
    if written[0].isupper() and len(written[0]) > 1 and _loud(words, i):
        return 0.4
    beside = words.words[end] if end < len(words.words) and words.gap(end) == " " else ""
    if low in vocabulary().months and (beside.isdigit() or prior.isdigit() or prior in vocabulary().before_month):
        return 0.0
    if (beside.isupper() and len(beside) > 1 and not _loud(words, i)) or after in vocabulary().make_ordinary:
        return 0.4  # Long QT
    if beside.islower() and (
        lexicon().get(after, 0) & (EPONYM_NOUN | MEDICAL)
        or (low in vocabulary().verbs and _begins(words, i) and is_usual(after))
    ):
        return 0.4
    return 0.6


def _begins(words: TokenList, i: int) -> bool:
    gap = words.gap(i) if i else "\n"
    return "\n" in gap or "." in gap


def _loud(words: TokenList, i: int) -> bool:
    """Whether the neighbors are in capitals too, so that capitals carry no information."""
    near = [w for w in words.words[max(0, i - 3) : i + 4] if len(w) > 1 and w.isalpha()]
    return len(near) > 1 and sum(w.isupper() for w in near) > 0.7 * len(near)


def _within_number(words: TokenList, i: int, j: int) -> bool:
    """Whether the digits are part of a longer number: 12345 in 12345.6 or 9,12345; 123,456 in 9,123,456.

    A longer run of digits is not an amount: 12345678 counts as present in 12345678.5 and in 7,12345678.
    """
    text, start, end = words.text, words.starts[i], words.ends[j]
    if sum(map(len, words.lows[i : j + 1])) >= MIN_SQUEEZED_CODE and (
        i == j or any(words.gap(k) != "," for k in range(i + 1, j + 1))
    ):
        return False
    return bool(
        re.match(r"[.,]\d", text[end : end + 2])
        or (start > 1 and text[start - 1] in ".," and text[start - 2].isdigit())
    )
