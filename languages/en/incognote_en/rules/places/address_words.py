"""Words and forms of the parts of postal addresses."""

from __future__ import annotations

import re
from typing import NamedTuple

from incognote_en.rules.gazetteer import words

STREET = words("places.toml", "street")
PART = words("places.toml", "part")
SUFFIX = STREET["firm"] | STREET["soft"]
LINKS = frozenset(
    "of the de la las los el del della di da do dos das du des le les und and van von y e & upon al bin ki ka".split()
)
SIDES = frozenset(
    "n s e w ne nw se sw north south east west northeast northwest southeast southwest eb wb nb sb".split()
)
_CLAUSE = frozenset(
    "and or but in on at near off by with for from since until after before where which that who when while because is "
    "was has had today yesterday tonight now last this next as to".split()
)
BEHIND = (SIDES, SIDES | _CLAUSE)
"""What may stand behind a suffix that can be a word of its own, and behind one that is clear."""
ORDINALS = frozenset("st nd rd th".split())
PLAIN = frozenset(
    "the a an and or of in on at to from for with block blocks down up across over by near off per his her "
    "my their our this that is was"
    "day days week weeks month months year years hour hours time times min minutes mg ml mile miles step "
    "steps more other away".split()
)
UNITS = frozenset("apt apartment flat unit suite ste room rm floor level blk lot plot shop house no door".split())
CLOSES = frozenset('.,;:|^)]}/*"”-–—&(·>')
YEAR = re.compile(r"(?:19|20)\d\d\Z")

_INWARD = "ABD-HJLNP-UW-Z"  # British inward codes never hold C I K M O V, so no "B12 5MG"
POSTCODE = re.compile(
    rf"[A-Z](?<=\b.)(?=[A-Z]?\d)(?:(?<=[A-PR-UWYZ])[A-Z]?\d[A-Z\d]? ?\d[{_INWARD}]{{2}}"
    r"|(?<=[ABCEGHJ-NPRSTVXY])(?!(?<=T)\dN|(?<=S)1Q3)\d[A-Z] ?\d[A-Z]\d"
    r"|(?<=[AC-FHKNPRTV-Y])\d[\dW] (?=[A-Z]*\d)(?=\d*[A-Z])[A-Z\d]{4})\b"
)
"""Codes that hold letters: Britain, Canada, Ireland (Eircode). `re` skips to the capital that every one begins with."""
ZIP = re.compile(
    POSTCODE.pattern
    + r"|\d{5}-\d{4}\b|\d{5}-\d{3}\b|\d{5}(?![\w-])|\d{6}\b|\d{3} \d{3}\b|\d{4} ?[A-Z]{2}\b|\d{4}-\d{3}\b|\d{3}-\d{4}\b"
    + r"|\d{2}-\d{3}\b|\d{3} \d{2}\b|\d{4}(?![\w-])|S\(\d{6}\)|[A-Z]{2}-\d{3,4}-\d{4}\b|[A-Z]{1,2}-\d{4,5}\b"
)
FLOOR = re.compile(
    r"(?:\d{1,2}(?:st|nd|rd|th)|ground|first|second|third|fourth|fifth|top|upper|lower) (?:floor|fl|flr)\b"
    r"|(?:g|\d{1,2})/f\b",
    re.I,
)
HOUSE_NO = re.compile(
    r"(?:H|D|Door|House|Flat|Plot|Shop|Qtr|Quarter|Kh|Khasra)\b\.? ?(?:No|Nos|#)\b\.? ?:? ?(?=[\dA-Z])"
)
BOX = re.compile(
    r"\b(?:(?:G\.? ?)?P\.? ?O\.? ?(?:Box|B\.?)|Post(?:al| Office)? Box|Unit \d{1,5},? Box|Box|"
    r"Private (?:Mail )?Bag|Locked Bag|Postfach|Apartado(?: Postal)?|"
    r"Caixa Postal|Casilla|B\.?P\.?|DX|RR(?! ?\d\d?[,;/ ]{1,2}(?:HR|P|BP|T|Temp|SpO2?|SaO2?|O2|sats?|GCS|pulse|RA)\b)|"
    r"R\.R\.|RD|HC|PSC|CMR|Rural Route|Poste Restante)\.? ?"
    r"(?:#|No\.? ?)?[A-Z]?-?\d{1,6}\b(?:-\d{5}\b)?(?:,? (?:Box|Bag) [A-Z]?\d+)?",
    re.I,
)


class Part(NamedTuple):
    """One part of an address over tokens start:end; `kind` is street, loose, unit, box, code, place, state, before,
    building or title."""

    start: int
    end: int
    kind: str
