"""What is known of organisations: heads, kinds that come first, brands, and words that tell nothing."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from incognote.detectors.rules.lexicon import BRAND, EPONYM, MEDICAL, PLACE, commonness, lexicon
from incognote_en.rules.gazetteer import Gazetteer, Place, data, fold, listed, words
from incognote_en.rules.ordinary import ordinary

FILE = "organizations.toml"
HEAD = words(FILE, "head")
FIRST = words(FILE, "first")
CUE = words(FILE, "cue")
GENERIC = words(FILE, "generic")
ACRONYM = words(FILE, "acronym")
_CLINICAL = re.compile(
    r".+(?:olog(?:y|ic|ical|ist)|iatr(?:y|ic|ics|ist)|thoracic|(?:an)?esthesia|itis|oscop(?:y|ic)|ectomy|facial|pathy|therapy|metry|gram|graphy|plasty|emia|osis)s?\Z"
)
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
    for word in (
        "pharmacy",
        "apothecary",
        "laboratory",
        "laboratories",
        "labs",
        "diagnostics",
        "pharmacie",
        "chemists",
    ):
        table[word] = Head(table[word].type, True)
    return table


@cache
def brands() -> Gazetteer:
    """Organisations known by name: need `a` stands alone, `n` takes a cue."""
    names: dict[str, Place] = {}
    sections = data(FILE)["brand"]
    for key, kind in (
        ("bound", "ORGANIZATION"),
        ("organization", "ORGANIZATION"),
        ("hospital", "HOSPITAL"),
        ("lab", "DIAGNOSTIC_LABS"),
        ("pharmacy", "PHARMACY"),
    ):
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
    return (
        bare not in ordinary()
        and bare.replace("-", "") not in ordinary()
        and not all(p in ordinary() for p in bare.split("-"))
    )


def maker(low: str) -> bool:
    """A maker of drugs or devices, or an eponym."""
    return bool(lexicon().get(low, 0) & (BRAND | EPONYM))


AT = frozenset(("at", "from", "to", "into", "via", "by", "with", "for", "in", "near", "outside"))
LINKS = frozenset("of and the de la le les du des del da do dos der das und y et for ki al & e".split())
STOPS = frozenset(
    "at from to into via by with in near outside on as is was are were per through than if when who which".split()
)
SUFFIXES = frozenset("inc llc ltd llp pc pa plc gmbh pllc corp co pty".split())
MORE = frozenset(
    "system systems network group clinics clinic center centre associates campus foundation trust hospital "
    "hospitals school unit services".split()
)
LOWER_NAMES = frozenset(
    "st saint mount holy our lady of lutheran baptist methodist catholic presbyterian regional memorial "
    "community general county".split()
)
DOERS = ("ier", "ist", "eer", "ant", "ian", "man", "ter", "yer", "per", "ver", "ler", "ger", "tor", "sor")
JOINS = frozenset("left owns joined attends attended".split())
SIDES = frozenset("north south east west central downtown main".split())
NONE = frozenset(
    "none n/a na unknown self same yes no denies declined medicare medicaid retired unemployed student "
    "disabled cash private commercial other see".split()
)
FEASTS = frozenset("day eve weekend week parade wort fire dance cross".split())
CUE_BACK = 6


LABELS = {
    **dict.fromkeys(CUE["label_organization"], "ORGANIZATION"),
    **dict.fromkeys(CUE["label_hospital"], "HOSPITAL"),
    **dict.fromkeys(CUE["label_pharmacy"], "PHARMACY"),
    **dict.fromkeys(CUE["label_lab"], "DIAGNOSTIC_LABS"),
}
CUE_WORDS = frozenset(("at", "for", "with", "by", "from", "to", "into"))
FIRST_WORDS = FIRST["hospital"] | FIRST["organization"] | FIRST["pharmacy"] | FIRST["of"]
HEAD_ENDS = frozenset(head.rsplit(" ", 1)[-1] for head in heads())
SURNAMES = frozenset(
    "ward house hall lane mills church temple chapel parish court mill farm garage station best shop prison "
    "bus grange royal drug chemist college".split()
)
BARE = frozenset("surgery house court lodge home hall path rooms general medicine health reference".split())
