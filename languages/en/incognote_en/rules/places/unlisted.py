"""Places that are in no gazetteer, found by verbs of living, shape, labels and following words; evidence for places."""

from __future__ import annotations

import re
from collections.abc import Sequence

from incognote.text.lexicon import BRAND, EPONYM, MEDICAL, PLACE, given, lexicon, surname
from incognote_en.rules.gazetteer import abbreviations, gazetteer, ordinary
from incognote_en.rules.holidays import first_words
from incognote_en.rules.places.words import (
    BETWEEN,
    CREDENTIAL_CODES,
    CUE,
    MEDICAL_TOWNS,
    NATURAL,
    PART,
    SOMEWHERE,
    TERM,
    TOPONYM,
    VERBS_BACK,
)
from incognote_en.rules.walk import FoundTokens, TokenWalk


class UnlistedPlaces:
    """The tokens of one text, the evidence for places in them, and the places that the gazetteer lacks.

    Args:
        taken: for each token, whether it is part of an address.
    """

    def __init__(self, walk: TokenWalk, taken: Sequence[int]) -> None:
        self.walk = walk
        self.taken = taken
        self.names = gazetteer()
        self.codes = abbreviations()
        self.last = -9  # the end of the latest place: lists of places continue from it

    def lived(self, j: int) -> bool:
        """Whether a verb of living or traveling, or someone who is somewhere, comes shortly before token j."""
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
        """Whether only marks, dates and connecting words separate this from the last place: Brazil -> (2016) Japan."""
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
        return self.walk.ends_before(end, ".,;)–-|")

    def ends_clause(self, i: int) -> bool:
        w = self.walk
        return self.ends_part(i) or w.lows[i] in ordinary() or self.names.at(w.lows, i) is not None

    def medical(self, start: int, end: int) -> bool:
        """Whether it is a town in the name of a score or a germ: Glasgow, Ottawa, Newport."""
        w = self.walk
        return " ".join(w.lows[start:end]).replace(" .", "") in MEDICAL_TOWNS or (
            end - start == 1 and bool(lexicon().get(w.lows[start], 0) & (EPONYM | BRAND | MEDICAL))
        )

    def people(self, k: int) -> bool:
        """Whether it is a people, a language, a month or a feast: a `place` word of the lexicon that is not a place."""
        low = self.walk.lows[k]
        return (bool(lexicon().get(low, 0) & PLACE) and low not in self.names.places) or low in TOPONYM["months"]

    def unnamed(self, j: int, end: int) -> bool:
        """Whether none of the words is a person's name."""
        w, names = self.walk, lexicon()
        entries = [names.get(w.lows[k].replace("'", ""), 0) for k in range(j, end)]
        return not any(given(e) or surname(e) for e in entries) and all(
            len(w.words[k]) > 3 and w.words[k][1:].islower() for k in range(j, end)
        )

    def run(self, j: int) -> int:
        """The end of up to four capitalized words at j, links inside allowed; 0 if one is not part of a place."""
        w = self.walk
        k = j
        while k < w.n and k - j < 5 and not (k > j and w.breaks(k)) and not self.taken[k]:
            if k > j and w.words[k].isupper() and len(w.words[k]) > 1:
                break
            if w.titled(k):
                if w.lows[k] in PART["stop"] or w.lows[k] in TOPONYM["titles"]:
                    return 0
            elif not self.links(j, k) and not (w.words[k] == "." and w.lows[k - 1] in ("st", "mt", "ft")):
                break
            k += 1
        if (
            k < w.n
            and not w.breaks(k)
            and (w.lows[k] in TERM or (w.joined(k) and w.words[k] in "-_/@%") or w.words[k].isdigit())
        ):
            return 0
        return k if k > j else 0

    def links(self, j: int, k: int) -> bool:
        """Whether token k links the words of a name from j on. A holiday after "on" is no part of it."""
        w = self.walk
        linked = k > j and w.lows[k] in TOPONYM["links"] and k + 1 < w.n and w.titled(k + 1)
        return linked and not (w.lows[k] == "on" and re.split("['’]", w.lows[k + 1])[0] in first_words())

    def cued(self, i: int) -> FoundTokens | None:
        """The words after `lives in`, `flew to`, `daughter in`; after a bare `in`, only if they look like a town."""
        w = self.walk
        j = i + 1
        while j < w.n and w.lows[j] in TOPONYM["passed"] and j < i + 3:
            j += 1
        if j >= w.n or self.taken[j] or (w.breaks(j) and w.newline(j) and w.lows[i] == "at"):
            return None
        low = w.lows[i]
        lived = low in ("in", "from", "to", "near", "of", "on", "outside", "around", "visiting", "visited") and (
            low in ("visiting", "visited")
            or (low == "of" and w.low(i - 1) in TOPONYM["of"])
            or (low != "of" and self.lived(i))
        )
        if w.words[j].islower():
            return self.lower(j, lived)
        if not w.titled(j) or w.shouting(j):
            return None
        end = self.run(j)
        if not end:
            return None
        plain = ordinary()
        if w.lows[end - 1] in NATURAL["head_last"] and end - j > 1:
            return FoundTokens(j, end, "LOCATION", 0.65, "places.cued") if lived or low in CUE["inside"] else None
        town = (
            w.lows[j] in NATURAL["town_first"]
            and end - j > 1
            and w.lows[j + 1] not in plain
            and w.words[j + 1][0].isalpha()
        ) or (end - j > 1 and w.lows[end - 1] in NATURAL["town_last"] and w.lows[j] not in PART["stop"])
        if any(self.people(k) for k in range(j, end)) or (w.lows[end - 1].endswith("'s") and w.word(end).islower()):
            return None  # in Spanish; the visit to Corrigan's office
        fresh = any(w.lows[k] not in plain and len(w.words[k]) > 2 and not w.words[k].isupper() for k in range(j, end))
        if (lived and fresh) or (town and low not in TOPONYM["weak"] and (fresh or lived)):
            return FoundTokens(j, end, "CITY", 0.65 if lived else 0.6, "places.cued")
        if (
            low in ("in", "near", "from")
            and fresh
            and self.ends_part(end)
            and self.unnamed(j, end)
            and not w.word(i - 1).isdigit()
        ):
            return FoundTokens(j, end, "CITY", 0.5, "places.cued")
        if town and low in ("of", "at") and fresh:
            return FoundTokens(j, end, "CITY", 0.5, "places.cued")
        return None

    def lower(self, j: int, lived: bool) -> FoundTokens | None:
        """A place in lower case: a known one after a preposition, or an unknown word after a verb of living."""
        w = self.walk
        at = self.names.at(w.lows, j)
        if at is not None and not any(w.newline(k) for k in range(j + 1, at[0])):
            end, place = at
            sole = end - j == 1
            if (place.need == "a" and not (sole and w.lows[j] in ordinary())) or (
                lived and (place.need in "bn" and w.lows[j] not in ordinary(True))
            ):
                if end < w.n and w.lows[end] in TERM:
                    return None
                return FoundTokens(j, end, place.type, 0.65, "places.lower")
            if (
                place.need == "b"
                and sole
                and w.lows[j] not in ordinary(True)
                and w.low(j - 1) in CUE["inside"]
                and len(w.words[j]) > 4
            ):
                return FoundTokens(j, end, place.type, 0.5, "places.lower")
        landed = w.low(j - 2) in TOPONYM["landed"] or w.low(j - 3) in TOPONYM["landed"] or w.low(j - 2) in SOMEWHERE
        strange = (
            len(w.words[j]) > 4 and w.words[j].isalpha() and w.lows[j] not in ordinary(True) and not self.people(j)
        )
        if lived and landed and strange and self.ends_clause(j + 1):
            return FoundTokens(j, j + 1, "CITY", 0.55, "places.lower")
        return None

    def labelled(self, i: int) -> FoundTokens | None:
        """City: X; Country of origin: X."""
        w = self.walk
        j = i + 1
        if w.low(j) in ("of",):
            j += 2
        if (
            w.word(j) not in (":", "=")
            or w.newline(j)
            or j + 1 >= w.n
            or w.newline(j + 1)
            or not w.titled(j + 1)
            or w.low(i - 1) in ("mental", "solid", "liquid")
        ):
            return None
        end = self.run(j + 1)
        kind = {"country": "COUNTRY", "state": "STATE"}.get(w.lows[i], "CITY")
        return FoundTokens(j + 1, end, kind, 0.7, "places.label") if end and self.names.at(w.lows, j + 1) else None

    def coded(self, i: int) -> FoundTokens | None:
        """Capitalized words before a comma and a state code: Tillman Falls, OH."""
        w = self.walk
        j = w.titled_before(i - 1, PART["stop"])
        while j < i - 1 and w.lows[j] in CUE["preposition"]:
            j += 1
        if j == i - 1 or w.newline(i) or (not self.ends_part(i + 1) and not w.word(i + 1).islower()):
            return None
        unsure = w.words[i] in CREDENTIAL_CODES and not self.ends_part(i + 1)
        cue = w.low(j - 1) in CUE["preposition"] and not unsure and not w.words[j].isupper()
        return FoundTokens(j, i - 1, "CITY", 0.65, "places.coded") if cue and not w.shouting(i) else None

    def town_before(self, wide: FoundTokens) -> FoundTokens | None:
        """Capitalized words before a comma and a state or country: Vila Serrana, Brazil."""
        w = self.walk
        comma = wide.start - 1
        if (
            wide.type == "CITY"
            or w.word(comma) != ","
            or self.last == comma
            or w.newline(wide.start)
            or w.shouting(comma)
        ):
            return None
        j = comma
        while (
            j > 0
            and comma - j < 4
            and not w.breaks(j)
            and w.words[j - 1][0].isupper()
            and w.lows[j - 1] not in PART["stop"]
        ):
            j -= 1
        while j < comma and w.lows[j] in CUE["preposition"]:
            j += 1
        plain = ordinary()
        if (
            j == comma
            or self.taken[j]
            or all(w.lows[k] in plain or self.people(k) for k in range(j, comma))
            or w.low(w.back(j)) in TOPONYM["titles"]
        ):
            return None
        return FoundTokens(j, comma, "CITY", 0.6, "places.before-state")

    def natural(self, i: int) -> FoundTokens | None:
        """Lake Ossawinnick, Hotel Minos Bay; Burke River, Turner County, Ōkahu marae."""
        w = self.walk
        low = w.lows[i]
        plain = ordinary()
        if low in NATURAL["head_first"] and w.titled(i) and not w.shouting(i) and i + 1 < w.n:
            j = i + 2 if w.word(i + 1) == "." else i + 1
            if (
                j < w.n
                and w.titled(j)
                and not w.breaks(j)
                and (end := self.run(j))
                and end - j < 4
                and (w.lows[j] not in plain or end - j > 1)
            ):
                return FoundTokens(i, end, "LOCATION", 0.65, "places.natural")
        if low not in NATURAL["head_last"]:
            return None
        j = w.titled_before(i, NATURAL["not_natural"])
        while j < i and (
            w.lows[j] in CUE["preposition"] or w.lows[j] in TOPONYM["titles"] or w.lows[j] in PART["stop"]
        ):
            j += 1
        if j == i or w.shouting(i) or (w.titled(i) and i + 1 < w.n and w.titled(i + 1) and not w.breaks(i + 1)):
            return None
        before = w.low(j - 1)
        set_in = (
            before in CUE["preposition"]
            or before in ("the", "by", "on", "near", "behind", "facing")
            or w.word(j - 1) in ",–—(;:-"
        )
        named = low in TOPONYM["unmistakable"] and w.titled(i) and w.word(j - 1).islower() and not w.newline(j)
        if low == "county" and w.titled(i) and (set_in or w.lows[i - 1] not in plain):
            return FoundTokens(j, i + 1, "LOCATION", 0.7, "places.county")
        fresh = any(w.lows[k] not in plain and not w.words[k].isupper() for k in range(j, i))
        if named or (fresh and set_in and (w.titled(i) or not w.newline(j))) or (w.titled(i) and set_in and i - j > 1):
            return FoundTokens(j, i + 1, "LOCATION", 0.6, "places.natural")
        return None
