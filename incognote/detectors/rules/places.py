"""Places: postal addresses, then towns, states, countries and named places outside them."""

from __future__ import annotations

from collections.abc import Iterator

from incognote.detectors.rules.addresses import Addresses
from incognote.detectors.rules.view import Candidate, View
from incognote.detectors.rules.walk import Walk


def find(view: View) -> Iterator[Candidate]:
    """Candidates of the types ADDRESS, STREET, CITY, STATE, COUNTRY, ZIP, LOCATION and ROOM."""
    walk = Walk(view)
    for start, end, kind, score in Addresses(walk).find():
        yield Candidate(walk.starts[start], walk.ends[end - 1], kind, score, "places.address")
