"""Places: postal addresses, then towns, states, countries and named places outside them."""

from __future__ import annotations

from collections.abc import Iterator

from incognote.detectors.rules.addresses import Addresses
from incognote.detectors.rules.toponyms import Toponyms
from incognote.detectors.rules.view import Candidate, View
from incognote.detectors.rules.walk import Walk


def find(view: View) -> Iterator[Candidate]:
    """Candidates of the types ADDRESS, STREET, CITY, STATE, COUNTRY and LOCATION."""
    if not len(view):
        return
    walk = Walk(view)
    taken = [False] * walk.n
    for start, end, kind, score in Addresses(walk).find():
        taken[start:end] = [True] * (end - start)
        yield Candidate(walk.starts[start], walk.ends[end - 1], kind, score, "places.address")
    for found in Toponyms(walk, taken).find():
        yield Candidate(walk.starts[found.start], walk.ends[found.end - 1], found.type, found.score, found.rule)
