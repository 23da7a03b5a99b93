"""The beginnings of addresses: parts that rarely mean anything else, and labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import compress, count

from incognote.detectors.rules.view import among
from incognote_en.rules.gazetteer import words
from incognote_en.rules.places.address_parts import AddressParts
from incognote_en.rules.places.words import ADDRESS, PART, POSTCODE, STREET, SUFFIX, AddressPart

_CUE = words("places.toml", "cue")
_LABELS = _CUE["address"]
_OTHER_ADDRESS = _CUE["other_address"]
_LIVING = _CUE["living"]
_GLUED_HINTS = (
    *("straße", "strasse", "str.", "weg ", "platz ", "gasse ", "allee ", "straat ", "laan "),
    *("gatan ", "gata ", "veien ", "plein ", "gracht ", "kade "),
)
_GLUED = re.compile(
    r"\b[^\W\d_a-z][^\W\d_]+"
    r"(?:stra(?:ß|ss)e|str\.|weg|platz|gasse|allee|straat|laan|gatan|gata|veien|plein|gracht|kade) \d"
)
_US_ZIP = re.compile(r"\d{5}(?:-\d{4})?(?![\w-])")
_TRIGGERS = (
    ADDRESS["seed_units"]
    | ADDRESS["locality"]
    | {"o"}
    | SUFFIX
    | STREET["prefix"]
    | STREET["numbered"]
    | ADDRESS["seed_before"]
    | _LABELS
    | {"at"}
    | ADDRESS["boxes"]
)


_ZIPS_OF: dict[str, str | tuple[str, ...]] = {"ID": "83", "MD": ("20", "21"), "PA": ("15", "16", "17", "18", "19")}
"""How the ZIP codes begin of states whose abbreviations also mean something else: "Chue Thao, ID 30917"."""


def _glued(text: str) -> bool:
    """Whether `_GLUED` may match. Its search takes longer than all others."""
    lowered = text.lower()
    return any(hint in lowered for hint in _GLUED_HINTS)


class Seeds:
    """The seeds in one text."""

    def __init__(self, parts: AddressParts) -> None:
        self.walk = parts.walk
        self.parts = parts

    def seeds(self) -> Iterator[tuple[AddressPart, float]]:
        """Parts that rarely mean anything but an address, with a score. Below _SURE they need a neighbor."""
        w = self.walk
        codes = self.parts.codes["us"]
        for i in among(w.lows, _TRIGGERS):
            low = w.lows[i]
            if low in SUFFIX:
                yield from self.numbered(i)
            if low in STREET["prefix"] or low in STREET["numbered"]:
                yield from self.led(i)
            if low in ADDRESS["seed_before"] and w.titled(i) and (part := self.parts.before(i)):
                yield part, 0.4
            if low in ADDRESS["locality"] and w.titled(i) and i and w.titled(i - 1) and not w.breaks(i):
                yield AddressPart(i - 1, i + 1, "street"), 0.4
            if (
                low in ADDRESS["seed_units"]
                and w.titled(i)
                and (part := self.parts.unit(i))
                and self.parts.closes(part.end)
            ):
                yield part, 0.3
            if low in _LABELS or (low == "o" and w.text[w.starts[i] - 2 : w.ends[i]] in ("R/o", "R/O", "r/o")):
                yield from self.labelled(i)
            if low == "at" and w.word(i + 1).isdigit() and w.low(i - 1) in _LIVING and (part := self.loose(i + 1)):
                yield part, 0.7
            if low in ADDRESS["boxes"] and (part := self.parts.box(i)) and low != "box":
                written = w.text[w.starts[i] : w.ends[part.end - 1]].lower()
                sure = (low[0] in "pl" and len(written) > 6) or "box" in written[2:]
                yield part, 0.75 if sure else 0.4
        for i in among(w.words, codes):
            code = _US_ZIP.match(w.text, w.starts[min(i + 1, w.n - 1)])
            if code and code[0].startswith(_ZIPS_OF.get(w.words[i], "")) and (part := self.parts.state(i)):
                start = self.town(i)
                if start < i:
                    yield AddressPart(start, part.end, "code"), 0.8
        for i in compress(count(), map(str.isdigit, w.words)):
            if len(w.words[i]) > 1:
                yield from self.coded(i)
        for match in POSTCODE.finditer(w.text):
            i, end = w.at(match.start()), w.at(match.end())
            start = self.town(i)
            yield AddressPart(start, end, "code"), 0.6 if start < i else 0.4
        if _glued(w.text):
            for match in _GLUED.finditer(w.text):
                if part := self.parts.street(w.at(match.start())):
                    yield part, 0.7

    def coded(self, i: int) -> Iterator[tuple[AddressPart, float]]:
        """A postal code beside a known town: Pune 411001, 75002 Paris."""
        w = self.walk
        behind = (i > 0 and w.words[i - 1][0].isalpha()) or w.word(i - 1) in ("-", "–")
        if not behind and (i + 1 >= w.n or len(w.words[i]) > 5):
            return
        code = self.parts.code(i)
        if code is None or sum(c.isdigit() for c in w.text[w.starts[i] : w.ends[code.end - 1]]) < 4:
            return
        if w.word(code.end) in ("%", "/", ":") or (w.word(code.end) == "." and w.word(code.end + 1).isdigit()):
            return
        if behind and (start := self.known_before(i)) < i:
            yield AddressPart(start, code.end, "code"), 0.6 if len(w.words[i]) == 6 else 0.4
        j = code.end
        if j < w.n and w.gap(j) == " " and w.titled(j) and (place := self.parts.place(j)):
            yield AddressPart(i, place.end, "code"), 0.4

    def known_before(self, j: int) -> int:
        """The index of a known place that ends directly before token j (a dash may intervene); j if there is none."""
        w = self.walk
        end = j - 1 if w.word(j - 1) in ("-", "–") else j
        for i in range(max(0, end - 3), end):
            known = self.parts.names.at(w.lows, i)
            if known and known[0] == end and w.titled(i) and not w.newline(j):
                return i
        return j

    def numbered(self, i: int) -> Iterator[tuple[AddressPart, float]]:
        """The street with token i as its suffix: with its house number, or else alone."""
        w = self.walk
        for j in range(i - 1, max(-1, i - 9), -1):
            if w.newline(j + 1):
                break
            if w.words[j].isdigit() and w.low(j + 1) not in ADDRESS["ordinals"]:
                part = self.parts.street(j)
                if part and part.end > i and not (w.joined(j) and w.words[j - 1] in ":."):
                    yield AddressPart(self.announced(part.start), part.end, "street"), 0.8
                    return
                break
        if w.lows[i] not in STREET["firm"] or not w.titled(i):
            if (
                w.lows[i] in ADDRESS["plain_streets"]
                and w.low(i - 2) in ADDRESS["on"]
                and w.word(i - 1).isalpha()
                and w.low(i - 1) not in ADDRESS["no_street"]
            ) or (
                w.words[i] in ("St", "Ave", "Blvd")
                and w.titled(i - 1)
                and w.low(i - 2) in ADDRESS["on"]
                and not w.breaks(i)
            ):
                yield AddressPart(i - 1, i + 1, "street"), 0.55
            return
        j = w.titled_before(i, PART["stop"])
        while j < i and (w.lows[j] in ADDRESS["on"] or w.lows[j] in ADDRESS["no_street"]):
            j += 1
        if j < i:
            on = w.low(j - 1) in ADDRESS["on"]
            yield (
                AddressPart(j, i + 1, "street"),
                0.65 if on else 0.4 if w.shouting(i) or w.lows[i] not in ADDRESS["plain_streets"] else 0.55,
            )

    def led(self, i: int) -> Iterator[tuple[AddressPart, float]]:
        """The street that begins with its kind at token i, with a number before it."""
        w = self.walk
        part = self.parts.street(i)
        if part is None:
            return
        start = i
        j = i - 1
        if w.word(j) == "," or w.low(j) in ("bis", "ter"):
            j -= 1
        if j >= 0 and w.words[j].isdigit() and not w.newline(j + 1):
            start = j
        if w.low(start - 1) in ("state", "county", "us", "old") and w.titled(start - 1):
            start -= 1
        numbered = w.lows[i] in STREET["numbered"]
        sure = (
            w.titled(i) and (w.low(i - 1) in ADDRESS["on"] or len(w.lows[i]) > 3)
            if numbered
            else start < i or any(w.words[k].isdigit() for k in range(i, part.end))
        )
        yield AddressPart(start, part.end, "street"), 0.65 if sure else 0.4

    def announced(self, i: int) -> int:
        """Move back over `No.`, `#`, `Blk` or `Plot` before a house number."""
        w = self.walk
        while i > 1 and w.joined(i) and w.words[i - 1] in "/-" and w.joined(i - 1) and w.words[i - 2].isdigit():
            i -= 2
        j = i - 1
        if j >= 0 and w.words[j] in ".#" and not w.newline(i):
            j -= 1
        if j > 0 and w.lows[j] == "no" and w.lows[j - 1] in PART["unit"]:
            j -= 1
        if j >= 0 and not w.newline(j + 1) and w.lows[j] in PART["unit"] - {"no"} and w.titled(j):
            return j
        return i

    def town(self, i: int) -> int:
        """Move back over a comma and the capitalized words before a code at token i."""
        w = self.walk
        j = i
        if j > 0 and w.words[j - 1] in ",^" and not w.newline(j):
            j -= 1
        k = j
        while (
            k > 0
            and j - k < 4
            and not w.breaks(k)
            and w.words[k - 1][0].isalpha()
            and (w.titled(k - 1) or w.lows[k - 1] in ADDRESS["town_links"])
            and w.lows[k - 1] not in PART["stop"]
        ):
            k -= 1
        while k < j and (w.lows[k] in ADDRESS["town_links"] or w.lows[k] in ADDRESS["from"]):
            k += 1
        return k if k < j else i

    def labelled(self, i: int) -> Iterator[tuple[AddressPart, float]]:
        """The value after an address label: up to the end of the line or column, without the next label."""
        w = self.walk
        if w.low(i - 1) in _OTHER_ADDRESS:
            return
        j = i + 1
        while j < w.n and j < i + 5 and w.lows[j] in ADDRESS["label_words"] and not w.newline(j):
            j += 1
        begin = j
        while begin < w.n and w.words[begin] in ":=>.-–|~" and not w.newline(begin):
            begin += 1
        marked = begin > j and any(w.words[k] in ":=>|" or (w.words[k] == "." and k > j) for k in range(j, begin))
        spoken = begin == j and w.low(j - 1) in ("is", "of", "was") and w.word(j)[:1].isdigit()
        wide = begin < w.n and begin == j and w.breaks(j) and not w.newline(j)
        if (
            begin >= w.n
            or not (marked or wide or spoken)
            or (w.newline(begin) and not marked)
            or (w.lows[i] in ("location", "loc") and not marked)
        ):
            return
        end = begin
        while end < w.n and end - begin < 40 and not (end > begin and w.breaks(end)) and w.words[end] not in "|;(~":
            if end > begin and w.lows[end] in ADDRESS["next"] and (w.titled(end) or w.word(end + 1) in ":."):
                break
            if (end > begin and w.words[end] == "." and (len(w.words[end - 1]) > 4 or w.words[end - 1].isdigit())) or (
                w.words[end] in "-–—" and w.gap(end) and w.word(end + 1).islower()
            ):
                break
            if end > begin and w.words[end] == "," and self.parts.complete(end):
                break
            end += 1
        while end > begin and w.words[end - 1] in ",.;:-–—([":
            end -= 1
        if end > begin and self.telling(begin, end):
            yield AddressPart(begin, end, "street"), 0.8

    def telling(self, begin: int, end: int) -> bool:
        """Whether the value of a label is an address and not a remark like `on file` or `same as above`."""
        w = self.walk
        capitals = sum(w.words[k][0].isupper() for k in range(begin, end))
        digits = any(w.words[k].isdigit() for k in range(begin, end))
        plain = sum(w.words[k][0].islower() and w.lows[k] not in ADDRESS["links"] for k in range(begin, end))
        if w.lows[begin - 2 if w.words[begin - 1] in ":=" else begin - 1] in ("location", "loc"):
            return any(w.lows[k] in SUFFIX or w.lows[k] in STREET["numbered"] for k in range(begin, end)) or (
                capitals > plain and any(self.parts.known(k) for k in range(begin, end))
            )
        if digits:
            return (capitals > 0 and plain <= capitals + 1) or any(w.lows[k] in SUFFIX for k in range(begin, end))
        return capitals > plain and any(
            w.words[k] == "," or w.lows[k] in SUFFIX or self.parts.known(k) for k in range(begin, end)
        )

    def loose(self, i: int) -> AddressPart | None:
        """`lives at 4283 Ext 6, Khayalihle`: a number and capitalized words directly after a verb of living."""
        w = self.walk
        j = self.parts.number(i)
        if not j or w.newline(j) or w.low(j) in PART["stop"] or not w.titled(j):
            return None
        end = self.parts.run(j)
        if end and w.word(end).isdigit() and not w.newline(end):
            end += 1
        return AddressPart(i, end, "street") if end else None
