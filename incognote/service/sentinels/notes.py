"""Sentinel notes, each with its own identifiers, and how many of them were found."""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random, SystemRandom
from typing import Any

from incognote.errors import NotReleased
from incognote.evaluation.intervals import Figure, share
from incognote.languages import language
from incognote.nouns import Result
from incognote.plugins import installed
from incognote.schemas.policy import Policy

_SLOT = re.compile(r"\{(\w+):([A-Z_]+)\}")


@dataclass(frozen=True, slots=True)
class Sentinel:
    """A note, and the identifiers planted in it.

    Args:
        id: random, 16 hexadecimal digits.
        planted: (type, words), each once.
    """

    id: str
    text: str = field(repr=False)
    planted: tuple[tuple[str, str], ...] = field(repr=False)


def draw(count: int, chance: Random | None = None, languages: Iterable[str] = ("en",)) -> list[Sentinel]:
    """Draw a number of notes, each in one of the languages.

    Args:
        chance: the random generator for values and notes; None for the system's randomness.
        languages: ISO 639-1 codes. A language whose package has no sentinel notes is left out.
    """
    chance = chance or SystemRandom()
    told = [table for code in sorted(languages) if (table := _told(code))]
    return [_filled(chance.choice(told), chance) for _ in range(count)] if told else []


def _filled(told: Mapping[str, Any], chance: Random) -> Sentinel:
    note = chance.choice(told["notes"]).strip("\n") + "\n"
    values: dict[str, tuple[str, str]] = {}
    for name, kind in _SLOT.findall(note):
        if name not in values:
            values[name] = (kind, _value(told, kind, note, values, chance))
    text = _SLOT.sub(lambda slot: values[slot[1]][1], note)
    return Sentinel(secrets.token_hex(8), text, tuple(values.values()))


def _value(
    told: Mapping[str, Any], kind: str, note: str, taken: Mapping[str, tuple[str, str]], chance: Random
) -> str:
    """Return a value of a type that is unlike all values already in the note."""
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
        if value not in note and all(value not in other and other not in value for _, other in taken.values()):
            return value


@cache
def _told(code: str) -> Mapping[str, Any]:
    return language(code).table("sentinels.toml") if code in installed("incognote.languages") else {}


@dataclass(frozen=True, slots=True)
class SentinelScore:
    """The score of one batch's notes, or of several batches together.

    Args:
        notes: how many ran.
        failed: how many of them gave no output. They are in no other number.
        planted, found: identifiers that the policy replaces.
        leaked: those that were left in a note whose verdict was `release`. With a patient's note they would now be in
            the destination.
        missed: the number that was left, by type.
    """

    notes: int = 0
    failed: int = 0
    planted: int = 0
    found: int = 0
    leaked: int = 0
    missed: Mapping[str, int] = field(default_factory=dict)

    @property
    def recall(self) -> Figure:
        """The share found of those planted, with Wilson's interval.

        Values are drawn independently; notes share sentences.
        """
        return share(self.found, self.planted)

    def __add__(self, other: SentinelScore) -> SentinelScore:
        return SentinelScore(
            self.notes + other.notes,
            self.failed + other.failed,
            self.planted + other.planted,
            self.found + other.found,
            self.leaked + other.leaked,
            dict(Counter(self.missed) + Counter(other.missed)),
        )


def score(drawn: Iterable[Sentinel], results: Iterable[Result], policy: Policy) -> SentinelScore:
    """Compare notes with their results, in the same order.

    Types that the policy does not replace do not count.
    """
    total = SentinelScore()
    for sentinel, result in zip(drawn, results, strict=True):
        try:
            output = result.output(even_if_unreleased=True).casefold()
        except NotReleased:
            total += SentinelScore(notes=1, failed=1)
            continue
        counted = [(kind, words) for kind, words in sentinel.planted if policy.replaces(kind)]
        missed = Counter(kind for kind, words in counted if words.casefold() in output)
        left = missed.total()
        total += SentinelScore(1, 0, len(counted), len(counted) - left, left if result.verdict.released else 0, missed)
    return total
