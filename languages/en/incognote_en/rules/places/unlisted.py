"""Places that no gazetteer has: by verbs of living, by the shape of their names, by labels and by what follows."""

from __future__ import annotations

from incognote_en.rules.gazetteer import ordinary
from incognote_en.rules.places.toponym_evidence import FoundPlace, PlaceEvidence
from incognote_en.rules.places.words import (
    CREDENTIAL_CODES,
    CUE,
    NATURAL,
    PART,
    SOMEWHERE,
    TERM,
    TOPONYM,
)


class Unlisted(PlaceEvidence):
    """Readings of names the gazetteer lacks."""

    def cued(self, i: int) -> FoundPlace | None:
        """Whatever follows `lives in`, `flew to`, `daughter in`; after a bare `in` what is built like a town."""
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
            return FoundPlace(j, end, "LOCATION", 0.65, "places.cued") if lived or low in CUE["inside"] else None
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
            return FoundPlace(j, end, "CITY", 0.65 if lived else 0.6, "places.cued")
        if (
            low in ("in", "near", "from")
            and fresh
            and self.ends_part(end)
            and self.unnamed(j, end)
            and not w.word(i - 1).isdigit()
        ):
            return FoundPlace(j, end, "CITY", 0.5, "places.cued")
        if town and low in ("of", "at") and fresh:
            return FoundPlace(j, end, "CITY", 0.5, "places.cued")
        return None

    def lower(self, j: int, lived: bool) -> FoundPlace | None:
        """A place in lower case: a known one after a preposition, an unknown word after a verb of living."""
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
                return FoundPlace(j, end, place.type, 0.65, "places.lower")
            if (
                place.need == "b"
                and sole
                and w.lows[j] not in ordinary(True)
                and w.low(j - 1) in CUE["inside"]
                and len(w.words[j]) > 4
            ):
                return FoundPlace(j, end, place.type, 0.5, "places.lower")
        landed = w.low(j - 2) in TOPONYM["landed"] or w.low(j - 3) in TOPONYM["landed"] or w.low(j - 2) in SOMEWHERE
        strange = (
            len(w.words[j]) > 4 and w.words[j].isalpha() and w.lows[j] not in ordinary(True) and not self.people(j)
        )
        if lived and landed and strange and self.ends_clause(j + 1):
            return FoundPlace(j, j + 1, "CITY", 0.55, "places.lower")
        return None

    def labelled(self, i: int) -> FoundPlace | None:
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
        return FoundPlace(j + 1, end, kind, 0.7, "places.label") if end and self.names.at(w.lows, j + 1) else None

    def coded(self, i: int) -> FoundPlace | None:
        """Capitalised words before a comma and a state's code: Tillman Falls, OH."""
        w = self.walk
        j = w.titled_before(i - 1, PART["stop"])
        while j < i - 1 and w.lows[j] in CUE["preposition"]:
            j += 1
        if j == i - 1 or w.newline(i) or (not self.ends_part(i + 1) and not w.word(i + 1).islower()):
            return None
        unsure = w.words[i] in CREDENTIAL_CODES and not self.ends_part(i + 1)
        cue = w.low(j - 1) in CUE["preposition"] and not unsure and not w.words[j].isupper()
        return FoundPlace(j, i - 1, "CITY", 0.65, "places.coded") if cue and not w.shouting(i) else None

    def town_before(self, wide: FoundPlace) -> FoundPlace | None:
        """Capitalised words before a comma and a state or country: Vila Serrana, Brazil."""
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
        return FoundPlace(j, comma, "CITY", 0.6, "places.before-state")

    def natural(self, i: int) -> FoundPlace | None:
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
                return FoundPlace(i, end, "LOCATION", 0.65, "places.natural")
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
            return FoundPlace(j, i + 1, "LOCATION", 0.7, "places.county")
        fresh = any(w.lows[k] not in plain and not w.words[k].isupper() for k in range(j, i))
        if named or (fresh and set_in and (w.titled(i) or not w.newline(j))) or (w.titled(i) and set_in and i - j > 1):
            return FoundPlace(j, i + 1, "LOCATION", 0.6, "places.natural")
        return None
