"""Towns, states, countries and named places in running text: a gazetteer, and how much context each name needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from incognote.detectors.rules.address_parts import PART
from incognote.detectors.rules.gazetteer import Place, abbreviations, gazetteer, words
from incognote.detectors.rules.lexicon import BRAND, EPONYM, EPONYM_NOUN, MEDICAL, PLACE, given, lexicon, surname
from incognote.detectors.rules.ordinary import ordinary
from incognote.detectors.rules.walk import Walk

_CUE = words("places.toml", "cue")
_TERM = PART["term"]
_SOMEWHERE = words("places.toml", "person")["somewhere"]
_NATURAL = words("places.toml", "natural")
_PASSED = frozenset("the downtown northern southern eastern western central upstate rural metro greater mainland nearby suburban inner".split())
_WEAK = frozenset(("at", "of", "through", "left", "leaving", "across", "into", "between"))
_TITLES = frozenset("dr mr mrs ms miss prof professor sir nurse sister brother saint doctor".split())
_CREDENTIAL_CODES = frozenset("MD PA MA DO ND OR IN ME OK HI ID CT MS AL LA DE SC PR CO CA".split())
_LINKS = frozenset("of the de la las los el del do da dos upon on le les du al bin sur am wa".split())
_ROMAN = re.compile(r"[IVX]{1,4}\Z")
_BETWEEN = frozenset(",–—-→>/+&(;") | {"and", "or", "then", "via"}
_VERBS_BACK = 5
_MONTHS = frozenset("january february march april may june july august september october november december".split())
_LANDED = frozenset("live lives lived living reside resides resided residing born raised moved relocated up originally home".split())
_DAYS = frozenset("the monday tuesday wednesday thursday friday saturday sunday".split())
_MEDICAL = words("places.toml", "natural")["medical_towns"]
_OF = frozenset("native resident village town city citizen district region province island suburb commune borough parish hamlet county".split())


class Found(NamedTuple):
    """Tokens start:end are a place."""

    start: int
    end: int
    type: str
    score: float
    rule: str


class Toponyms:
    """The places of one text outside its addresses.

    Args:
        taken: for each token, whether an address holds it.
    """

    def __init__(self, walk: Walk, taken: Sequence[bool]) -> None:
        self.walk = walk
        self.taken = taken
        self.names = gazetteer()
        self.codes = abbreviations()
        self.last = -9  # where the latest place ended: lists of places carry on from it

    def find(self) -> Iterator[Found]:
        """Places in the order of the text; overlapping readings are left to the merge."""
        w = self.walk
        longest, cue = self.names.longest, _CUE
        done = 0
        for i, low in enumerate(w.lows):
            if i < done or self.taken[i]:
                continue
            word = w.words[i]
            if word[0].isupper():
                if low in longest and (found := self.known(i)):
                    yield found
                    if town := self.town_before(found):
                        yield town
                    self.last = done = found.end
                    if state := self.state_after(found):
                        yield state
                        self.last = done = state.end
                    continue
                if (low in _NATURAL["head_first"] or low in _NATURAL["head_last"]) and (found := self.natural(i)):
                    yield found
                    self.last = found.end
                    done = max(i, found.end)
                    continue
            elif low in _LOWER_HEADS and (found := self.natural(i)):
                yield found
                continue
            if (low in cue["preposition"] or low == "on") and (found := self.cued(i)):
                yield found
                self.last = done = found.end
            elif low in cue["label"] and (found := self.labelled(i)):
                yield found
                self.last = done = found.end
            elif word in self.codes["us"] and w.word(i - 1) == "," and (found := self.coded(i)):
                yield found
                yield Found(i, i + 1, "STATE", found.score, "places.state-code")
                self.last = done = i + 1

    # -- known names ---------------------------------------------------------------------------------------------

    def known(self, i: int) -> Found | None:
        """A name of the gazetteer at a capitalised token, if its context allows."""
        w = self.walk
        at = self.names.at(w.lows, i)
        if at is None:
            return None
        end, place = at
        if any(w.newline(k) or not w.titled(k) and w.lows[k] not in _LINKS and w.words[k][0].isalpha() for k in range(i + 1, end)):
            return None
        start = self.widened(i)
        if self.vetoed(start, end):
            return None
        score = self.score(start, end, place)
        return Found(start, end, place.type, score, "places.gazetteer") if score else None

    def widened(self, i: int) -> int:
        """Back over East, New, Port before a known name: East Marlow."""
        w = self.walk
        return i - 1 if i and w.low(i - 1) in _NATURAL["town_first"] and w.titled(i - 1) and not w.breaks(i) else i

    def vetoed(self, start: int, end: int) -> bool:
        """Part of a person's or an institution's name, or of a medical term."""
        w = self.walk
        before, after = w.low(start - 1), w.low(end)
        near = end < w.n and not w.breaks(end)
        if w.low(w.back(start)) in _TITLES and w.low(w.back(start)) != "saint":
            return True
        if w.lows[start] in _MONTHS or near and w.words[end].islower() and lexicon().get(after, 0) & EPONYM_NOUN:
            return True
        if near and (after in _TERM or not self.set_in(start) and (_ROMAN.match(w.words[end]) or w.words[end].isdigit() and len(w.words[end]) < 5)):
            return True
        if near and w.joined(end) and (w.words[end] in "-_@'’" or w.words[end].isalnum()):
            return True
        if w.joined(start) and w.words[start - 1] in "-_@#.":
            return True
        if w.shouting(start):
            return False
        if near and w.titled(end) and after not in _CUE["preposition"] and w.words[end] not in self.codes["code"]:
            following = self.names.at(w.lows, end)
            if following is None or following[1].type == "CITY":
                return True
        previous = start - 1
        if previous < 0 or w.breaks(start) or len(w.gap(start)) > 1 or not w.titled(previous) or before in ordinary():
            return False
        return not (before in _CUE["preposition"] or before in _CUE["living"] or before in _PASSED or self.last == start or before in ("and", "or"))

    def score(self, start: int, end: int, place: Place) -> float:
        w = self.walk
        if self.placed_after(start, end, place):
            return 0.8
        j = start - 1
        while j >= 0 and w.lows[j] in _PASSED and not w.newline(j + 1):
            j -= 1
        before = w.low(j) if j >= 0 and not (w.newline(j + 1) and w.shouting(start)) else ""
        lived = self.lived(j)
        wide = place.type != "CITY"
        if before in _CUE["living"] or (before in _CUE["preposition"] and lived):
            return 0.8
        if self.chained(start):
            return 0.7 if place.need < "w" else 0.5
        if place.need == "w":
            return 0.0
        prepared = before in _CUE["preposition"] and before not in _WEAK
        inside = before in _CUE["inside"]
        if place.need == "a" and not w.shouting(start) and (wide or not self.medical(start, end)):
            return 0.75
        entry = lexicon().get(w.lows[start], 0)
        if place.need != "a" and entry & (EPONYM | BRAND | MEDICAL) and not entry & PLACE and w.lows[start] not in _MEDICAL:
            return 0.0  # the urine in the Foley, suspended from a Mayo stand
        if prepared and (place.need in "ab" or wide or inside):
            return 0.7 if place.need != "n" else 0.6
        if place.need == "a" and (before == "," or w.word(start - 1) in ",(–-|" ) and self.ends_part(end):
            return 0.6
        if place.need in "ab" and w.newline(start) and w.word(end) == "," and (w.word(end + 1).isdigit() or w.low(end + 1) in _DAYS) and not w.newline(end + 1):
            return 0.7  # the place and date of a letter
        if wide and w.word(start - 1) == "," and self.ends_part(end) and not w.shouting(start):
            return 0.5
        return 0.0

    def set_in(self, start: int) -> bool:
        before = self.walk.low(start - 1)
        return before in _CUE["preposition"] and before not in _WEAK

    def medical(self, start: int, end: int) -> bool:
        """A town in the name of a score or a germ: Glasgow, Ottawa, Newport."""
        w = self.walk
        return " ".join(w.lows[start:end]).replace(" .", "") in _MEDICAL or (
            end - start == 1 and bool(lexicon().get(w.lows[start], 0) & (EPONYM | BRAND | MEDICAL))
        )

    def ends_part(self, end: int) -> bool:
        w = self.walk
        return end >= w.n or w.breaks(end) or w.words[end] in ".,;)–-|"

    def placed_after(self, start: int, end: int, place: Place) -> bool:
        """A state or country follows: Jackson, MS; Reading, England."""
        w = self.walk
        if place.type == "COUNTRY" or end >= w.n:
            return False
        j = end + 1 if w.words[end] == "," and not w.newline(end) else end
        if j >= w.n or w.newline(j) or not w.titled(j):
            return False
        if w.words[j] in self.codes["code"]:
            safe = place.need == "a" or w.words[j] not in _CREDENTIAL_CODES or w.word(j + 1).isdigit() or self.set_in(start)
            return safe and (j > end or self.ends_part(j + 1)) and not (w.shouting(j) and w.words[j] in _CREDENTIAL_CODES and j == end)
        found = self.names.at(w.lows, j)
        if not found or found[1].type == "CITY" or place.type != "CITY":
            return False
        return found[1].need == "a" or j > end and (self.ends_part(found[0]) or w.lows[found[0]] in _CUE["preposition"])

    def state_after(self, found: Found) -> Found | None:
        """The state's code after a town that was found."""
        w = self.walk
        j = found.end + 1 if w.word(found.end) == "," else found.end
        if found.type != "CITY" or j >= w.n or w.newline(j):
            return None
        if w.words[j] in self.codes["code"] or (w.words[j] in self.codes["long"] and w.word(j + 1) == "."):
            if w.shouting(j) and w.words[j] in _CREDENTIAL_CODES and j == found.end:
                return None
            return Found(j, j + 1, "STATE", found.score, "places.state-code")
        if w.words[j].islower() and (at := self.names.at(w.lows, j)) and at[1].type != "CITY" and at[1].need == "a":
            return Found(j, at[0], at[1].type, found.score, "places.gazetteer")
        return None

    def lived(self, j: int) -> bool:
        """A verb of living or travelling, or someone who is somewhere, stands shortly before token j."""
        w = self.walk
        for k in range(j - 1, max(-1, j - 1 - _VERBS_BACK), -1):
            if w.newline(k + 1) and self.walk.text[w.ends[k] : w.starts[k + 1]].count("\n") > 1 or w.words[k] in ".;:":
                return False
            if w.lows[k] in _CUE["living"]:
                return True
            if k == j - 1 and w.lows[k] in _SOMEWHERE:
                return True
        return False

    def chained(self, start: int) -> bool:
        """Only marks, dates and connecting words stand between this and the place before: Brazil -> France ('16) -> Japan."""
        w = self.walk
        if not 0 <= self.last <= start or start - self.last > 8 or self.last == start:
            return False
        return all(w.words[k] in _BETWEEN or w.lows[k] in _BETWEEN or w.words[k].isdigit() or w.words[k] in "'’)" for k in range(self.last, start))

    # -- names the gazetteer lacks -------------------------------------------------------------------------------

    def cued(self, i: int) -> Found | None:
        """Whatever follows `lives in`, `flew to`, `daughter in`; after a bare `in` or `from` only what is built like a town."""
        w = self.walk
        j = i + 1
        while j < w.n and w.lows[j] in _PASSED and j < i + 3:
            j += 1
        if j >= w.n or self.taken[j] or w.breaks(j) and w.newline(j) and w.lows[i] == "at":
            return None
        low = w.lows[i]
        lived = low in ("in", "from", "to", "near", "of", "on", "outside", "around", "visiting", "visited") and (
            low in ("visiting", "visited") or (low == "of" and w.low(i - 1) in _OF) or low != "of" and self.lived(i)
        )
        if w.words[j].islower():
            return self.lower(j, lived)
        if not w.titled(j) or w.shouting(j):
            return None
        end = self.run(j)
        if not end:
            return None
        plain = ordinary()
        if w.lows[end - 1] in _NATURAL["head_last"] and end - j > 1:
            return Found(j, end, "LOCATION", 0.65, "places.cued") if lived or low in _CUE["inside"] else None
        town = (w.lows[j] in _NATURAL["town_first"] and end - j > 1 and w.lows[j + 1] not in plain and w.words[j + 1][0].isalpha()) or (
            end - j > 1 and w.lows[end - 1] in _NATURAL["town_last"] and w.lows[j] not in PART["stop"]
        )
        if any(self.people(k) for k in range(j, end)):
            return None
        fresh = any(w.lows[k] not in plain and len(w.words[k]) > 2 and not w.words[k].isupper() for k in range(j, end))
        if lived and fresh or town and low not in _WEAK and (fresh or lived):
            return Found(j, end, "CITY", 0.65 if lived else 0.6, "places.cued")
        if low in ("in", "near", "from") and fresh and self.ends_part(end) and self.unnamed(j, end) and not w.word(i - 1).isdigit():
            return Found(j, end, "CITY", 0.5, "places.cued")
        if town and low in ("of", "at") and fresh:
            return Found(j, end, "CITY", 0.5, "places.cued")
        return None

    def people(self, k: int) -> bool:
        """A people or a language, or a month or a feast: of the lexicon's `place` words, but no place."""
        low = self.walk.lows[k]
        return bool(lexicon().get(low, 0) & PLACE) and low not in self.names.places or low in _MONTHS

    def unnamed(self, j: int, end: int) -> bool:
        """None of the words is a person's name."""
        w, names = self.walk, lexicon()
        entries = [names.get(w.lows[k].replace("'", ""), 0) for k in range(j, end)]
        return not any(given(e) or surname(e) for e in entries) and all(len(w.words[k]) > 3 and w.words[k][1:].islower() for k in range(j, end))

    def lower(self, j: int, lived: bool) -> Found | None:
        """A place in lower case: a known one after a preposition, an unknown word after a verb of living."""
        w = self.walk
        at = self.names.at(w.lows, j)
        if at is not None and not any(w.newline(k) for k in range(j + 1, at[0])):
            end, place = at
            sole = end - j == 1
            if place.need == "a" and not (sole and w.lows[j] in ordinary()) or lived and (place.need in "bn" and w.lows[j] not in ordinary(True)):
                if end < w.n and w.lows[end] in _TERM:
                    return None
                return Found(j, end, place.type, 0.65, "places.lower")
            if place.need == "b" and sole and w.lows[j] not in ordinary(True) and w.low(j - 1) in _CUE["inside"] and len(w.words[j]) > 4:
                return Found(j, end, place.type, 0.5, "places.lower")
        landed = w.low(j - 2) in _LANDED or w.low(j - 3) in _LANDED or w.low(j - 2) in _SOMEWHERE
        strange = len(w.words[j]) > 4 and w.words[j].isalpha() and w.lows[j] not in ordinary(True) and not self.people(j)
        if lived and landed and strange and self.ends_clause(j + 1):
            return Found(j, j + 1, "CITY", 0.55, "places.lower")
        return None

    def ends_clause(self, i: int) -> bool:
        w = self.walk
        return self.ends_part(i) or w.lows[i] in ordinary() or self.names.at(w.lows, i) is not None

    def run(self, j: int) -> int:
        """The end of up to four capitalised words at j, links inside allowed; 0 if one of them is no part of a place."""
        w = self.walk
        k = j
        while k < w.n and k - j < 5 and not (k > j and w.breaks(k)) and not self.taken[k]:
            if k > j and w.words[k].isupper() and len(w.words[k]) > 1:
                break
            if w.titled(k):
                if w.lows[k] in PART["stop"] or w.lows[k] in _TITLES:
                    return 0
            elif not (k > j and w.lows[k] in _LINKS and k + 1 < w.n and w.titled(k + 1)) and not (w.words[k] == "." and w.lows[k - 1] in ("st", "mt", "ft")):
                break
            k += 1
        if k < w.n and not w.breaks(k) and (w.lows[k] in _TERM or w.joined(k) and w.words[k] in "-_/@%" or w.words[k].isdigit()):
            return 0
        return k if k > j else 0

    def labelled(self, i: int) -> Found | None:
        """City: X; Country of origin: X."""
        w = self.walk
        j = i + 1
        if w.low(j) in ("of",):
            j += 2
        if w.word(j) not in (":", "=") or w.newline(j) or j + 1 >= w.n or w.newline(j + 1) or not w.titled(j + 1) or w.low(i - 1) in ("mental", "solid", "liquid"):
            return None
        end = self.run(j + 1)
        kind = {"country": "COUNTRY", "state": "STATE"}.get(w.lows[i], "CITY")
        return Found(j + 1, end, kind, 0.7, "places.label") if end and self.names.at(w.lows, j + 1) else None

    def coded(self, i: int) -> Found | None:
        """Capitalised words before a comma and a state's code: Tillman Falls, OH."""
        w = self.walk
        j = i - 1
        while j > 0 and i - j < 5 and not w.breaks(j) and w.titled(j - 1) and w.words[j - 1][0].isalpha() and w.lows[j - 1] not in PART["stop"]:
            j -= 1
        while j < i - 1 and w.lows[j] in _CUE["preposition"]:
            j += 1
        if j == i - 1 or w.newline(i) or not self.ends_part(i + 1) and not w.word(i + 1).islower():
            return None
        cue = w.low(j - 1) in _CUE["preposition"]
        return Found(j, i - 1, "CITY", 0.65, "places.coded") if cue and not w.shouting(i) else None

    def town_before(self, wide: Found) -> Found | None:
        """Capitalised words before a comma and a state or country: Vila Serrana, Brazil."""
        w = self.walk
        comma = wide.start - 1
        if wide.type == "CITY" or w.word(comma) != "," or self.last == comma or w.newline(wide.start) or w.shouting(comma):
            return None
        j = comma
        while j > 0 and comma - j < 4 and not w.breaks(j) and w.words[j - 1][0].isupper() and w.lows[j - 1] not in PART["stop"]:
            j -= 1
        while j < comma and w.lows[j] in _CUE["preposition"]:
            j += 1
        plain = ordinary()
        if j == comma or self.taken[j] or all(w.lows[k] in plain or self.people(k) for k in range(j, comma)) or w.low(w.back(j)) in _TITLES:
            return None
        return Found(j, comma, "CITY", 0.6, "places.before-state")

    def natural(self, i: int) -> Found | None:
        """Lake Ossawinnick, Hotel Minos Bay; Burke River, Turner County, Ōkahu marae."""
        w = self.walk
        low = w.lows[i]
        plain = ordinary()
        if low in _NATURAL["head_first"] and w.titled(i) and not w.shouting(i) and i + 1 < w.n:
            j = i + 2 if w.word(i + 1) == "." else i + 1
            if j < w.n and w.titled(j) and not w.breaks(j) and (end := self.run(j)) and end - j < 4 and (w.lows[j] not in plain or end - j > 1):
                return Found(i, end, "LOCATION", 0.65, "places.natural")
        if low not in _NATURAL["head_last"]:
            return None
        j = i
        while j > 0 and i - j < 4 and not w.breaks(j) and w.titled(j - 1) and w.words[j - 1][0].isalpha() and w.lows[j - 1] not in _NATURAL["not_natural"]:
            j -= 1
        while j < i and (w.lows[j] in _CUE["preposition"] or w.lows[j] in _TITLES or w.lows[j] in PART["stop"]):
            j += 1
        if j == i or w.shouting(i) or (w.titled(i) and i + 1 < w.n and w.titled(i + 1) and not w.breaks(i + 1)):
            return None
        before = w.low(j - 1)
        set_in = before in _CUE["preposition"] or before in ("the", "by", "on", "near", "behind", "facing") or w.word(j - 1) in ",–—(;:-"
        named = low in _UNMISTAKABLE and w.titled(i) and w.word(j - 1).islower() and not w.newline(j)
        if low == "county" and w.titled(i) and (set_in or w.lows[i - 1] not in plain):
            return Found(j, i + 1, "LOCATION", 0.7, "places.county")
        fresh = any(w.lows[k] not in plain and not w.words[k].isupper() for k in range(j, i))
        if named or fresh and set_in and (w.titled(i) or not w.newline(j)) or (w.titled(i) and set_in and i - j > 1):
            return Found(j, i + 1, "LOCATION", 0.6, "places.natural")
        return None


_UNMISTAKABLE = frozenset("lake river creek beach island islands valley canyon mountain mountains butte mesa airport mall hotel casino reservation".split())
_LOWER_HEADS = frozenset("marae lugga river lake island county village beach market forest district neighborhood neighbourhood section township creek bazaar".split())
