"""What the text around a date says about it: a visit, a birth, a plan, history, a range."""

from __future__ import annotations

import re

from incognote.operators.timeline import clause
from incognote_en.dates.holidays import holiday_cues

ADMISSION = re.compile(
    r"(?i)\b(?:admit(?:ted|s)?|admission(?:\s+date)?|date\s+of\s+(?:service|visit|admission|operation|surgery)|doa|dos|seen)"
    r"(?:\s+(?:to\s+[\w ]{1,16}\s+)?on)?[\s:.=]*\Z"
)
"""Matches text that ends directly before the date of an admission, a visit or an operation."""
_VISIT = re.compile(
    r"(?i)\b(?:(?:visit|encounter|service|note|clinic|exam|consult(?:ation)?|appointment|report|today['’]?s)\s+date|"
    r"date(?:\s+(?:seen|of\s+(?:note|encounter|consult(?:ation)?|exam(?:ination)?|procedure|report|dictation)))?|"
    r"dictated|today(?:\s+is)?|visit|encounter|clinic|ward\s+round|progress\s+note|note)(?:\s+on)?[\s:.,=|–-]*\Z"
)
_BIRTH = re.compile(
    r"(?i)(?:\bd\.?\s?o\.?\s?b\.?|\bborn(?:\s+(?:on|in))?|\bb\.|\bbirth\s?(?:date|day)?|\bdate\s+of\s+birth|\bbirthdate|"
    r"\*|\bnac(?:ido|ida|imiento)?\.?|\bgeb\.?)[\s:.=(,|–-]*\Z"
)
_FUTURE = re.compile(
    r"(?i)\b(?:next|planned|plans?|schedul\w*|follow[- ]?up|f/?u|returns?|returning|rtc|rtn|recheck\w*|re-?evaluat\w+|"
    r"appointments?|appt|booked|due|upcoming|expir\w+|will|to\s+be|see\s+(?:you|him|her|them|me)|back\s+on|again\s+on|"
    r"anticipated|expected|edd|edc|deadline|pending|going\s+to|goes|flies|flying|wants?|would\s+like|hopes?|intends?|"
    r"travel(?:s|ing)?|leav(?:es|ing)|arriv(?:es|ing)|departs?|departing|"
    r"(?:no|not|avoid|off|hold|leave)\b[^.;\n]{0,40}\b(?:till?|until|thru|through)|"
    r"repeat|please|ahead|tomorrow|review\s+(?:on|before|after)|starting|let['’]s|until\s+further)\b"
)
_PAST = re.compile(
    r"(?i)\b(?:since|last|previous(?:ly)?|prior|ago|history|h/o|began|begun|started|onset|diagnosed|dx|s/p|past|first)\b"
)
_DONE = re.compile(
    r"(?i)\b(?:was|were|had|(?:has|have)\s+been|died|passed|admitted|given|seen|underwent|resolved|received|stopped|"
    r"fell|came|went|showed|ran|developed|noted|presented|discharged|returned|transferred|took|called)\b"
)
_PLAN = re.compile(
    r"(?i)\s*(?:\W{0,3}\d{0,2}[.)]?\s*)?(?:plans?|follow[- ]?up|f/u|disposition|dispo|recommendations?|next|rtc|return|"
    r"to\s+do)\b"
)
_RANGE = re.compile(r"(?i)(?:st|nd|rd|th)?\s*(?:[-‐‑–—−/]|\b(?:to|through|thru|and|until|or)\b)\s*\d{1,2}(?!\d)")
_REACH = 90  # characters before a date that are read


_GERMAN = re.compile(r"\b(?:im|vom|zum|bis|seit|Anfang|Mitte|Ende)\s+\Z")  # before a month that English has, too


def cues(before: str, behind: str) -> frozenset[str]:
    """What the text around a date says about it (`DateReader.cues`)."""
    own = before[clause(before, len(before)) :]
    found = {
        name
        for name, said in (
            ("visit", ADMISSION.search(before) or _VISIT.search(before)),
            ("birth", _BIRTH.search(before)),
            ("range", _RANGE.match(behind)),
            ("german", _GERMAN.search(before)),
        )
        if said
    }
    future, past, done = (
        max((match.end() for match in said.finditer(own[-_REACH:])), default=-1) for said in (_FUTURE, _PAST, _DONE)
    )
    if future > max(past, done) or (max(future, past, done) < 0 and _PLAN.match(before[before.rfind("\n") + 1 :])):
        found.add("future")
    elif past >= 0:
        found.add("past")
    return frozenset((*found, *holiday_cues(before, behind)))
