"""The key of a draw, which identifies each item. It holds no text, but it is private: file names can name patients."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from incognote.errors import UsageError


class LeakMark(NamedTuple):
    """A span of an item (code points, `end` exclusive) and the type of identifier it is."""

    start: int
    end: int
    type: str


@dataclass(frozen=True, slots=True)
class SampledCase:
    """One document under review.

    Args:
        case: its name in reports.
        items: its name in each reviewer's set.
        file, position: its place in the outputs.
        masks: the number of labels such as `[PERSON]` in it.
        plant: the planted leak; None for a drawn document.
    """

    case: str
    items: tuple[str, ...]
    file: int
    position: int
    stratum: str
    characters: int
    masks: int
    plant: LeakMark | None


@dataclass(frozen=True, slots=True)
class ReviewerSet:
    """The set given to one reviewer: its name, and the hashes of its two files."""

    reviewer: int
    name: str
    items: str
    page: str


@dataclass(frozen=True, slots=True)
class Key:
    """A draw.

    Args:
        strata: per kind, (population, drawn).
        files: the outputs, each with its hash at the draw.
    """

    made: str
    bound: float
    confidence: float
    expect: int
    seed: int
    field: str | None
    strata: dict[str, tuple[int, int]]
    files: tuple[tuple[str, str], ...]
    cases: tuple[SampledCase, ...]
    sets: tuple[ReviewerSet, ...]

    @property
    def population(self) -> int:
        return sum(size for size, _ in self.strata.values())

    @property
    def drawn(self) -> tuple[SampledCase, ...]:
        """The documents that the rate is computed from."""
        return tuple(case for case in self.cases if case.plant is None)

    @property
    def planted(self) -> tuple[SampledCase, ...]:
        return tuple(case for case in self.cases if case.plant is not None)


def read_key(path: Path) -> Key:
    """Read the key of a draw.

    Raises:
        UsageError: the file does not exist or is not a key.
    """
    try:
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        told["cases"] = tuple(
            SampledCase(**{**c, "items": tuple(c["items"]), "plant": LeakMark(*c["plant"]) if c["plant"] else None})
            for c in told["cases"]
        )
        told["sets"] = tuple(ReviewerSet(**one) for one in told["sets"])
        told["files"] = tuple((name, found) for name, found in told["files"])
        told["strata"] = {name: (size, drawn) for name, (size, drawn) in told["strata"].items()}
        return Key(**told)
    except FileNotFoundError:
        raise UsageError("The key file of the draw was not found. Name it with --key.") from None
    except (OSError, ValueError, KeyError, TypeError):
        raise UsageError("--key is not the key file of a draw.") from None
