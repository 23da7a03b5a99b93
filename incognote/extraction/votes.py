"""Several answers about one chunk made one: agreement as score (CIPHER's ensembles of k annotators)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from incognote.schemas.catalogue import catalogue

Rule = Literal["union", "majority"]


@dataclass(frozen=True, slots=True, order=True)
class Stretch:
    """A typed stretch of a chunk, in its offsets."""

    start: int
    end: int
    type: str


def counted(answers: Sequence[Sequence[Stretch]], rule: Rule) -> dict[Stretch, float]:
    """Each distinct stretch with its score.

    A vote agrees with a stretch if it holds an overlapping one of the same evaluation group: two votes that draw a
    name's boundary differently agree that there is a name. Under `majority` the score is the share of votes that
    agree, so a threshold of 0.5 in the policy asks for half of them; under `union` half of it is added to 0.5: what
    one vote saw is found, and the score still says how many saw it.
    """
    scores: dict[Stretch, float] = {}
    for stretch in {s for answer in answers for s in answer}:
        share = sum(any(_agree(stretch, other) for other in answer) for answer in answers) / len(answers)
        scores[stretch] = share if rule == "majority" else 0.5 + share / 2
    return dict(sorted(scores.items()))


def _agree(one: Stretch, other: Stretch) -> bool:
    types = catalogue()
    same = one.type == other.type or types[one.type].group == types[other.type].group
    return same and one.start < other.end and other.start < one.end
