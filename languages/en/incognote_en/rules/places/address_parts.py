"""The parts of postal addresses: numbered streets, units, boxes, codes, states, named places."""

from __future__ import annotations

import re

from incognote_en.rules.gazetteer import abbreviations, gazetteer
from incognote_en.rules.places.words import (
    ADDRESS,
    BEHIND,
    BOX,
    CLOSES,
    FLOOR,
    HOUSE_NO,
    PART,
    STREET,
    SUFFIX,
    YEAR,
    ZIP,
    AddressPart,
)
from incognote_en.rules.walk import TokenWalk

_CLOSING = re.compile(r"\b[A-Z]{2}\.?,? {1,2}\d{5}(?:-\d{4})?\Z")
_USA = re.compile(r"[\s,]+(?:U\.? ?S\b|USA\b|United States|America\b)", re.IGNORECASE)


class AddressParts:
    """Reads parts of addresses from the tokens of one text."""

    def __init__(self, walk: TokenWalk) -> None:
        self.walk = walk
        self.names = gazetteer()
        self.codes = abbreviations()

    def part(self, i: int) -> AddressPart | None:
        """The part that begins at token i, in its most distinctive reading."""
        w = self.walk
        if i >= w.n:
            return None
        return (
            self.code(i)
            or self.box(i)
            or self.unit(i)
            or self.street(i)
            or self.state(i)
            or self.before(i)
            or self.place(i)
            or self.loose(i)
            or self.title(i)
        )

    def number(self, i: int) -> int:
        """The end of a house number or unit code at i (12, 12-A, 17B, 4/7, 207-B, B), 0 if there is none."""
        w = self.walk
        word = w.word(i)
        if not (word.isdigit() or (len(word) <= 2 and word.isupper())):
            return 0
        j = i + 1
        while (
            j < w.n
            and w.joined(j)
            and (w.words[j].isdigit() or w.words[j] in "-/" or (len(w.words[j]) == 1 and w.words[j].isalpha()))
        ):
            j += 1
        if w.words[j - 1] in "-/":
            j -= 1
        written = w.text[w.starts[i] : w.ends[j - 1]]
        if len(written) > 9 or not (any(c.isdigit() for c in written) or len(written) == 1):
            return 0
        return 0 if j < w.n and w.joined(j) and (w.words[j][0].isalpha() or w.words[j] in "%°:") else j

    def code(self, i: int) -> AddressPart | None:
        w = self.walk
        match = ZIP.match(w.text, w.starts[i])
        if not match or (i and w.joined(i) and w.words[i - 1] not in ",;|^-("):
            return None
        if len(match.group()) == 4 and YEAR.match(match.group()):
            return None
        return AddressPart(i, w.at(match.end()), "code")

    def complete(self, i: int) -> bool:
        """Whether the tokens before i end a US address ("Menomonie, WI 54751"), and no country follows."""
        w = self.walk
        return _CLOSING.search(w.text, max(0, w.ends[i - 1] - 16), w.ends[i - 1]) is not None and not _USA.match(
            w.text, w.ends[i - 1]
        )

    def box(self, i: int) -> AddressPart | None:
        w = self.walk
        match = BOX.match(w.text, w.starts[i]) if w.words[i][0] in "gGpPbBlLrRhHdDaAcCuU" else None
        return AddressPart(i, w.at(match.end()), "box") if match else None

    def unit(self, i: int) -> AddressPart | None:
        w = self.walk
        floor = FLOOR.match(w.text, w.starts[i]) if w.words[i][0].isalnum() else None
        if floor:
            return AddressPart(i, w.at(floor.end()), "unit")
        j = i
        if w.words[i] == "#":
            j = i + 1
        elif house := HOUSE_NO.match(w.text, w.starts[i]):
            j = w.at(house.end())
        elif (
            w.words[i].isdigit()
            and w.low(i + 1) in ADDRESS["ordinals"]
            and w.low(i + 2) in ("cross", "main", "stage", "phase", "block")
            and w.titled(i + 2)
        ):
            return AddressPart(i, i + 3, "unit")
        elif (
            w.lows[i] in PART["unit"]
            and not w.breaks(i + 1)
            and (w.titled(i) or not w.words[i].isalpha() or w.lows[i] in ADDRESS["units"])
        ):
            j = i + 1
            while j < w.n and j < i + 4 and (w.words[j] in ".#:" or w.lows[j] in ("no", "number", "nr", "num")):
                j += 1
        if j == i or j >= w.n or w.newline(j):
            return None
        end = self.number(j)
        return AddressPart(i, end, "unit") if end else None

    def street(self, i: int) -> AddressPart | None:
        """A house number and a street name, a street that begins with its kind, or a one-word name and its number."""
        w = self.walk
        low = w.lows[i]
        if low in ("no", "nos", "number") and not w.newline(i + 1):
            j = i + 2 if w.word(i + 1) == "." else i + 1
            return self.street(j) if w.word(j).isdigit() else None
        if w.words[i].isdigit() and len(w.words[i]) <= 6:
            begin = self.number(i)
            if begin and w.word(begin) == "," and w.low(begin + 1) in STREET["prefix"]:
                begin += 1  # 12, rue de la Paix
            elif begin and (w.newline(begin) or w.tabbed(begin) or w.joined(begin)):
                begin = 0
            if begin:
                end = self.named(begin) or self.led(begin)
                return AddressPart(i, end, "street") if end else None
            return None
        if end := self.led(i):
            return AddressPart(i, end, "street")
        if low.endswith(tuple(STREET["glued"])) and len(low) > 6 and w.titled(i) and low not in SUFFIX:
            j = i + 2 if w.word(i + 1) == "." else i + 1
            end = self.number(j) if w.word(j).isdigit() and not w.newline(j) else 0
            return AddressPart(i, end, "street") if end else None
        return None

    def named(self, i: int) -> int:
        """The end of NAME SUFFIX beginning at i, 0 if there is none. Lower case requires an unmistakable suffix."""
        w = self.walk
        end, strict = 0, not w.titled(i) and not w.words[i].isdigit()
        j, seen = i, 0
        while j < w.n and seen < 7 and not w.newline(j) and not (seen and w.tabbed(j)):
            low, word = w.lows[j], w.words[j]
            if (
                low in SUFFIX
                and seen
                and (low in STREET["firm"] or not strict)
                and (w.titled(j) or strict or low in STREET["firm"])
            ):
                stop = j + 2 if w.word(j + 1) == "." and not w.newline(j + 1) and len(low) < 5 else j + 1
                if low in STREET["firm"] or self.closes(stop) or w.low(stop) in BEHIND[low in STREET["clear"]]:
                    end = stop
            if (low in PART["stop"] and low not in SUFFIX) or (
                strict and (low in ADDRESS["plain"] or (seen > 2 and not end))
            ):
                break
            ordinal = low in ADDRESS["ordinals"] and j and w.words[j - 1].isdigit() and w.joined(j)
            if word == "." and len(w.words[j - 1]) <= 3:
                pass  # the period of an abbreviation: "N. Main St"
            elif not (
                w.titled(j)
                or low in ADDRESS["links"]
                or ordinal
                or word in ("'", "’", "-")
                or (word.isdigit() and w.low(j + 1) in ADDRESS["ordinals"])
                or (strict and word.isalpha())
            ):
                break
            elif word[0].isalnum() and not ordinal:
                seen += 1
            j += 1
        if end:
            if w.low(end) in ADDRESS["sides"] and not w.newline(end) and w.titled(end):
                end += 1
            long = 4 if w.low(end - 2) in ("county", "state", "farm", "township", "old") else 2
            if w.word(end).isdigit() and len(w.word(end)) <= long and not w.newline(end) and self.closes(end + 1):
                end += 1  # Serangoon Ave 9, County Road 120
        return end

    def led(self, i: int) -> int:
        """The end of a street that begins with its kind: Jalan Ampang 12, rue de la Paix, Route 19, County Road 5."""
        w = self.walk
        low = w.low(i)
        if low in STREET["numbered"] or (
            low in ("road", "rd", "hwy", "concession") and w.low(i - 1) in ("county", "state", "township", "cr")
        ):
            j = i + 1
            if low == "state" or w.low(j) in ("hwy", "highway", "road", "rte", "route"):
                j += 1
            digits = w.word(j)
            if digits.isdigit() and not w.newline(j) and (w.titled(i) or len(digits) > 1):
                return j + 2 if w.low(j + 1) in ADDRESS["sides"] and w.titled(j + 1) else j + 1
            return 0
        if (
            low in ("state", "county", "us", "township")
            and w.titled(i)
            and w.low(i + 1) in ("hwy", "highway", "road", "rd", "route")
        ):
            return self.led(i + 1)
        if low not in STREET["prefix"] or w.newline(i + 1):
            return 0
        j, seen = i + 1, 0
        if w.word(j) == "." and not w.newline(j):
            j += 1
        if not w.titled(i) and not (
            w.low(j) in ADDRESS["links"]
            or w.word(i - 1).isdigit()
            or w.word(i - 1) == ","
            or (w.words[i] in ("ul", "al") and j > i + 1)
        ):
            return 0
        if (low == "av" and w.word(i + 1) != ".") or w.words[i] == "via":
            return 0
        if (
            w.titled(i)
            and w.word(j).isdigit()
            and low in ("calle", "carrera", "cra", "jalan", "jl", "soi", "lorong", "rua")
        ):
            end = self.number(j)
            k = end + 1 if w.word(end) in ("#", ",") else end
            k += 2 if w.low(k) == "no" and w.word(k + 1) == "." else 0
            return (self.number(k) if k > end and w.word(k).isdigit() else end) or end  # Calle 10 # 5-51
        while j < w.n and seen < 5 and not w.newline(j):
            low = w.lows[j]
            if low in ADDRESS["links"] or w.words[j] in "'’":
                j += 1
            elif w.titled(j) and low not in PART["stop"]:
                seen, j = seen + 1, j + 1
            else:
                break
        while j > i and w.lows[j - 1] in ADDRESS["links"]:
            j -= 1
        if not seen:
            return 0
        k = j + 1 if w.word(j) == "," else j
        if w.low(k) in ("no", "nr", "n"):
            k += 2 if w.word(k + 1) in ".°º" else 1
        end = self.number(k) if w.word(k).isdigit() and len(w.word(k)) <= 4 and not w.newline(k) else 0
        if len(low_first := w.lows[i]) < 3 and w.words[i].isupper() and low_first != "av":
            return 0  # BD makes syringes
        return end or j

    def state(self, i: int) -> AddressPart | None:
        """A state code, with the postal code after it."""
        w = self.walk
        word = w.words[i]
        j = i + 2 if w.word(i + 1) == "." else i + 1
        if word.islower():
            zipped = (
                word.upper() in self.codes["us"] and len(w.word(j)) == 5 and w.word(j).isdigit() and not w.newline(j)
            )
            return AddressPart(i, j + 1, "code") if zipped else None
        if not (word in self.codes["code"] or (word in self.codes["long"] and w.word(i + 1) in (".", ","))):
            return None
        code = self.code(j) if j < w.n and not w.newline(j) else None
        if code is None and word == "CO" and w.low(j) not in ("", "usa"):
            return None
        return AddressPart(i, code.end, "code") if code else AddressPart(i, i + 1, "state")

    def before(self, i: int) -> AddressPart | None:
        """Vill. X, Distt. X, Co. X, Off X Road: a word that announces a name."""
        w = self.walk
        after_comma = w.word(i - 1) == "," and w.lows[i] in ADDRESS["before_lower"]
        if w.lows[i] not in PART["before"] or not (w.titled(i) or after_comma) or w.breaks(i + 1):
            return None
        j = i + 1
        while j < w.n and j < i + 3 and w.words[j] in ".:-":
            j += 1
        if w.lows[i] == "po" and w.words[j - 1] != ".":
            return None
        end = self.run(j) if j < w.n and not w.newline(j) else 0
        if not end:
            return None
        code = self.trailing_code(end)
        return AddressPart(i, code or end, "code" if code else "before")

    def place(self, i: int) -> AddressPart | None:
        """A known town, state or country, with a state code or postal code after it."""
        w = self.walk
        if not w.titled(i) and not (w.words[i].islower() and i and (w.words[i - 1].isalpha() or w.words[i - 1] == ",")):
            return None
        known = self.names.at(w.lows, i)
        if not known or any(w.newline(k) for k in range(i + 1, known[0])):
            return None
        end, place = known
        if not w.titled(i):
            return AddressPart(i, end, "place") if place.need != "w" else None
        if (
            w.titled(end - 1)
            and end < w.n
            and w.titled(end)
            and not w.breaks(end)
            and not self.state(end)
            and not self.trailing_code(end)
        ):
            return None  # a longer name: leave it to `title`
        more = self.state(end) if end < w.n and not w.breaks(end) else None
        if more:
            return AddressPart(i, more.end, "code" if more.kind == "code" else "place")
        if code := self.trailing_code(end):
            return AddressPart(i, code, "code")
        return AddressPart(i, end, "place" if place.need != "w" or self.closes(end) else "title")

    def title(self, i: int) -> AddressPart | None:
        """Any run of capitalized words that ends where a part ends."""
        end = self.run(i)
        if not end:
            return None
        w = self.walk
        if end - i > 1 and w.words[end - 1] in self.codes["code"]:
            return AddressPart(i, end, "place")
        code = self.trailing_code(end)
        if code:
            return AddressPart(i, code, "code")
        more = self.state(end) if end < w.n and not w.breaks(end) else None
        if more and more.kind == "code":
            return AddressPart(i, more.end, "code")
        lone = end - i == 1 and (len(w.words[i]) < 2 or not w.words[i][0].isalpha())
        if lone or not self.closes(end):
            return None
        return AddressPart(i, end, "building" if end - i > 1 and w.lows[end - 1] in PART["building"] else "title")

    def known(self, i: int) -> bool:
        """Whether a town, state or country that is not a common word begins at token i."""
        known = self.names.at(self.walk.lows, i) if self.walk.titled(i) else None
        return known is not None and known[1].need != "w"

    def loose(self, i: int) -> AddressPart | None:
        """A number and capitalized words without any street word: 2-4-1 Nishi-Shinjuku, 9 Ropewalk."""
        w = self.walk
        begin = self.number(i) if w.words[i].isdigit() else 0
        end = self.run(begin) if begin and begin < w.n and not w.breaks(begin) and w.titled(begin) else 0
        return AddressPart(i, end, "loose") if end and end - begin < 5 and self.closes(end) else None

    def run(self, i: int) -> int:
        """The end of a run of 1..6 capitalized words at i, none of them a word that cannot be in an address; else 0."""
        w = self.walk
        j, seen = i, 0
        while j < w.n and seen < 6 and not (j > i and w.breaks(j)):
            low = w.lows[j]
            if low in PART["stop"]:
                return 0
            if w.titled(j):
                if seen and w.words[j] in self.codes["code"] and self.state(j) and self.closes(j + 1) is False:
                    break
                seen += 1
            elif (
                w.words[j] == "."
                and seen
                and len(w.words[j - 1]) <= 4
                and not w.newline(j + 1)
                and w.titled(j + 1)
                and j + 1 < w.n
            ):
                pass  # the period of an abbreviation: "St. Ives"
            elif not (
                seen and (low in ADDRESS["links"] or low in ("na", "nan")) and j + 1 < w.n and w.titled(j + 1)
            ) and not (w.words[j] in "'’-" and w.joined(j)):
                break
            j += 1
        if seen and w.word(j).isdigit() and len(w.words[j]) < 3 and not w.breaks(j) and w.word(j + 1) in (",", ""):
            j += 1  # Al Qusais Industrial 4
        return j if seen else 0

    def trailing_code(self, i: int) -> int:
        """The end of a postal code directly after a name, with at most a dash between; 0 if there is none."""
        w = self.walk
        j = i + 1 if w.word(i) in ("-", "–") and not w.newline(i) else i
        if j >= w.n or w.newline(j) or not (w.words[j].isdigit() or w.words[j].isupper()):
            return 0
        if w.words[j].isdigit() and len(w.words[j]) < 3:
            return 0
        code = self.code(j)
        return code.end if code else 0

    def closes(self, i: int) -> bool:
        """Whether a part may end before token i: the text or line ends, or a mark follows."""
        w = self.walk
        return (
            i >= w.n
            or w.breaks(i)
            or w.words[i] in CLOSES
            or w.words[i].isdigit()
            or w.words[i] == "#"
            or w.lows[i] in PART["unit"]
            or (w.titled(i) and self.names.at(w.lows, i) is not None)
        )
