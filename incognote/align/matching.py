"""Compare a model's words with a text: folded, by similarity, and at word boundaries.

Folding removes differences that do not distinguish words: case, accents, compatibility forms (full-width letters,
ligatures), digits of other scripts, kinds of quotes and dashes, and invisible characters (soft hyphen, zero width, byte
order mark, directions). Every run of white space counts as one space. Decomposed and composed spellings of a word fold
to the same characters (Unicode NFKD, UAX #15). This folding is separate from the reading (`incognote.text.reading`): it
compares a model's words more loosely than a person reads, and it folds each code point separately, so that offsets can
be mapped back.

Similarity is an edit distance. It is computed only at candidate places with enough of the words. Candidates come from a
vote of shared trigrams, rare ones first (the q-gram filter of approximate string matching: Ukkonen 1992, "Approximate
string-matching with q-grams and maximal matches"). The time therefore grows with the number of candidates, not with the
product of text and phrase. These offsets refer to the folded text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from rapidfuzz.distance import OSA, Levenshtein
from rapidfuzz.fuzz import partial_ratio_alignment

WORD = re.compile(r"[^\W_]+")
"""Runs of letters and digits, in folded text."""
# Visible ASCII except the grave accent, with single spaces: folding it only needs lower case.
_PLAIN = re.compile(r"[!-_a-~]+(?: [!-_a-~]+)*")
_ALIKE = {
    **dict.fromkeys("‘’‚‛ʼʹ′`´＇", "'"),
    **dict.fromkeys("“”„‟″«»＂", '"'),
    **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"),
    **dict.fromkeys("łŁ", "l"),
    **dict.fromkeys("øØ", "o"),
    **dict.fromkeys("đĐðÐ", "d"),
    **dict.fromkeys("æÆ", "ae"),
    **dict.fromkeys("œŒ", "oe"),
    **dict.fromkeys("þÞ", "th"),
    **dict.fromkeys("ıİ", "i"),
}
ENOUGH = 0.8
"""The minimum similarity of a place to the searched words, see `similarity`."""
_VOTES = 3000  # maximum number of trigram positions counted for one phrase
_SEATS = 12  # maximum number of places tried for one phrase
_LONGEST = 2000  # a longer phrase is not an identifier with a hint
Stretch = tuple[int, int]

_LONGEST_RUN = 64  # a longer run of letters is not one word (base64, a line of x's): a stretch does not grow into it
# Scripts without spaces between words, or with particles attached to names (Hangul): a run of them is not one word.
_UNSPACED = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1100, 0x11FF), (0x3040, 0x30FF), (0x3130, 0x318F),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7AF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF),
)  # fmt: skip


class Folded:
    """A text and its folded form.

    Attributes:
        text: the original text.
        folded: the folded text. Each of its characters comes from one code point of `text`.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded, self._from = _folded(text)

    def back(self, start: int, end: int) -> tuple[int, int]:
        """Return the stretch of `text` that a nonempty stretch of `folded` came from."""
        return self._from[start], self._from[end - 1] + 1

    def forward(self, offset: int) -> int:
        """Return the position in `folded` of the first character from `offset` of `text` or later."""
        return bisect_left(self._from, offset)

    @cached_property
    def _words(self) -> list[tuple[int, int]]:
        return [match.span() for match in WORD.finditer(self.folded)]

    @cached_property
    def word_starts(self) -> list[int]:
        """The starts of the words of `folded`, sorted."""
        return [start for start, _ in self._words]

    @cached_property
    def word_ends(self) -> list[int]:
        """The ends of the words of `folded`, sorted."""
        return [end for _, end in self._words]


def _folded(text: str) -> tuple[str, list[int] | range]:
    pieces: list[str] = []
    origin: list[int] = []
    spaced = False
    at = 0
    runs = [run.span() for run in _PLAIN.finditer(text)]
    if runs == [(0, len(text))]:
        return text.lower(), range(len(text))
    for start, end in (*runs, (len(text), len(text))):
        for i in range(at, start):
            piece = _fold_one(text[i])
            if piece == " ":
                if spaced:
                    continue
                spaced = True
            elif piece:
                spaced = False
            pieces.append(piece)
            origin.extend([i] * len(piece))
        if end > start:
            pieces.append(text[start:end].lower())
            origin.extend(range(start, end))
            spaced = False
        at = end
    return "".join(pieces), origin


@lru_cache(maxsize=4096)
def _fold_one(c: str) -> str:
    """Fold one code point: white space becomes a space, and marks and invisible characters become ""."""
    if c in _ALIKE:
        return _ALIKE[c]
    if c.isspace():
        return " "
    if unicodedata.category(c) == "Cf":
        return ""
    digit = unicodedata.digit(c, None) if c.isdigit() else None
    if digit is not None:
        return str(digit)
    whole = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", c).casefold())
    kept = [_ALIKE.get(part, part) for part in whole if not _is_mark(part)]
    return "".join(kept) if any(not part.isspace() for part in kept) else ""


def _is_mark(c: str) -> bool:
    """Whether a code point only modifies the one before it: accents and points, but not the vowels of Indic scripts."""
    return unicodedata.combining(c) != 0 or "\ufe00" <= c <= "\ufe0f"


def folded(words: str) -> str:
    """Return the folded form of a few words, without leading and trailing spaces."""
    return _folded(words)[0].strip()


@dataclass(frozen=True, slots=True)
class Near:
    """A place similar to the searched words: the `similarity` in 0..1, and the stretch of folded text."""

    similarity: float
    start: int
    end: int


class NearSearch:
    """Finds similar places in one text."""

    def __init__(self, haystack: Folded) -> None:
        self._hay = haystack
        self._grams: dict[str, list[int]] | None = None

    def find(self, sought: str, enough: float = ENOUGH) -> list[Near]:
        """Return the places similar to some folded words, most similar first. None overlaps a better one."""
        if not 3 <= len(sought) <= _LONGEST:
            return []
        found = {near for at in self._candidates(sought) if (near := self._try(sought, at, enough))}
        kept: list[Near] = []
        for near in sorted(found, key=lambda n: (-n.similarity, n.start, n.end)):
            if all(near.end <= other.start or other.end <= near.start for other in kept):
                kept.append(near)
        return kept

    def _candidates(self, sought: str) -> Iterator[int]:
        """Yield offsets at which the words may begin, by the vote of their trigrams."""
        if self._grams is None:
            grams: defaultdict[str, list[int]] = defaultdict(list)
            hay = self._hay.folded
            for i in range(len(hay) - 2):
                grams[hay[i : i + 3]].append(i)
            self._grams = dict(grams)
        width = max(3, len(sought) // 8)
        votes: Counter[int] = Counter()
        spent = 0
        shared = ((self._grams.get(sought[j : j + 3], ()), j) for j in range(len(sought) - 2))
        for places, j in sorted(shared, key=lambda pair: len(pair[0])):
            for place in places[: _VOTES - spent]:
                votes[(place - j) // width] += 1
            spent += len(places)
            if spent >= _VOTES:
                break
        both = Counter({seat: count + votes.get(seat + 1, 0) for seat, count in votes.items()})
        for seat, _ in both.most_common(_SEATS):
            yield seat * width

    def _try(self, sought: str, at: int, enough: float) -> Near | None:
        slack = max(4, len(sought) // 4)
        low = max(0, at - slack)
        window = self._hay.folded[low : at + len(sought) + 2 * slack]
        rough = partial_ratio_alignment(sought, window, score_cutoff=100 * (enough - 0.2))
        if rough is None or not window:
            return None
        # A place is at most as long as the words, until its ends are moved to the starts and ends of words.
        starts = self._edges(self._hay.word_starts, low + rough.dest_start, slack)
        ends = self._edges(self._hay.word_ends, low + rough.dest_end, slack)
        best = max(
            (Near(similarity(sought, self._hay.folded[s:e]), s, e) for s in starts for e in ends if s < e),
            key=lambda near: (near.similarity, -abs(near.end - near.start - len(sought)), near.start in starts[1:]),
        )
        return best if best.similarity >= enough else None

    @staticmethod
    def _edges(edges: list[int], at: int, slack: int) -> list[int]:
        """Return an offset and the word boundaries around it."""
        near = edges[max(0, bisect_left(edges, at) - 2) : bisect_right(edges, at) + 2]
        return [at, *(edge for edge in near if edge != at and abs(edge - at) <= slack)]


def similarity(one: str, other: str) -> float:
    """Return 1 − distance / length of the longer string, in 0..1. Two swapped letters count as one error."""
    return OSA.normalized_similarity(one, other)


def carried(sought: str, place: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where `sought[start:end]` is in a similar `place`, by the edit operations, or None if `place` lacks it.

    Extra letters in `place` belong to the stretch only if they are inside it.
    """
    low, high = len(place), 0
    for step in Levenshtein.opcodes(sought, place):
        if step.tag in ("equal", "replace"):
            first, last = max(start, step.src_start), min(end, step.src_end)
            if first < last:
                low = min(low, step.dest_start + first - step.src_start)
                high = max(high, step.dest_start + last - step.src_start)
    return (low, high) if low < high else None


def kind(c: str) -> str:
    """Return the role of a code point in a word: "a" letter, "0" digit, "+" part of the one before, "" no word."""
    if c.isascii():
        return "a" if c.isalpha() else "0" if c.isdigit() else ""
    if c.isdigit():
        return "0"
    if unicodedata.category(c)[0] == "M" or c in "\u200c\u200d\u00ad":
        return "+"
    if c.isalpha() and not any(low <= ord(c) <= high for low, high in _UNSPACED):
        return "a"
    return ""


def joined(text: str, at: int) -> bool:
    """Whether the two characters around `at` are in one word: two letters, two digits, or a mark and its base."""
    if not 0 < at < len(text):
        return False
    after = kind(text[at])
    if not after:
        return False
    before = at - 1
    while before > 0 and kind(text[before]) == "+" and at - before < _LONGEST_RUN:
        before -= 1
    return after == "+" or kind(text[before]) == after


def bounded(text: str, start: int, end: int) -> bool:
    """Whether a stretch begins and ends at word boundaries."""
    return not joined(text, start) and not joined(text, end)


def snapped(text: str, start: int, end: int) -> Stretch:
    """Grow a stretch to the edges of the runs of letters or digits in which it begins and ends.

    Growth stops between a letter and a digit (65 in "65yo") and at an apostrophe (Long in "Long's").
    """
    left, right = start, end
    while joined(text, left) and start - left < _LONGEST_RUN:
        left -= 1
    while joined(text, right) and right - end < _LONGEST_RUN:
        right += 1
    return left, right


def completed(text: str, start: int, end: int) -> Stretch:
    """Add a missing character before a stretch: 3/4 for "/4", (555) 123 for "555) 123"."""
    if start > 0 and text[start] in "/-.‐‑–" and text[start - 1].isalnum():
        return start - 1, end
    return (start - 1, end) if _unopened(text, start, end) else (start, end)


def _unopened(text: str, start: int, end: int) -> bool:
    """Whether a stretch closes a parenthesis that opens directly before it."""
    return start > 0 and text[start - 1] == "(" and text.count(")", start, end) > text.count("(", start, end)


def trimmed(text: str, start: int, end: int, words: str) -> Stretch:
    """Trim white space from the ends of a stretch, and punctuation that the identifier's words do not have there."""
    own = words.strip()
    heads, tails = _edge(own), _edge(own[::-1])
    first, last = start, end
    while first < end and _loose(text[first]):
        first += 1
    while last > first and _loose(text[last - 1]):
        last -= 1
    while first > start and text[first - 1] in heads:
        first -= 1
    while last < end and text[last] in tails:
        last += 1
    if first > start and _unopened(text, first, last):
        first -= 1
    return first, last


def _edge(words: str) -> str:
    """Return the punctuation and white space at the start of a string, with all equivalent characters."""
    found = ""
    for c in words:
        if not _loose(c):
            break
        found += " \t\r\n" if c.isspace() else c
    return found + "".join(kin for kin in ("'’‘", '"“”„', "-‐‑–—") if set(kin) & set(found))


def _loose(c: str) -> bool:
    """Whether a code point may be trimmed from an end: it is not a letter, a digit, or a mark on one."""
    return unicodedata.category(c)[0] in "PZCS" and c not in "\u200c\u200d"


def unmasked(start: int, end: int, masks: Sequence[Stretch]) -> Iterator[Stretch]:
    """Yield the parts of a stretch outside all masks. `masks` must be sorted and disjoint."""
    for low, high in masks[bisect_right(masks, start, key=lambda mask: mask[1]) :]:
        if low >= end:
            break
        if start < low:
            yield start, low
        start = max(start, high)
    if start < end:
        yield start, end
