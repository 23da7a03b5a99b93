"""Where words stand almost as they were given: the Levenshtein distance, tried only where enough of them stands.

Candidate places come from a vote of shared trigrams, the rare ones first (the q-gram filter of approximate string
matching: Ukkonen 1992, "Approximate string-matching with q-grams and maximal matches"), so the time grows with the
number of candidates and not with text times phrase. All offsets are into folded text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from rapidfuzz.distance import OSA, Levenshtein
from rapidfuzz.fuzz import partial_ratio_alignment

from incognote.align.folding import Folded

ENOUGH = 0.8
"""How similar a place must be to the words sought, see `similarity`."""
_VOTES = 3000  # trigram places counted for one phrase
_SEATS = 12  # places of the text tried for one phrase
_LONGEST = 2000  # a longer phrase is no identifier with a hint


@dataclass(frozen=True, slots=True)
class Near:
    """A place similar to the words sought: `similarity` in 0..1, the stretch of folded text."""

    similarity: float
    start: int
    end: int


class Nearest:
    """Similar places of one text."""

    def __init__(self, haystack: Folded) -> None:
        self._hay = haystack
        self._grams: dict[str, list[int]] | None = None

    def find(self, sought: str, enough: float = ENOUGH) -> list[Near]:
        """The places similar to some folded words, the most similar first, none overlapping a better one."""
        if not 3 <= len(sought) <= _LONGEST:
            return []
        found = {near for at in self._candidates(sought) if (near := self._try(sought, at, enough))}
        kept: list[Near] = []
        for near in sorted(found, key=lambda n: (-n.similarity, n.start, n.end)):
            if all(near.end <= other.start or other.end <= near.start for other in kept):
                kept.append(near)
        return kept

    def _candidates(self, sought: str) -> Iterator[int]:
        """Offsets at which the words may begin, by the vote of their trigrams."""
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
        # A place is as long as the words or shorter until its ends are moved to where words begin and end.
        starts = self._edges(self._hay.word_starts, low + rough.dest_start, slack)
        ends = self._edges(self._hay.word_ends, low + rough.dest_end, slack)
        best = max(
            (Near(similarity(sought, self._hay.folded[s:e]), s, e) for s in starts for e in ends if s < e),
            key=lambda near: (near.similarity, -abs(near.end - near.start - len(sought)), near.start in starts[1:]),
        )
        return best if best.similarity >= enough else None

    @staticmethod
    def _edges(edges: list[int], at: int, slack: int) -> list[int]:
        """An offset and the edges of words around it."""
        near = edges[max(0, bisect_left(edges, at) - 2) : bisect_right(edges, at) + 2]
        return [at, *(edge for edge in near if edge != at and abs(edge - at) <= slack)]


def similarity(one: str, other: str) -> float:
    """1 − distance / length of the longer, in 0..1; two letters in each other's place count as one error."""
    return OSA.normalized_similarity(one, other)


def carried(sought: str, place: str, start: int, end: int) -> tuple[int, int] | None:
    """Where `sought[start:end]` stands in a similar `place`, by the edit operations; None where all of it was left out.

    Letters that `place` has beyond the words sought belong to the stretch only where they stand inside it.
    """
    low, high = len(place), 0
    for step in Levenshtein.opcodes(sought, place):
        if step.tag in ("equal", "replace"):
            first, last = max(start, step.src_start), min(end, step.src_end)
            if first < last:
                low = min(low, step.dest_start + first - step.src_start)
                high = max(high, step.dest_start + last - step.src_start)
    return (low, high) if low < high else None
