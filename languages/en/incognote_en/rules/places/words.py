"""Words and patterns of postal addresses, and words around the names of places."""

from __future__ import annotations

import re
from typing import NamedTuple

from incognote_en.rules.gazetteer import words

STREET = words("places.toml", "street")
PART = words("places.toml", "part")
ADDRESS = words("places.toml", "address")
SUFFIX = STREET["firm"] | STREET["soft"]
BEHIND = (ADDRESS["sides"], ADDRESS["sides"] | ADDRESS["clause"])
"""The possible words after a suffix that is also an ordinary word, and after one that is clear."""
CLOSES = frozenset('.,;:|^)]}/*"”-–—&(·>')
YEAR = re.compile(r"(?:19|20)\d\d\Z")

_INWARD = "ABD-HJLNP-UW-Z"  # British inward codes never contain C I K M O V, so "B12 5MG" does not match
POSTCODE = re.compile(
    rf"[A-Z](?<=\b.)(?=[A-Z]?\d)(?:(?<=[A-PR-UWYZ])[A-Z]?\d[A-Z\d]? ?\d[{_INWARD}]{{2}}"
    r"|(?<=[ABCEGHJ-NPRSTVXY])(?!(?<=T)\dN|(?<=S)1Q3)\d[A-Z] ?\d[A-Z]\d"
    r"|(?<=[AC-FHKNPRTV-Y])\d[\dW] (?=[A-Z]*\d)(?=\d*[A-Z])[A-Z\d]{4})\b"
)
"""Codes with letters: Britain, Canada, Ireland (Eircode). `re` skips to the capital with which each begins."""
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


class AddressPart(NamedTuple):
    """One part of an address over tokens start:end.

    `kind` is street, loose, unit, box, code, place, state, before, building or title.
    """

    start: int
    end: int
    kind: str


CUE = words("places.toml", "cue")
TERM = PART["term"]
SOMEWHERE = words("places.toml", "person")["somewhere"]
NATURAL = words("places.toml", "natural")
BESIDE = words("places.toml", "person")["beside"]
CREDENTIAL_CODES = frozenset("MD PA MA DO ND OR IN ME OK HI ID CT MS AL LA DE SC PR CO CA".split())
ROMAN = re.compile(r"[IVX]{1,4}\Z")
TOPONYM = words("places.toml", "toponym")
BETWEEN = frozenset(",–—-→>/+&(;") | {"and", "or", "then", "via"}
VERBS_BACK = 5
MEDICAL_TOWNS = NATURAL["medical_towns"]
