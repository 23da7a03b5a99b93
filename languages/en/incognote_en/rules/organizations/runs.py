"""How far an organisation's name reaches: runs of capitalised words, links, heads, legal forms."""

from __future__ import annotations

import re
from typing import NamedTuple

from incognote.detectors.rules.lexicon import given, lexicon
from incognote_en.rules.gazetteer import gazetteer
from incognote_en.rules.organizations.words import (
    GENERIC,
    LINKS,
    MORE,
    SIDES,
    STOPS,
    SUFFIXES,
    brands,
    fresh,
    heads,
    telling,
)
from incognote_en.rules.walk import Walk

_MOST = 30
"""Tokens behind a head that are read on over: no name has more, and repeated heads then take linear time."""


class Found(NamedTuple):
    """Tokens start:end name an organisation; `core` ends the part of the name before its head."""

    start: int
    end: int
    type: str
    score: float
    rule: str
    core: int = 0


class Runs:
    """Reads runs of words off the tokens of one text."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.heads = heads()
        self.brands = brands()

    def leftward(self, i: int) -> int:
        """Back from a head over its name, then forward past what is no part of it."""
        w = self.walk
        j = i
        while j > 0 and i - j < 9:
            k = j - 1
            if (w.newline(j) and not self.wraps(j)) or (len(w.gap(j)) > 2 and not w.newline(j)):
                break
            word, low = w.words[k], w.lows[k]
            if word[0].isupper() and low not in STOPS:
                j = k
            elif (
                word == "."
                and (w.low(k - 1) in ("st", "mt", "ft", "ste") or (len(w.word(k - 1)) == 1 and w.word(k - 1).isupper()))
                and not w.newline(k)
            ):
                j = k - 1
            elif (
                (low in LINKS or word in "&'’")
                and k > 1
                and (w.words[k - 1][0].isupper() or (w.lows[k - 1] == "of" and w.words[k - 2][0].isupper()))
                and not w.newline(k)
                and w.lows[k - 1] not in GENERIC["trim"] - {"of"}
            ):
                if low == "of" and given(lexicon().get(w.lows[k - 1], 0)) and fresh(w.lows[k - 1], w.words[k - 1]):
                    break  # Efua of Luz de Luna
                j = k
            else:
                break
        trim = GENERIC["trim"]
        for k in range(j, i):
            if w.lows[k] in STOPS or w.lows[k] in ("dr", "mr", "mrs", "ms", "md", "rn"):
                j = k + 1
        while j < i and (
            w.lows[j] in trim or w.words[j].islower() or w.lows[j] in ("of", "and", "&") or not w.words[j][0].isalpha()
        ):
            if w.lows[j] == "our" and w.low(j + 1) == "lady":
                break
            if w.lows[j] == "the" and j and not w.newline(j) and w.word(j - 1).islower() and w.words[j] != "THE":
                break
            j += 1
        return j

    def wraps(self, j: int) -> bool:
        """The name goes on over the end of a line of prose: from Saint Ludmila / Hospital."""
        w = self.walk
        return (
            w.text[w.ends[j - 1] : w.starts[j]].strip(" \t") in ("\n", "\r\n")
            and w.words[j - 1][0].isupper()
            and not w.words[j - 1].isupper()
            and any(w.word(k).islower() and not w.newline(k + 1) for k in range(max(0, j - 4), j - 1))
        )

    def rightward(self, j: int) -> int:
        """On over further heads, a legal form, a campus, `of Michigan`, `#12`."""
        w = self.walk
        stop = min(w.n, j + _MOST)
        while j < stop and not w.breaks(j):
            low, word = w.lows[j], w.words[j]
            if (
                word[0].isupper()
                and (low in MORE or low in SUFFIXES or low in self.heads)
                and low not in ("house", "path")
            ):
                j += 1
            elif word in ",&" and w.low(j + 1) in SUFFIXES and w.words[j + 1][0].isupper() and not w.newline(j + 1):
                j += 2
            elif word == "," and re.match(
                r"P\.? ?[CA]\.|L\.L\.[CP]\.|P\.L\.L\.C\.", w.text[w.starts[j] + 2 : w.starts[j] + 10]
            ):
                j += 1
                while (
                    j < w.n
                    and (len(w.words[j]) == 1 or w.words[j] in (".", "PA", "PC"))
                    and not w.newline(j)
                    and w.words[j] not in ",;"
                ):
                    j += 1
            elif word in "&" or low == "and":
                if w.low(j + 1) in MORE and w.words[j + 1][0].isupper() and not w.newline(j + 1):
                    j += 2
                else:
                    break
            elif low in ("of", "for", "at") and low != "at" and j + 1 < w.n and self.proper(j + 1):
                j = self.run(j + 1)
            elif (
                w.lows[j - 1] in ("hospital", "infirmary")
                and (at := gazetteer().at(w.lows, j))
                and at[1].need < "n"
                and self.closes(at[0])
            ):
                j = at[0]  # Queen Elizabeth Hospital Birmingham
            elif (word in "-–" and w.low(j + 1) in SIDES and not w.newline(j + 1)) or (
                word == "#" and w.word(j + 1).isdigit()
            ):
                j += 2
            elif word == "." and w.lows[j - 1] in SUFFIXES and w.joined(j) and not self.sentence(j + 1):
                j += 1
            else:
                break
        return j

    def closes(self, i: int) -> bool:
        w = self.walk
        return i >= w.n or w.breaks(i) or not w.titled(i)

    def sentence(self, i: int) -> bool:
        """A sentence may begin at token i, so that the full stop before it is the last one's."""
        w = self.walk
        return i >= w.n or w.titled(i)

    def proper(self, j: int) -> bool:
        """A capitalised word that may follow `of` in a name."""
        w = self.walk
        j = j + 1 if w.low(j) == "the" else j
        return (
            j < w.n
            and w.words[j][0].isupper()
            and not w.newline(j)
            and (w.lows[j] in gazetteer().longest or fresh(w.lows[j], w.words[j]) or telling(w.lows[j]))
        )

    def run(self, j: int) -> int:
        """The end of the capitalised words at j, links inside allowed."""
        w = self.walk
        k = j
        while k < w.n and k - j < 7 and not (k > j and w.breaks(k)):
            word = w.words[k]
            if word[0].isupper():
                if w.lows[k] in STOPS:
                    break
            elif not (
                k + 1 < w.n
                and (w.lows[k] in LINKS or word in "&'’" or (word == "." and (w.low(k - 1) in ("st", "mt"))))
                and w.words[k + 1][0].isupper()
                and not w.breaks(k + 1)
                and (k > j or word == "the")
            ):
                break
            k += 1
        return k

    def body(self, start: int, i: int) -> bool:
        """A learned society, a guideline body, an authority everybody quotes."""
        w = self.walk
        inside = any(low in GENERIC["bodies_first"] for low in w.lows[max(0, start - 1) : min(start + 2, i)])
        return inside and any(low in GENERIC["bodies_head"] for low in w.lows[start : i + 1])
