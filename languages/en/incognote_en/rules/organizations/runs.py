"""Word classes for organizations, and how far the name of one extends."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from incognote.text.lexicon import BRAND, EPONYM, MEDICAL, PLACE, commonness, given, lexicon
from incognote_en.rules.gazetteer import Gazetteer, GazetteerPlace, data, fold, gazetteer, listed, ordinary, words
from incognote_en.rules.walk import TokenWalk

FILE = "organizations.toml"
HEAD = words(FILE, "head")
FIRST = words(FILE, "first")
CUE = words(FILE, "cue")
GENERIC = words(FILE, "generic")
ACRONYM = words(FILE, "acronym")
WORD = words(FILE, "word")
_CLINICAL = re.compile(
    r".+(?:olog(?:y|ic|ical|ist)|iatr(?:y|ic|ics|ist)|thoracic|(?:an)?esthesia|itis|oscop(?:y|ic)|ectomy|facial|pathy|therapy|metry|gram|graphy|plasty|emia|osis)s?\Z"
)
"""Medical words that are in no list: Oromaxillofacial, Laryngology."""


class OrganizationHead(NamedTuple):
    """The type that a head gives to the words before it. A weak one needs a cue or an unusual word."""

    type: str
    strong: bool


@cache
def heads() -> dict[str, OrganizationHead]:
    """Heads by folded word or phrase."""
    table: dict[str, OrganizationHead] = {}
    for key, kind, strong in (
        ("organization_weak", "ORGANIZATION", False),
        ("hospital_weak", "HOSPITAL", False),
        ("lab", "DIAGNOSTIC_LABS", False),
        ("pharmacy", "PHARMACY", False),
        ("organization", "ORGANIZATION", True),
        ("hospital", "HOSPITAL", True),
        ("phrases_organization", "ORGANIZATION", True),
        ("phrases", "HOSPITAL", True),
    ):
        table.update(dict.fromkeys(HEAD[key], OrganizationHead(kind, strong)))
    for word in WORD["strong"]:
        table[word] = OrganizationHead(table[word].type, True)
    return table


@cache
def brands() -> Gazetteer:
    """Organizations known by name: need `a` is enough alone, `n` needs a cue."""
    names: dict[str, GazetteerPlace] = {}
    sections = data(FILE)["brand"]
    for key, kind in (
        ("bound", "ORGANIZATION"),
        ("organization", "ORGANIZATION"),
        ("hospital", "HOSPITAL"),
        ("lab", "DIAGNOSTIC_LABS"),
        ("pharmacy", "PHARMACY"),
    ):
        for name in listed(sections[key]):
            names[fold(name).replace(" & ", " ")] = GazetteerPlace(kind, "n" if key == "bound" else "a")
    for name in listed(sections["bound"]):
        folded = fold(name)
        names[folded] = GazetteerPlace(names[folded].type, "n")
    return Gazetteer.of(names)


def is_distinctive(low: str) -> bool:
    """Whether the word identifies an institution: it is not a type, a specialty or a very frequent word."""
    if low in WORD["sacred"] or lexicon().get(low, 0) & PLACE:
        return True
    if low in GENERIC["words"] or _CLINICAL.match(low):
        return False
    entry = lexicon().get(low.replace("'", "").replace("-", ""), 0)
    return not entry & MEDICAL and commonness(entry) < 3


def is_unusual(low: str, word: str) -> bool:
    """Whether the word is not ordinary, so that it can only be a name."""
    if len(word) < 3 or (word.isupper() and len(word) < 5) or low in GENERIC["words"] or _CLINICAL.match(low):
        return False
    bare = low.removesuffix("'s")
    return (
        bare not in ordinary()
        and bare.replace("-", "") not in ordinary()
        and not all(p in ordinary() for p in bare.split("-"))
    )


def maker(low: str) -> bool:
    """Whether the word is a maker of drugs or devices, or an eponym."""
    return bool(lexicon().get(low, 0) & (BRAND | EPONYM))


DOERS = ("ier", "ist", "eer", "ant", "ian", "man", "ter", "yer", "per", "ver", "ler", "ger", "tor", "sor")
CUE_BACK = 6


LABELS = {
    **dict.fromkeys(CUE["label_organization"], "ORGANIZATION"),
    **dict.fromkeys(CUE["label_hospital"], "HOSPITAL"),
    **dict.fromkeys(CUE["label_pharmacy"], "PHARMACY"),
    **dict.fromkeys(CUE["label_lab"], "DIAGNOSTIC_LABS"),
}
FIRST_WORDS = FIRST["hospital"] | FIRST["organization"] | FIRST["pharmacy"] | FIRST["of"]
HEAD_ENDS = frozenset(head.rsplit(" ", 1)[-1] for head in heads())


_MOST = 30
"""The most tokens read after a head. No name has more, and repeated heads then take linear time."""


class OrganizationRuns:
    """Reads runs of words from the tokens of one text."""

    def __init__(self, walk: TokenWalk) -> None:
        self.walk = walk
        self.heads = heads()
        self.brands = brands()

    def leftward(self, i: int) -> int:
        """Move back from a head over its name, then forward past words that are not part of it."""
        w = self.walk
        j = i
        while j > 0 and i - j < 9:
            k = j - 1
            if (w.newline(j) and not self.wraps(j)) or (len(w.gap(j)) > 2 and not w.newline(j)) or w.tabbed(j):
                break
            word, low = w.words[k], w.lows[k]
            if word[0].isupper() and low not in WORD["stops"]:
                j = k
            elif (
                word == "."
                and (w.low(k - 1) in ("st", "mt", "ft", "ste") or (len(w.word(k - 1)) == 1 and w.word(k - 1).isupper()))
                and not w.newline(k)
            ):
                j = k - 1
            elif (
                (low in WORD["links"] or word in "&'’")
                and k > 1
                and (w.words[k - 1][0].isupper() or (w.lows[k - 1] == "of" and w.words[k - 2][0].isupper()))
                and not w.newline(k)
                and w.lows[k - 1] not in GENERIC["trim"] - {"of"}
            ):
                if low == "of" and given(lexicon().get(w.lows[k - 1], 0)) and is_unusual(w.lows[k - 1], w.words[k - 1]):
                    break  # Efua of Luz de Luna
                j = k
            else:
                break
        trim = GENERIC["trim"]
        for k in range(j, i):
            if w.lows[k] in WORD["stops"] or w.lows[k] in ("dr", "mr", "mrs", "ms", "md", "rn"):
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
        """Whether the name continues over the end of a line of prose: from Saint Ludmila / Hospital."""
        w = self.walk
        return (
            w.text[w.ends[j - 1] : w.starts[j]].strip(" \t") in ("\n", "\r\n")
            and w.words[j - 1][0].isupper()
            and not w.words[j - 1].isupper()
            and any(w.word(k).islower() and not w.newline(k + 1) for k in range(max(0, j - 4), j - 1))
        )

    def rightward(self, j: int) -> int:
        """Continue over further heads, a legal form, a campus, `of Michigan`, `#12`."""
        w = self.walk
        stop = min(w.n, j + _MOST)
        while j < stop and not w.breaks(j):
            low, word = w.lows[j], w.words[j]
            if (
                word[0].isupper()
                and (low in WORD["more"] or low in WORD["suffixes"] or low in self.heads)
                and low not in ("house", "path")
            ):
                j += 1
            elif (
                word in ",&"
                and w.low(j + 1) in WORD["suffixes"]
                and w.words[j + 1][0].isupper()
                and not w.newline(j + 1)
            ):
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
                if w.low(j + 1) in WORD["more"] and w.words[j + 1][0].isupper() and not w.newline(j + 1):
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
            elif (word in "-–" and w.low(j + 1) in WORD["sides"] and not w.newline(j + 1)) or (
                word == "#" and w.word(j + 1).isdigit()
            ):
                j += 2
            elif word == "." and w.lows[j - 1] in WORD["suffixes"] and w.joined(j) and not self.sentence(j + 1):
                j += 1
            else:
                break
        return j

    def closes(self, i: int) -> bool:
        w = self.walk
        return i >= w.n or w.breaks(i) or not w.titled(i)

    def sentence(self, i: int) -> bool:
        """Whether a sentence may begin at token i, so that the period before it ends the previous one."""
        w = self.walk
        return i >= w.n or w.titled(i)

    def proper(self, j: int) -> bool:
        """Whether a capitalized word may follow `of` in a name."""
        w = self.walk
        j = j + 1 if w.low(j) == "the" else j
        return (
            j < w.n
            and w.words[j][0].isupper()
            and not w.newline(j)
            and (w.lows[j] in gazetteer().longest or is_unusual(w.lows[j], w.words[j]) or is_distinctive(w.lows[j]))
        )

    def run(self, j: int) -> int:
        """The end of the capitalized words at j, links inside allowed."""
        w = self.walk
        k = j
        while k < w.n and k - j < 7 and not (k > j and w.breaks(k)):
            word = w.words[k]
            if word[0].isupper():
                if w.lows[k] in WORD["stops"]:
                    break
            elif not (
                k + 1 < w.n
                and (w.lows[k] in WORD["links"] or word in "&'’" or (word == "." and (w.low(k - 1) in ("st", "mt"))))
                and w.words[k + 1][0].isupper()
                and not w.breaks(k + 1)
                and (k > j or word == "the")
            ):
                break
            k += 1
        return k

    def body(self, start: int, i: int) -> bool:
        """Whether it is a learned society, a guideline body or an authority that is often cited."""
        w = self.walk
        inside = any(low in GENERIC["bodies_first"] for low in w.lows[max(0, start - 1) : min(start + 2, i)])
        return inside and any(low in GENERIC["bodies_head"] for low in w.lows[start : i + 1])
