"""Places: postal addresses, then towns, states, countries and named places outside them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incognote.detectors.rules.addresses import Addresses
from incognote.detectors.rules.gazetteer import fold, gazetteer
from incognote.detectors.rules.toponyms import Toponyms
from incognote.detectors.rules.view import Candidate, View
from incognote.detectors.rules.walk import Walk

_ROOTED = re.compile(r"\b(?P<place>[^\W\d_][^\W\d_]{2,20})-(?:born|based|bred|raised|trained|area)\b")
"""Tonga-born, Boston-based."""


def find(view: View) -> Iterator[Candidate]:
    """Candidates of the types ADDRESS, STREET, CITY, STATE, COUNTRY and LOCATION."""
    if not len(view):
        return
    walk = Walk(view)
    taken = [False] * walk.n
    for start, end, kind, score in Addresses(walk).find():
        taken[start:end] = [True] * (end - start)
        yield Candidate(walk.starts[start], walk.ends[end - 1], kind, score, "places.address")
    for match in _ROOTED.finditer(view.text):
        place = gazetteer().places.get(fold(match["place"]))
        if place is not None:
            yield Candidate(match.start("place"), match.end("place"), place.type, 0.6, "places.born")
    for found in Toponyms(walk, taken).find():
        yield Candidate(walk.starts[found.start], walk.ends[found.end - 1], found.type, found.score, found.rule)
