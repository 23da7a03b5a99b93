"""What is known of organisations: heads, kinds that come first, brands, and words that tell nothing."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from incognote.detectors.rules.gazetteer import Gazetteer, Place, data, fold, listed, words
from incognote.detectors.rules.lexicon import BRAND, EPONYM, MEDICAL, PLACE, commonness, lexicon
from incognote.detectors.rules.ordinary import ordinary

FILE = "organizations.toml"
HEAD = words(FILE, "head")
FIRST = words(FILE, "first")
CUE = words(FILE, "cue")
GENERIC = words(FILE, "generic")
_CLINICAL = re.compile(r".+(?:olog(?:y|ic|ical|ist)|iatr(?:y|ic|ics|ist)|thoracic|(?:an)?esthesia|itis|oscop(?:y|ic)|ectomy|facial|pathy|therapy|metry|gram|graphy|plasty|emia|osis)s?\Z")
"""Words of medicine no list holds: Oromaxillofacial, Laryngology."""
SACRED = frozenset(("st", "saint", "ste", "sainte", "lady", "mercy", "holy", "sacred", "grace", "good", "san", "santa"))


class Head(NamedTuple):
    """What a head makes of the words before it; a weak one needs a cue or a word that is no ordinary one."""

    type: str
    strong: bool


@cache
def heads() -> dict[str, Head]:
    """Heads by folded word or phrase."""
    table: dict[str, Head] = {}
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
        table.update(dict.fromkeys(HEAD[key], Head(kind, strong)))
    for word in ("pharmacy", "apothecary", "laboratory", "laboratories", "labs", "diagnostics", "pharmacie", "chemists"):
        table[word] = Head(table[word].type, True)
    return table


@cache
def brands() -> Gazetteer:
    """Organisations known by name: need `a` stands alone, `n` takes a cue."""
    names: dict[str, Place] = {}
    sections = data(FILE)["brand"]
    for key, kind in (("bound", "ORGANIZATION"), ("organization", "ORGANIZATION"), ("hospital", "HOSPITAL"), ("lab", "DIAGNOSTIC_LABS"), ("pharmacy", "PHARMACY")):
        for name in listed(sections[key]):
            names[fold(name).replace(" & ", " ")] = Place(kind, "n" if key == "bound" else "a")
    for name in listed(sections["bound"]):
        folded = fold(name)
        names[folded] = Place(names[folded].type, "n")
    longest: dict[str, int] = {}
    for name in names:
        first = name.split(" ")[0]
        longest[first] = max(longest.get(first, 0), name.count(" ") + 1)
    return Gazetteer(names, longest)


def telling(low: str) -> bool:
    """The word says which institution: it is no type, specialty or very frequent word."""
    if low in SACRED or lexicon().get(low, 0) & PLACE:
        return True
    if low in GENERIC["words"] or _CLINICAL.match(low):
        return False
    entry = lexicon().get(low.replace("'", "").replace("-", ""), 0)
    return not entry & MEDICAL and commonness(entry) < 3


def fresh(low: str, word: str) -> bool:
    """The word is no ordinary one: it could only be a name."""
    if len(word) < 3 or (word.isupper() and len(word) < 5) or low in GENERIC["words"] or _CLINICAL.match(low):
        return False
    bare = low.removesuffix("'s")
    return bare not in ordinary() and bare.replace("-", "") not in ordinary() and not all(p in ordinary() for p in bare.split("-"))


def maker(low: str) -> bool:
    """A maker of drugs or devices, or an eponym."""
    return bool(lexicon().get(low, 0) & (BRAND | EPONYM))
