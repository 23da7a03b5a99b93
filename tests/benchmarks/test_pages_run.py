"""The shares of identifiers gone, words kept, and pages wholly clean."""

from __future__ import annotations

from incognote_benchmarks.pages.run import shares
from incognote_benchmarks.pages.score import Scored


def _page(*gone: bool) -> Scored:
    identifiers = [("PERSON", "print", each) for each in gone]
    return {"identifiers": identifiers, "kept": 3, "words": 4, "missed": [], "touched": any(gone)}


def test_a_page_without_identifiers_is_not_counted_as_clean() -> None:
    figures = shares([_page(True, True), _page(True, False), _page()])
    counts = {name: (rate["n"], rate["of"]) for name, rate in figures.items()}
    assert counts == {"all boxes gone": (3, 4), "other words kept": (9, 12), "pages wholly clean": (1, 2)}
