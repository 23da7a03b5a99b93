"""The label sets of the Arabic paper (section 3), by our types: `generic`, `granular`, and `all`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

LabelSet = Literal["generic", "granular", "all"]


@cache
def types(name: LabelSet) -> Mapping[str, tuple[str, ...]]:
    """Return the labels of a set, in the file's order, each with our types. A label that we never mark has none."""
    file = tomllib.loads(files(__package__).joinpath("label_sets.toml").read_text(encoding="utf-8"))
    ours: dict[str, list[str]] = file["all"]
    if name == "all":
        return {label: tuple(kinds) for label, kinds in ours.items()}
    return {label: tuple(kind for part in parts for kind in ours[part]) for label, parts in file[name].items()}


def label(kind: str, name: LabelSet) -> str | None:
    """Return the label of one of our types in a set, or None if the set does not score the type."""
    return next((label for label, kinds in types(name).items() if kind in kinds), None)


def unmarked(name: LabelSet) -> tuple[str, ...]:
    """Return the labels of a set that have no type of ours. Leave them out of a mean over labels."""
    return tuple(label for label, kinds in types(name).items() if not kinds)
