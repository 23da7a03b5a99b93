"""Planted leaks: documents with one made-up identifier in them, by which it is told what reviewers overlook.

They are copies of released documents that were not drawn, and never count in the rate.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

_LABEL = re.compile(r"\[([A-Z][A-Z0-9_]*)\]")
_TRIES = 50


@dataclass(frozen=True, slots=True)
class Planted:
    """A document's text with the identifier in it, and where that stands (code points, `end` exclusive)."""

    text: str = field(repr=False)
    start: int
    end: int
    type: str


def plant(text: str, chance: Random) -> Planted:
    """Put one identifier that is not in the text into it: where a mask of its kind stands, else as a sentence.

    In the place of a mask its surroundings are those of a real miss; a text without masks gets a short
    sentence of its own at the end of one of its lines.
    """
    kinds = _kinds()
    masks = [(m, group) for m in _LABEL.finditer(text) for group, kind in kinds.items() if m[1] in kind["masks"]]
    mask, group = chance.choice(masks) if masks else (None, chance.choice(sorted(kinds)))
    value = _value(kinds[group], text, chance)
    if mask is not None:
        start, end = mask.span()
        return Planted(text[:start] + value + text[end:], start, start + len(value), group)
    ends = [m.start() for m in re.finditer(r"(?<=\S)[ \t]*(?=\r?\n|\Z)", text)] or [len(text)]
    at = chance.choice(ends)
    before, after = kinds[group]["carrier"].split("{value}")
    head = text[:at] + (" " if at and not text[at - 1].isspace() else "") + before
    return Planted(head + value + after + text[at:], len(head), len(head) + len(value), group)


def masks(text: str) -> int:
    """How many labels such as `[PERSON]` stand in a text."""
    return len(_LABEL.findall(text))


def _value(kind: dict[str, Any], text: str, chance: Random) -> str:
    value = ""
    for _ in range(_TRIES):
        digits = {f"d{n}": f"{chance.randrange(10 ** (n - 1), 10**n)}" for n in (2, 3)}
        value = chance.choice(kind["forms"]).format(
            first=chance.choice(_kinds()["PERSON"]["first"]),
            last=chance.choice(_kinds()["PERSON"]["last"]),
            place=chance.choice(_kinds()["LOCATION"]["places"]),
            month=f"{chance.randint(1, 12):02}",
            day=f"{chance.randint(1, 28):02}",
            year=chance.randint(1935, 2024),
            **digits,
        )
        if value not in text:
            break
    return value


@cache
def _kinds() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files("incognote.evaluation.sampling").joinpath("plants.toml").read_text(encoding="utf-8"))
