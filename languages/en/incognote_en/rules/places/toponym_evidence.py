"""What the readers of places share: their evidence in the tokens around a name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from incognote.detectors.rules.lexicon import BRAND, EPONYM, MEDICAL, PLACE, given, lexicon, surname
from incognote_en.rules.gazetteer import abbreviations, gazetteer, ordinary
from incognote_en.rules.places.words import (
    BETWEEN,
    CUE,
    MEDICAL_TOWNS,
    PART,
    SOMEWHERE,
    TERM,
    TOPONYM,
    VERBS_BACK,
)
from incognote_en.rules.walk import TokenWalk


class FoundPlace(NamedTuple):
    """Tokens start:end are a place."""

    start: int
    end: int
    type: str
    score: float
    rule: str


class PlaceEvidence:
    """The tokens of one text, and what speaks for a place in them.

    Args:
        taken: for each token, whether an address holds it.
    """

    def __init__(self, walk: TokenWalk, taken: Sequence[int]) -> None:
        self.walk = walk
        self.taken = taken
        self.names = gazetteer()
        self.codes = abbreviations()
        self.last = -9  # where the latest place ended: lists of places carry on from it

    def lived(self, j: int) -> bool:
        """A verb of living or travelling, or someone who is somewhere, stands shortly before token j."""
        w = self.walk
        for k in range(j - 1, max(-1, j - 1 - VERBS_BACK), -1):
            if (w.newline(k + 1) and self.walk.text[w.ends[k] : w.starts[k + 1]].count("\n") > 1) or w.words[
                k
            ] in ".;:":
                return False
            if w.lows[k] in CUE["living"]:
                return True
            if k == j - 1 and w.lows[k] in SOMEWHERE:
                return True
        return False

    def chained(self, start: int) -> bool:
        """Only marks, dates and connecting words stand between this and the place before: Brazil -> (2016) Japan."""
        w = self.walk
        if not 0 <= self.last <= start or start - self.last > 8 or self.last == start:
            return False
        return all(
            w.words[k] in BETWEEN or w.lows[k] in BETWEEN or w.words[k].isdigit() or w.words[k] in "'’)"
            for k in range(self.last, start)
        )

    def set_in(self, start: int) -> bool:
        before = self.walk.low(start - 1)
        return before in CUE["preposition"] and before not in TOPONYM["weak"]

    def ends_part(self, end: int) -> bool:
        w = self.walk
        return end >= w.n or w.breaks(end) or w.words[end] in ".,;)–-|"

    def ends_clause(self, i: int) -> bool:
        w = self.walk
        return self.ends_part(i) or w.lows[i] in ordinary() or self.names.at(w.lows, i) is not None

    def medical(self, start: int, end: int) -> bool:
        """A town in the name of a score or a germ: Glasgow, Ottawa, Newport."""
        w = self.walk
        return " ".join(w.lows[start:end]).replace(" .", "") in MEDICAL_TOWNS or (
            end - start == 1 and bool(lexicon().get(w.lows[start], 0) & (EPONYM | BRAND | MEDICAL))
        )

    def people(self, k: int) -> bool:
        """A people or a language, or a month or a feast: of the lexicon's `place` words, but no place."""
        low = self.walk.lows[k]
        return (bool(lexicon().get(low, 0) & PLACE) and low not in self.names.places) or low in TOPONYM["months"]

    def unnamed(self, j: int, end: int) -> bool:
        """None of the words is a person's name."""
        w, names = self.walk, lexicon()
        entries = [names.get(w.lows[k].replace("'", ""), 0) for k in range(j, end)]
        return not any(given(e) or surname(e) for e in entries) and all(
            len(w.words[k]) > 3 and w.words[k][1:].islower() for k in range(j, end)
        )

    def run(self, j: int) -> int:
        """The end of up to four capitalised words at j, links inside allowed; 0 if one is no part of a place."""
        w = self.walk
        k = j
        while k < w.n and k - j < 5 and not (k > j and w.breaks(k)) and not self.taken[k]:
            if k > j and w.words[k].isupper() and len(w.words[k]) > 1:
                break
            if w.titled(k):
                if w.lows[k] in PART["stop"] or w.lows[k] in TOPONYM["titles"]:
                    return 0
            elif not (k > j and w.lows[k] in TOPONYM["links"] and k + 1 < w.n and w.titled(k + 1)) and not (
                w.words[k] == "." and w.lows[k - 1] in ("st", "mt", "ft")
            ):
                break
            k += 1
        if (
            k < w.n
            and not w.breaks(k)
            and (w.lows[k] in TERM or (w.joined(k) and w.words[k] in "-_/@%") or w.words[k].isdigit())
        ):
            return 0
        return k if k > j else 0
