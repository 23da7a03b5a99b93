"""Finder of USERNAME: accounts after a cue such as `printed by`, and accounts by their form, such as `mbouchard2`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.detectors.rules.view import Candidate, View, among
from incognote.text.lexicon import KINDS, commonness, fold, lexicon, surname

_TYPE = "USERNAME"
_CUES = frozenset("by user usr op opr oper operator cashier clerk login tech reg".split())
_AFTER_CUE = re.compile(
    r"[ \t]*[:=#]?[ \t]*(?P<name>(?!e-?mail)[a-z](?:[a-z._-]{1,17}[a-z]|[a-z._-]{2,18}\d{1,4})"
    r"|[a-z]{2,4}/\d{2,4}|[A-Z]{2,12}\d{1,4}|[A-Z]{2,3}-[A-Z]{3,12})"
    r"(?![\w@/]|[.-]\w)"
)
_ALONE = re.compile(r"(?<![\w.@/'-])(?P<name>[a-z]{5,14}\d{1,3}|[a-z]\.[a-z]{5,14})(?![\w@/%]|[.-]\w)")
_ROLE = re.compile(
    r"(?<![\w.@/'-])(?:(?:RN|LPN|LVN|CNA|NUR|REG|ADM|PHARM|LAB|TECH)-[A-Z]{4,12}|(?:[Cc]lerk|CLERK|[Ss]can|SCAN|KIOSK|kiosk)"
    r"[-_]?\d{1,3})(?![\w@/%]|[.-]\w)"
)
_LETTERS = re.compile(r"[A-Za-z]+")
_SCORE, _ALONE_SCORE = 0.75, 0.6


def find(view: View) -> Iterator[Candidate]:
    """Yield candidates of type USERNAME."""
    text = view.text
    for i in among(view.lowers, _CUES):
        match = _AFTER_CUE.match(text, view.ends[i])
        if match and not _is_usual(match["name"]) and (view.lowers[i] != "by" or _is_made(match["name"])):
            yield Candidate(*match.span("name"), _TYPE, _SCORE, "usernames.cue")
    for match in _ROLE.finditer(text):
        yield Candidate(*match.span(), _TYPE, _ALONE_SCORE, "usernames.role")
    for match in _ALONE.finditer(text):
        name = match["name"]
        *_, last = _LETTERS.findall(name)
        if not _is_usual(name) and (name[-1].isdigit() or surname(lexicon().get(last, 0))):
            yield Candidate(*match.span("name"), _TYPE, _ALONE_SCORE, "usernames.alone")


def _is_made(name: str) -> bool:
    """Whether a name has signs besides letters, or is initials and a surname: `mbouchard`."""
    return not name.isalpha() or any(surname(lexicon().get(name[n:], 0)) for n in (1, 2) if len(name) > n + 3)


def _is_usual(name: str) -> bool:
    """Whether all letters of a name are usual or medical words."""
    found = [lexicon().get(fold(part), 0) for part in _LETTERS.findall(name)]
    usual = [bool(commonness(entry) or entry & KINDS) for entry in found]
    return usual[-1] if len(usual) > 1 and len(name) > 2 and name[1] == "." else all(usual)
