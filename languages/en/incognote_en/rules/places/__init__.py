"""Places: postal addresses, then towns, states, countries and named places outside them.

Addresses differ by country in order and words but have the same shape: short parts between commas or line ends, most of
them capitalized or numbers. A seed (a numbered street, a code, a box, a label) is a part that rarely means anything
else. Parts beside it join it if they fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.detectors.rules.view import Candidate, View
from incognote.text.lexicon import given, lexicon
from incognote_en.rules.gazetteer import fold, gazetteer
from incognote_en.rules.places.address_parts import AddressParts
from incognote_en.rules.places.address_seeds import Seeds
from incognote_en.rules.places.toponyms import Toponyms
from incognote_en.rules.places.words import ADDRESS, PART, AddressPart
from incognote_en.rules.walk import TokenWalk

_ROOTED = re.compile(r"-(?:born|based|bred|raised|trained|area)\b")
"""Tonga-born, Boston-based."""
_LAST_WORD = re.compile(r"[^\W\d_]{3,21}\Z")


def find(view: View) -> Iterator[Candidate]:
    """Candidates of the types ADDRESS, STREET, CITY, STATE, COUNTRY and LOCATION."""
    if not len(view):
        return
    walk = TokenWalk(view)
    taken = bytearray(walk.n)
    for start, end, kind, score in Addresses(walk).find():
        taken[start:end] = b"\1" * (end - start)
        yield Candidate(walk.starts[start], walk.ends[end - 1], kind, score, "places.address")
    for rooted in _ROOTED.finditer(view.text):
        word = _LAST_WORD.search(view.text[max(0, rooted.start() - 21) : rooted.start()])
        place = gazetteer().places.get(fold(word.group())) if word else None
        if word and place and word.group()[0].isupper():
            yield Candidate(rooted.start() - len(word.group()), rooted.start(), place.type, 0.6, "places.born")
    for place_name in Toponyms(walk, taken).find():
        yield walk.candidate(place_name)


_MARKS = frozenset(",;|^")
_MAX_PARTS = 9
_SURE = 0.5
_GIVEN = 4  # the weight in the lexicon from which a word is a usual given name
_TELLING = frozenset(("street", "code", "box", "place", "before", "state", "building"))


class Addresses:
    """The addresses in one text."""

    def __init__(self, walk: TokenWalk) -> None:
        self.walk = walk
        self.parts = AddressParts(walk)

    def find(self) -> list[tuple[int, int, str, float]]:
        """Addresses as (start token, end token, type, score)."""
        addresses: list[tuple[int, int, str, float]] = []
        done = -1
        for seed, score in sorted(set(Seeds(self.parts).seeds())):
            if seed.start < done and seed.end <= done:
                continue
            start, end, kinds = self.grow(seed)
            if score < _SURE and (
                len(kinds) < 2 or not kinds & _TELLING or (score < 0.4 and not kinds & {"code", "building", "street"})
            ):
                continue
            numbered = any(self.walk.words[k].isdigit() for k in range(start, end))
            kind = "ADDRESS" if len(kinds) > 1 or numbered or "box" in kinds else "STREET"
            addresses.append((start, end, kind, max(score, 0.75 if len(kinds) > 1 else score)))
            done = max(done, end)
        return addresses

    def grow(self, seed: AddressPart) -> tuple[int, int, set[str]]:
        """The seed with the parts that join it on both sides: (start, end, kinds)."""
        w = self.walk
        kinds = {seed.kind}
        begin = seed.start - 1 if w.word(seed.start - 1) == "." else seed.start
        if w.low(begin - 1) in PART["before"] and w.titled(begin - 1) and not w.newline(begin):
            seed = seed._replace(start=begin - 1)  # Co. before Kerry
        end = self.rightward(seed.end, kinds)
        start = self.leftward(seed.start, kinds)
        return start, end, kinds

    def rightward(self, end: int, kinds: set[str]) -> int:
        w = self.walk
        kept, at, waiting = end, end, 0
        if self.parts.complete(end):
            return end
        for _ in range(_MAX_PARTS):
            nxt, comma, line = self.separator(at)
            part = self.parts.part(nxt) if nxt < w.n and nxt >= at else None
            if part is None or part.end <= nxt:
                break
            if not comma and not line and part.kind in ("title", "building", "loose", "before", "box"):
                break
            if part.kind in ("title", "loose") or (
                line and not comma and part.kind in ("place", "unit", "before", "street")
            ):
                # a line or a name alone counts only if a distinctive part follows, or a comma links it to a street
                if comma and not line and not waiting and part.kind != "loose":
                    kept = part.end
                    kinds.add(part.kind)
                elif waiting == 3:
                    break
                elif line and part.kind in ("place", "unit", "street") and self.ends_line(part.end):
                    kept = part.end
                    kinds.add(part.kind)
                waiting += 1
            elif part.kind == "building" and not (comma and not line):
                waiting += 1
            else:
                kept, waiting = part.end, 0
                kinds.add(part.kind)
            at = part.end
            if part.kind == "code" and at < w.n and (w.newline(at) or self.parts.complete(at)):
                break
        return kept

    def leftward(self, start: int, kinds: set[str]) -> int:
        w = self.walk
        for _ in range(_MAX_PARTS):
            j = start - 1
            if j < 0 or (w.words[j] not in ",;^" and not w.newline(start)):
                break
            tied = w.words[j] in ",;^"
            stop = j if tied else start
            if not tied and self.blank(start):
                break
            k = stop - 1
            while k > 0 and stop - k < 12 and not w.breaks(k) and w.words[k - 1] not in ",;:|^()>=]":
                k -= 1
            best = None
            for i in range(k, stop):
                part = self.parts.part(i)
                if (
                    part
                    and part.end == stop
                    and (part.kind not in ("title", "building") or i == k or w.lows[i - 1] in ADDRESS["from"])
                ):
                    best = part
                    break
            if best is None or best.start == stop or (best.start > k and self.surname(best)):
                break
            if best.kind == "loose" and not tied and "unit" not in kinds:
                break
            if best.kind in ("title", "building") and not self.title_joins(best, tied, kinds):
                break
            if not tied and best.kind in ("place", "code", "state", "before"):
                break
            kinds.add(best.kind)
            start = best.start
            if best.start != k:
                break
        return start

    def surname(self, part: AddressPart) -> bool:
        """Whether a given name stands directly before a part: Carmen Rivera, Calle Marina 41."""
        i = part.start - 1
        return part.kind == "place" and self.walk.titled(i) and given(lexicon().get(self.walk.lows[i], 0)) >= _GIVEN

    def title_joins(self, part: AddressPart, tied: bool, kinds: set[str]) -> bool:
        if part.kind == "building" or self.walk.low(part.end - 1) in PART["building"]:
            return tied or "street" not in kinds
        return tied and bool(kinds & {"code", "before"}) and "street" not in kinds and "box" not in kinds

    def separator(self, i: int) -> tuple[int, bool, bool]:
        """Skip the comma and line end before the next part.

        Returns:
            The part's index, whether there was a comma, and whether a line ended.
        """
        w = self.walk
        comma = line = False
        j = i
        if j < w.n and w.words[j] == "." and not w.newline(j + 1) and w.word(j + 1) == ",":
            j += 1
        if (
            j < w.n
            and (w.words[j] in _MARKS or (w.words[j] in "-–—" and w.gap(j) and w.gap(j + 1)))
            and not w.newline(j)
        ):
            comma, j = True, j + 1
        if j < w.n and w.newline(j):
            if self.blank(j):
                return w.n, comma, True
            line = True
        elif j < w.n and w.breaks(j) and not comma:
            return w.n, comma, True
        return j, comma, line

    def blank(self, i: int) -> bool:
        return len(re.findall(r"\r\n|\n|\r", self.walk.gap(i))) > 1

    def ends_line(self, i: int) -> bool:
        return self.walk.newline(i) or (self.walk.word(i) in ",." and self.walk.newline(i + 1))
