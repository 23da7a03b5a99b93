"""Search one text for words, exactly, folded or by similarity, and rate the evidence for each place."""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from incognote.align import fitting
from incognote.align.fitting import parts
from incognote.align.matching import (
    Folded,
    Near,
    NearSearch,
    Stretch,
    bounded,
    carried,
    completed,
    folded,
    similarity,
    snapped,
    trimmed,
    unmasked,
)
from incognote.nouns import Mention
from incognote.schemas.catalogue import catalogue

_HINT = 12  # words of a hint that count on each side: those next to the identifier
Fits = Callable[[str, int, int, str], bool]
"""(text, start, end, type): whether other evidence, such as rules, says that this place is of that type."""

MOST = 500
"""The maximum number of places considered for one mention."""
_REGROUPED = 6  # the number of digits that makes a number unique
HEARD = 100
"""The maximum number of places that a hint votes on."""
_RUN = re.compile(r"[+(]{0,2}\d(?:[ ().\-/]{0,3}\d)*")
MASK = re.compile(r"\[([A-Za-z][A-Za-z0-9_]*)\]")
"""A mask of an earlier pass, as models quote it."""


class Claims:
    """Claimed stretches by type, looked up by containment. Those of one type are kept disjoint."""

    def __init__(self) -> None:
        self._types: defaultdict[str, list[Stretch]] = defaultdict(list)

    def add(self, type: str, stretches: Iterable[Stretch]) -> None:
        """Claim stretches for a type."""
        held = self._types[type]
        for start, end in stretches:
            at = bisect_right(held, (start, end))
            first = at
            while first > 0 and held[first - 1][1] > start:
                first -= 1
            last = at
            while last < len(held) and held[last][0] < end:
                last += 1
            touched = held[first:last]
            del held[first:last]
            insort(held, (min([start, *(s for s, _ in touched)]), max([end, *(e for _, e in touched)])))

    def by(self, type: str, place: Stretch) -> bool:
        """Whether a type claims a stretch that contains this place."""
        held = self._types.get(type, ())
        at = bisect_right(held, place[0], key=lambda stretch: stretch[0]) - 1
        return at >= 0 and held[at][1] >= place[1]

    def by_another(self, type: str, place: Stretch) -> bool:
        """Whether only other types claim a stretch that contains this place."""
        return not self.by(type, place) and any(self.by(other, place) for other in self._types)


def disjoint(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Return the stretches sorted, with overlapping ones merged and empty ones removed."""
    united: list[Stretch] = []
    for start, end in sorted(stretches):
        if start >= end:
            continue
        if united and start < united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        else:
            united.append((start, end))
    return united


@dataclass(frozen=True, slots=True)
class Sought:
    """A mention's phrase, folded.

    Attributes:
        phrase: the folded phrase, without leading and trailing spaces.
        start, end: the position of the identifier in the phrase; equal if folding leaves nothing of it.
        left, right: the parts of the hint before and after the identifier, in reading order.
    """

    mention: Mention
    phrase: str
    start: int
    end: int
    left: tuple[str, ...]
    right: tuple[str, ...]

    @classmethod
    def of(cls, mention: Mention) -> Sought:
        whole = Folded(mention.phrase)
        start, end = whole.forward(mention.start), whole.forward(mention.end)
        lead = len(whole.folded) - len(whole.folded.lstrip())
        tail = max(lead, len(whole.folded.rstrip()))
        start, end = min(max(start, lead), tail), min(end, tail)
        while start < end and whole.folded[start] == " ":
            start += 1
        while start < end and whole.folded[end - 1] == " ":
            end -= 1
        left, right = parts(whole.folded[lead:start])[-_HINT:], parts(whole.folded[end:tail])[:_HINT]
        return cls(mention, whole.folded[lead:tail], start - lead, end - lead, tuple(left), tuple(right))

    @property
    def words(self) -> str:
        """The identifier itself, folded."""
        return self.phrase[self.start : self.end]

    @property
    def hinted(self) -> bool:
        """Whether letters or digits are around the identifier."""
        return bool(self.left or self.right)


class SearchedText:
    """A text to search. Places are (start, end) in code points of the text.

    Args:
        text: the text.
        masks: the positions of masks from earlier passes.
        fits: see `Fits`.
    """

    def __init__(self, text: str, masks: Sequence[Stretch], fits: Fits | None) -> None:
        self.text = text
        self.masks = disjoint(masks)
        self.claims = Claims()
        self._hay = Folded(text)
        self._nearest = NearSearch(self._hay)
        self._mask_words = {text[start:end].casefold() for start, end in self.masks}
        self._fits = fits
        # Many mentions share words or places, so results are cached per place.
        self._bare: dict[str, list[Stretch]] = {}
        self._told: dict[tuple[Stretch, str], float] = {}
        self._grown: dict[tuple[int, int, str], Stretch] = {}

    # ---- places of words ----

    def exact(self, sought: Sought) -> list[Stretch]:
        """Return the identifier's places where its exact phrase occurs."""
        mention = sought.mention
        return [(at + mention.start, at + mention.end) for at in _find(self.text, mention.phrase)]

    def folded(self, sought: Sought) -> list[Stretch]:
        """Return the identifier's places where its folded phrase occurs."""
        return [self._hay.back(at + sought.start, at + sought.end) for at in _find(self._hay.folded, sought.phrase)]

    def bare(self, words: str) -> list[Stretch]:
        """Return the places of folded words, at word boundaries and outside masks."""
        if words not in self._bare:
            places = (self._hay.back(at, at + len(words)) for at in _find(self._hay.folded, words))
            self._bare[words] = [p for p in places if bounded(self.text, *p) and not self.masked(p)]
        return self._bare[words]

    def near(self, sought: Sought) -> list[tuple[float, float, Stretch]]:
        """Return the identifier's places in similar phrases, as (phrase similarity, identifier similarity, place)."""
        found = []
        for near in self._nearest.find(sought.phrase):
            place = self._carry(sought, near)
            if place is not None and not self.masked(place):
                found.append((near.similarity, similarity(sought.words, self.folds(place)), place))
        return found

    def near_words(self, sought: Sought, words: str) -> list[tuple[float, Stretch]]:
        """Return the places similar to folded words, each with its similarity."""
        enough = 0.75 if len(words) < 8 else 0.8
        found = []
        for near in self._nearest.find(words, enough) if len(words) > 3 else ():
            place = self.grown(*self._hay.back(near.start, near.end), sought.mention.words)
            alike = similarity(words, self.folds(place))
            if alike >= enough and not self.masked(place):
                found.append((alike, place))
        return found

    def regrouped(self, words: str) -> list[Stretch]:
        """Return the places of a longer number with another grouping of its digits: a phone number, an SSN."""
        digits = [c for c in words if c.isdigit()]
        if len(digits) < _REGROUPED or len(digits) > 40 or any(c.isalpha() for c in words):
            return []
        found = [self._hay.back(*place) for place in islice(_grouped(self._hay.folded, "".join(digits)), MOST)]
        return [p for p in found if not self.masked(p)]

    def turned(self, words: str) -> list[Stretch]:
        """Return the places where all words occur together in another order: "Smith, John" for "John Smith"."""
        names = [word for word in fitting.parts(words) if len(word) > 1]  # "John Q. Smith" is John Smith
        if not 2 <= len(names) <= 6 or any(word.isdigit() for word in names):
            return []
        hay, reach, found = self._hay.folded, len(words) + 8, []
        rare = min(names, key=hay.count)
        for place in self.bare(rare)[:HEARD]:
            low, high = self._forward(place)
            first = max(0, low - reach)
            window = hay[first : high + reach]
            ends = [standing for word in names if (standing := _standing(window, word))]
            if len(ends) < len(names):
                continue
            start, end = min(s for s, _ in ends), max(e for _, e in ends)
            if end - start <= reach:
                found.append(self._hay.back(first + start, first + end))
        return found

    def _carry(self, sought: Sought, near: Near) -> Stretch | None:
        where = carried(sought.phrase, self._hay.folded[near.start : near.end], sought.start, sought.end)
        if where is None:
            return None
        place = self._hay.back(near.start + where[0], near.start + where[1])
        return self.grown(*place, sought.mention.words)

    # ---- evidence for a place ----

    def evidence(self, sought: Sought, place: Stretch) -> float:
        """Rate the text beside a place: above 0 if it supports the mention's type."""
        wanted = sought.mention.type
        told = self._told.get((place, wanted))
        if told is None:
            told = fitting.evidence(self._hay.folded, *self._forward(place), wanted)
            if self._fits is not None and self._fits(self.text, *place, wanted):
                told += fitting.STRONG + 1
            self._told[place, wanted] = told
        return told - 1 if self.claims.by_another(wanted, place) else told

    def votes(self, sought: Sought, place: Stretch) -> float:
        """Return how much of the hint is around a place, in 0..1."""
        return fitting.votes(self._hay.folded, *self._forward(place), sought.left, sought.right)

    def thing(self, place: Stretch) -> bool:
        """Whether a single word means a device, a disease, or a score, and not the person it is named after."""
        start, end = place
        return self.text[start:end].isalpha() and fitting.eponym(self.text[end : end + fitting.EPONYM])

    def folds(self, place: Stretch) -> str:
        """Return the folded words of a place."""
        return folded(self.text[place[0] : place[1]])

    @cached_property
    def caseless(self) -> bool:
        """Whether the text is written without capitals, so that case carries no information."""
        letters = [c for c in self.text[:2000] if c.isalpha()]
        return sum(c.isupper() for c in letters) <= len(letters) // 100

    def masked(self, place: Stretch) -> bool:
        """Whether a place consists only of masks."""
        return not any(True for _ in unmasked(*place, self.masks))

    def echo(self, sought: Sought) -> bool:
        """Whether the identifier consists only of masks from earlier passes and the words that go with them."""
        words, wanted = sought.mention.words, sought.mention.type
        rest = MASK.sub(lambda token: " " if self._is_mask(token, wanted) else token[0], words)
        return rest != words and fitting.echoes(folded(rest))

    def _is_mask(self, token: re.Match[str], type: str) -> bool:
        name = token[1].upper()
        return token[0].casefold() in self._mask_words or name == type or name in catalogue()

    def _forward(self, place: Stretch) -> Stretch:
        return self._hay.forward(place[0]), self._hay.forward(place[1])

    def grown(self, start: int, end: int, words: str) -> Stretch:
        """Grow a stretch to word boundaries and trim what the identifier's words lack at the ends. Never empty."""
        known = self._grown.get((start, end, words))
        if known is None:
            low, high = trimmed(self.text, *snapped(self.text, *completed(self.text, start, end)), words)
            known = self._grown[start, end, words] = (low, high) if low < high else (start, end)
        return known


def _find(text: str, words: str) -> Iterator[int]:
    """Yield the offsets of words in a text, without overlaps."""
    at = text.find(words)
    for _ in range(MOST):
        if at < 0:
            return
        yield at
        at = text.find(words, at + len(words))


# A phrase's words are never compiled to a pattern: the cache of `re` would keep them for the life of the process.


def _grouped(text: str, digits: str) -> Iterator[Stretch]:
    """Yield the places of a number's digits in any grouping, but not inside a longer run of digits."""
    for run in _RUN.finditer(text):
        places = [at for at in range(*run.span()) if text[at].isdecimal()]
        together = "".join(text[at] for at in places)
        at = together.find(digits)
        while at >= 0:
            start, end = places[at], places[at + len(digits) - 1] + 1
            if not text[start - 1 : start].isdecimal() and not text[end : end + 1].isdecimal():
                while start > run.start() and text[start - 1] in "+(":
                    start -= 1
                yield start, end
            at = together.find(digits, at + 1)


def _standing(text: str, word: str) -> Stretch | None:
    """Return the first place where a word occurs as a whole word."""
    at = text.find(word)
    while at >= 0:
        if not text[at - 1 : at].isalnum() and not text[at + len(word) : at + len(word) + 1].isalnum():
            return at, at + len(word)
        at = text.find(word, at + 1)
    return None
