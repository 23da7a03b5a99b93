"""Sentinel notes, each with identifiers of its own."""

from __future__ import annotations

import re
import secrets
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from random import Random, SystemRandom
from typing import Any

_SLOT = re.compile(r"\{(\w+):([A-Z_]+)\}")


@dataclass(frozen=True, slots=True)
class Sentinel:
    """A note, and what is planted in it.

    Args:
        id: random, 16 hexadecimal digits.
        planted: (type, words), each once.
    """

    id: str
    text: str = field(repr=False)
    planted: tuple[tuple[str, str], ...] = field(repr=False)


def draw(count: int, chance: Random | None = None) -> list[Sentinel]:
    """So many notes.

    Args:
        chance: what values and notes are drawn with; None for the system's randomness.
    """
    chance = chance or SystemRandom()
    return [_filled(chance.choice(_told()["notes"]).strip("\n") + "\n", chance) for _ in range(count)]


def _filled(note: str, chance: Random) -> Sentinel:
    values: dict[str, tuple[str, str]] = {}
    for name, kind in _SLOT.findall(note):
        if name not in values:
            values[name] = (kind, _value(kind, note, values, chance))
    text = _SLOT.sub(lambda slot: values[slot[1]][1], note)
    return Sentinel(secrets.token_hex(8), text, tuple(values.values()))


def _value(kind: str, note: str, taken: Mapping[str, tuple[str, str]], chance: Random) -> str:
    """A value of a type, unlike all that stand in the note already."""
    told = _told()
    while True:
        value: str = chance.choice(told["forms"][kind]).format(
            given=chance.choice(told["given"]["values"]),
            family=chance.choice(told["family"]["values"]),
            road=chance.choice(told["road"]["values"]),
            kind=chance.choice(told["kind"]["values"]),
            hundred=chance.randint(201, 989),
            hundred2=chance.randint(101, 989),
            ten=chance.randint(10, 49),
            ten2=chance.randint(50, 99),
            month=f"{chance.randint(1, 12):02}",
            day=f"{chance.randint(13, 28):02}",
            year=chance.randint(2015, 2025),
        )
        if value not in note and all(value not in other for _, other in taken.values()):
            return value


@cache
def _told() -> dict[str, Any]:
    return tomllib.loads(files("incognote.service.sentinels").joinpath("notes.toml").read_text(encoding="utf-8"))
