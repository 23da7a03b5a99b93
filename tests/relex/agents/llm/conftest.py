"""Notes with marked mentions, and a model that groups them as a test specifies."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping

import pytest

from incognote.llm.base import Request
from incognote.nouns import Span, Text
from incognote.relex.agents.base import RelexNote
from incognote.relex.cluster import group_of, variant
from incognote.testing.trouble import text_of

_MARK = re.compile(r"\[([A-Z_]+) ([^\]]+)\]")
_LINE = re.compile(r"^(\d+) (\(known\) )?([A-Z_/]+): (.+)$", re.MULTILINE)


def _note(marked: str, record: str = "r1", patient: str = "p1") -> RelexNote:
    text, places, done = "", [], 0
    for match in _MARK.finditer(marked):
        text += marked[done : match.start()]
        places.append((len(text), len(text) + len(match[2]), match[1]))
        text += match[2]
        done = match.end()
    source = Text(text + marked[done:])
    found = (
        variant(Span(source, start, end, kind), record=record, patient=patient, domain="d")
        for start, end, kind in places
    )
    return RelexNote(record, patient, "d", {"": source.content}, tuple(sorted(found)))


def _listed(request: Request) -> dict[int, tuple[str, str]]:
    """Number → type and words, as a clustering request lists them."""
    return {int(m[1]): (m[3], m[4]) for m in _LINE.finditer(text_of(request).split("\n\nNote 1")[0])}


def _grouping(*together: Iterable[str]) -> Callable[[Request], str]:
    """Answer with one group of the mentions whose words are in a set, and each other mention alone."""

    def answer(request: Request) -> str:
        groups: dict[tuple[str, object], list[int]] = {}
        for number, (kind, words) in _listed(request).items():
            shown = {word.strip() for word in words.split(";")}
            home = next((at for at, some in enumerate(together) if shown & set(some)), None)
            groups.setdefault((group_of(kind.split("/")[0]), number if home is None else f"g{home}"), []).append(number)
        said: dict[str, dict[str, list[int]]] = {}
        for (heading, _), numbers in groups.items():
            block = said.setdefault(heading, {})
            block[f"{heading}_{len(block) + 1}"] = numbers
        return json.dumps(said)

    return answer


@pytest.fixture
def note() -> Callable[..., RelexNote]:
    """A note with mentions as `[TYPE words]`: (marked, record, patient)."""
    return _note


@pytest.fixture
def grouping() -> Callable[..., Callable[[Request], str]]:
    """A clustering model's reply: which words go together."""
    return _grouping


@pytest.fixture
def listed() -> Callable[[Request], Mapping[int, tuple[str, str]]]:
    """The list in a clustering request: number → type and words."""
    return _listed
