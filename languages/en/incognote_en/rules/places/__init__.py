"""Places: postal addresses, then towns, states, countries and named places outside them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.detectors.rules.view import Candidate, View
from incognote_en.rules.gazetteer import fold, gazetteer
from incognote_en.rules.places.addresses import Addresses
from incognote_en.rules.places.toponyms import Toponyms
from incognote_en.rules.walk import TokenWalk

_ROOTED = re.compile(r"-(?:born|based|bred|raised|trained|area)\b")
"""Tonga-born, Boston-based."""
_LAST_WORD = re.compile(r"[^\W\d_]{3,21}\Z")


def find(view: View) -> Iterator[Candidate]:
    """Candidates of the types ADDRESS, STREET, CITY, STATE, COUNTRY and LOCATION."""
    if not len(view):
        return
    walk = TokenWalk(view)
    taken = bytearray(walk.n)
    for start, end, kind, score in Addresses(walk).find():
        taken[start:end] = b"\1" * (end - start)
        yield Candidate(walk.starts[start], walk.ends[end - 1], kind, score, "places.address")
    for rooted in _ROOTED.finditer(view.text):
        word = _LAST_WORD.search(view.text[max(0, rooted.start() - 21) : rooted.start()])
        place = gazetteer().places.get(fold(word.group())) if word else None
        if word and place and word.group()[0].isupper():
            yield Candidate(rooted.start() - len(word.group()), rooted.start(), place.type, 0.6, "places.born")
    for place_name in Toponyms(walk, taken).find():
        yield walk.candidate(place_name)
