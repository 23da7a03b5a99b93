"""What the cells of one corpus are called where there is little room: by what tells them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from incognote.evaluation.experiments.results import Head


class Axes(NamedTuple):
    """How a cell was run; the last six are None where no model was asked."""

    system: str
    model: str | None = None
    prompt: str | None = None
    chunk_words: int | None = None
    passes: int | None = None
    votes: int | None = None
    seed: int | None = None

    @property
    def line(self) -> tuple[Any, ...]:
        """All but the passes: cells on one line of a curve over passes."""
        return (*self[:4], *self[5:])


def axes(head: Head) -> Axes:
    """Read from a cell's facts and label (`cell.Cell.label`)."""
    rest = head.label.removeprefix(f"{head.corpus['name']}:")
    model = head.facts.get("model")
    if model is None:
        return Axes(rest)
    system, _, asking = rest.partition(f":{model}:")
    asked: Mapping[str, Any] = head.facts["asking"]
    prompt = asking.rsplit(":", 4)[0]
    return Axes(system, model, prompt, asked["chunk_words"], asked["passes"], asked["votes"], head.facts["seed"])


def short(heads: Sequence[Head]) -> list[str]:
    """A name for each: its system, and of how it asks what is not the same for all; told apart by key if need be."""
    every = [axes(head) for head in heads]
    asking = [each for each in every if each.model is not None]
    varying = [i for i in range(1, 7) if len({each[i] for each in asking}) > 1]
    names = [" · ".join([each.system, *(_said(i, each[i]) for i in varying if each[i] is not None)]) for each in every]
    times = Counter(names)
    return [f"{name} ({head.key[:6]})" if times[name] > 1 else name for name, head in zip(names, heads, strict=True)]


def _said(axis: int, value: Any) -> str:
    if axis == 1:
        return str(value).rpartition("/")[2]
    if axis == 2:
        return str(value)
    noun = {3: "words", 4: "pass", 5: "vote", 6: "seed"}[axis]
    if axis == 6:
        return f"{noun} {value}"
    plural = {"pass": "passes", "vote": "votes"}.get(noun, noun)
    return f"{value} {noun if value == 1 else plural}"
