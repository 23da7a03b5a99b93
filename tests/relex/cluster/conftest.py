"""Notes with marked mentions, and the results of clustering them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from incognote.nouns import Span, Text
from incognote.relex.cluster import cluster, variant
from incognote.relex.nouns import MentionVariant

_MARK = re.compile(r"\[([A-Z_]+) ([^\]]+)\]")
Group = Callable[..., list[set[str]]]


def _marked(note: str, record: str = "r1", patient: str = "p1") -> list[MentionVariant]:
    """Return the variants of a note with mentions as `[TYPE words]`."""
    text, places, done = "", [], 0
    for match in _MARK.finditer(note):
        text += note[done : match.start()]
        places.append((len(text), len(text) + len(match[2]), match[1]))
        text += match[2]
        done = match.end()
    source = Text(text + note[done:])
    return [
        variant(Span(source, start, end, kind), record=record, patient=patient, domain="d")
        for start, end, kind in places
    ]


def _words(variants: Iterable[MentionVariant]) -> list[set[str]]:
    """Return the words of each identity, as sorted sets."""
    return sorted(({v.words for v in one.variants} for one in cluster(variants)), key=sorted)


@pytest.fixture(scope="session")
def together() -> Group:
    """The identities of notes, as sets of words. Each note is a record of p1, or of the patient in (patient, note)."""

    def group(*notes: str | tuple[str, str]) -> list[set[str]]:
        found: list[MentionVariant] = []
        for at, note in enumerate(notes, 1):
            patient, text = note if isinstance(note, tuple) else ("p1", note)
            found.extend(_marked(text, f"r{at}", patient))
        return _words(found)

    return group


@pytest.fixture(scope="session")
def marked() -> Callable[..., list[MentionVariant]]:
    """The variants of a note with marked mentions: (note, record, patient)."""
    return _marked


@pytest.fixture(scope="session")
def longitudinal() -> dict[MentionVariant, str]:
    """The mentions of the longitudinal notes, with their gold identities."""
    return _gold("notes.jsonl")


@pytest.fixture(scope="session", params=["blind.jsonl", "blind2.jsonl", "blind3.jsonl"])
def another_author(request: pytest.FixtureRequest) -> dict[MentionVariant, str]:
    """The same for the notes by three other authors. For the last author, only totals may be inspected."""
    return _gold(request.param)


def _gold(name: str) -> dict[MentionVariant, str]:
    gold: dict[MentionVariant, str] = {}
    notes = Path(__file__).parents[2] / "data" / "longitudinal" / name
    for line in notes.read_text(encoding="utf-8").splitlines():
        note = json.loads(line)
        text = Text(note["text"])
        for s in note["spans"]:
            span = Span(text, s["start"], s["end"], s["type"])
            gold[variant(span, record=note["id"], patient=note["patient"], domain="gold")] = s["identity"]
    return gold
