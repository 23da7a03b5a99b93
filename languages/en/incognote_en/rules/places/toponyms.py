"""Towns, states, countries and named places in running text: a gazetteer, and how much context each name needs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from incognote.detectors.rules.view import among
from incognote.text.lexicon import BRAND, EPONYM, EPONYM_NOUN, MEDICAL, PLACE, commonness, lexicon, surname
from incognote_en.rules.gazetteer import GazetteerPlace, abbreviations, ordinary
from incognote_en.rules.places.unlisted import UnlistedPlaces
from incognote_en.rules.places.words import (
    BESIDE,
    CREDENTIAL_CODES,
    CUE,
    MEDICAL_TOWNS,
    NATURAL,
    ROMAN,
    TERM,
    TOPONYM,
)
from incognote_en.rules.walk import FoundTokens


class Toponyms(UnlistedPlaces):
    """The places in one text outside its addresses."""

    def find(self) -> Iterator[FoundTokens]:
        """Places in text order. Overlapping readings are left to the merge."""
        w = self.walk
        longest, cue = self.names.longest, CUE
        done = 0
        announcing = _announcing()
        cued = [*among(w.lows, announcing)]
        for i in sorted({*cued, *(i for i in w.capitals if w.lows[i] in longest)}):
            if i < done or self.taken[i]:
                continue
            low, word = w.lows[i], w.words[i]
            if word[0].isupper():
                if low in longest and (toponym := self.known(i)):
                    yield toponym
                    if town := self.town_before(toponym):
                        yield town
                    self.last = done = toponym.end
                    if state := self.state_after(toponym):
                        yield state
                        self.last = done = state.end
                    continue
                if (low in NATURAL["head_first"] or low in NATURAL["head_last"]) and (toponym := self.natural(i)):
                    yield toponym
                    self.last = toponym.end
                    done = max(i, toponym.end)
                    continue
            elif low in TOPONYM["lower_heads"] and (toponym := self.natural(i)):
                yield toponym
                continue
            if ((low in cue["preposition"] or low == "on") and (toponym := self.cued(i))) or (
                low in cue["label"] and (toponym := self.labelled(i))
            ):
                yield toponym
                self.last = done = toponym.end
                if state := self.state_after(toponym):
                    yield state
                    self.last = done = state.end
            elif word in self.codes["us"] and w.word(i - 1) == "," and (toponym := self.coded(i)):
                yield toponym
                yield FoundTokens(i, i + 1, "STATE", toponym.score, "places.state-code")
                self.last = done = i + 1

    def known(self, i: int) -> FoundTokens | None:
        """A name from the gazetteer at a capitalized token, if its context allows it."""
        w = self.walk
        at = self.names.at(w.lows, i)
        if at is None:
            return None
        end, place = at
        if any(
            w.newline(k) or (not w.titled(k) and w.lows[k] not in TOPONYM["links"] and w.words[k][0].isalpha())
            for k in range(i + 1, end)
        ):
            return None
        sole = end - i == 1 and place.type == "CITY"
        if sole and w.words[i].isupper() and len(w.words[i]) < 6 and w.lows[i] != "nyc" and not w.shouting(i):
            return None  # ECH is a hospital's acronym
        start = self.widened(i)
        if self.vetoed(start, end):
            return None
        score = self.score(start, end, place)
        return FoundTokens(start, end, place.type, score, "places.gazetteer") if score else None

    def widened(self, i: int) -> int:
        """Move back over East, New, Port before a known name: East Marlow."""
        w = self.walk
        return i - 1 if i and w.low(i - 1) in NATURAL["town_first"] and w.titled(i - 1) and not w.breaks(i) else i

    def vetoed(self, start: int, end: int) -> bool:
        """Whether it is part of a person's or an institution's name, or of a medical term."""
        w = self.walk
        before, after = w.low(start - 1), w.low(end)
        near = end < w.n and not w.breaks(end)
        if w.low(w.back(start)) in TOPONYM["titles"] and w.low(w.back(start)) != "saint":
            return True
        if w.lows[start] in TOPONYM["months"] or (
            near and w.words[end].islower() and lexicon().get(after, 0) & EPONYM_NOUN
        ):
            return True
        if near and (
            after in TERM
            or (
                not self.set_in(start)
                and (ROMAN.match(w.words[end]) or (w.words[end].isdigit() and len(w.words[end]) < 5))
            )
        ):
            return True
        if near and w.joined(end) and (w.words[end] in "-_@'’" or w.words[end].isalnum()):
            return True
        if w.joined(start) and w.words[start - 1] in "-_@#.":
            return True
        if w.shouting(start):
            return False
        if near and w.titled(end) and after not in CUE["preposition"] and w.words[end] not in self.codes["code"]:
            following = self.names.at(w.lows, end)
            if following is None or following[1].type == "CITY":
                return True
        previous = start - 1
        if previous < 0 or w.breaks(start) or len(w.gap(start)) > 1 or not w.titled(previous) or before in ordinary():
            return False
        return not (
            before in CUE["preposition"]
            or before in CUE["living"]
            or before in TOPONYM["passed"]
            or self.last == start
            or before in ("and", "or")
        )

    def score(self, start: int, end: int, place: GazetteerPlace) -> float:
        w = self.walk
        if self.placed_after(start, end, place):
            return 0.8
        j = start - 1
        while j >= 0 and w.lows[j] in TOPONYM["passed"] and not w.newline(j + 1):
            j -= 1
        before = w.low(j) if j >= 0 and not (w.newline(j + 1) and w.shouting(start)) else ""
        lived = self.lived(j)
        wide = place.type != "CITY"
        if place.need == "w" and w.shouting(start):
            return 0.0
        if before in CUE["living"] or (before in CUE["preposition"] and lived):
            return 0.8
        if self.chained(start):
            return 0.7 if place.need < "w" else 0.5
        if w.low(end) in BESIDE and w.low(start - 1) in TOPONYM["theirs"] and not w.shouting(start):
            return 0.6
        if place.need == "w":
            return 0.0
        prepared = before in CUE["preposition"] and before not in TOPONYM["weak"]
        inside = before in CUE["inside"]
        if place.need == "a" and not w.shouting(start) and (wide or not self.medical(start, end)):
            return 0.75
        entry = lexicon().get(w.lows[start], 0)
        if (
            place.need != "a"
            and entry & (EPONYM | BRAND | MEDICAL)
            and not entry & PLACE
            and w.lows[start] not in MEDICAL_TOWNS
        ):
            return 0.0  # the urine in the Foley, suspended from a Mayo stand
        if prepared and (place.need in "ab" or wide or inside):
            return 0.7 if place.need != "n" else 0.6
        if place.need == "b" and before == "of" and self.ends_part(end) and w.titled(j - 1) and self.named(j - 1):
            return 0.5  # Mike Tessier of Nashua
        if place.need == "a" and (before == "," or w.word(start - 1) in ",(–-|") and self.ends_part(end):
            return 0.6
        if (
            place.need in "ab"
            and w.newline(start)
            and w.word(end) == ","
            and (w.word(end + 1).isdigit() or w.low(end + 1) in TOPONYM["days"])
            and not w.newline(end + 1)
        ):
            return 0.7  # the place and date of a letter
        if wide and w.word(start - 1) == "," and self.ends_part(end) and not w.shouting(start):
            return 0.5
        return 0.0

    def named(self, k: int) -> bool:
        """Whether token k may be a surname and is not a common word."""
        entry = lexicon().get(self.walk.lows[k], 0)
        return bool(surname(entry)) and commonness(entry) < 2

    def placed_after(self, start: int, end: int, place: GazetteerPlace) -> bool:
        """Whether a state or country follows: Jackson, MS; Reading, England."""
        w = self.walk
        if place.type == "COUNTRY" or end >= w.n:
            return False
        j = end + 1 if w.words[end] == "," and not w.newline(end) else end
        if j >= w.n or w.newline(j) or not w.titled(j):
            return False
        if w.words[j] in self.codes["code"]:
            safe = (
                place.need == "a" or w.words[j] not in CREDENTIAL_CODES or w.word(j + 1).isdigit() or self.set_in(start)
            )
            return (
                safe
                and (j > end or self.ends_part(j + 1))
                and not (w.shouting(j) and w.words[j] in CREDENTIAL_CODES and j == end)
            )
        following = self.names.at(w.lows, j)
        if not following or following[1].type == "CITY" or place.type != "CITY":
            return False
        return following[1].need == "a" or (
            j > end and (self.ends_part(following[0]) or w.lows[following[0]] in CUE["preposition"])
        )

    def state_after(self, town: FoundTokens) -> FoundTokens | None:
        """The state code after a town that was found."""
        w = self.walk
        j = town.end + 1 if w.word(town.end) == "," else town.end
        if town.type != "CITY" or j >= w.n or w.newline(j):
            return None
        if w.words[j] in self.codes["code"] or (w.words[j] in self.codes["long"] and w.word(j + 1) == "."):
            if w.shouting(j) and w.words[j] in CREDENTIAL_CODES and j == town.end:
                return None
            return FoundTokens(j, j + 1, "STATE", town.score, "places.state-code")
        if w.words[j].islower() and (at := self.names.at(w.lows, j)) and at[1].type != "CITY" and at[1].need == "a":
            return FoundTokens(j, at[0], at[1].type, town.score, "places.gazetteer")
        return None


@cache
def _announcing() -> frozenset[str]:
    """Words that announce a place, or are part of many place names."""
    announcing = (
        CUE["preposition"]
        | CUE["label"]
        | NATURAL["head_first"]
        | NATURAL["head_last"]
        | TOPONYM["lower_heads"]
        | {"on"}
    )
    return announcing | {code.lower() for code in abbreviations()["us"]}
