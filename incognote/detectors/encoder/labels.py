"""The label set: classes of the encoder, their BIO tags, and which catalogue types they stand for."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from incognote.detectors.rules.lexicon import titles
from incognote.errors import UnknownName
from incognote.schemas.catalogue import catalogue

BY_FORM = "EMAIL"
"""The class whose spans are named by their form."""
_ELSE = "USERNAME"


@dataclass(frozen=True, slots=True)
class _Table:
    classes: tuple[str, ...]
    ignored: frozenset[str]
    into: dict[str, str]
    forms: tuple[tuple[str, re.Pattern[str]], ...]
    titled: frozenset[str]
    titles: re.Pattern[str]
    never: dict[str, re.Pattern[str]]


@cache
def _table() -> _Table:
    read = tomllib.loads(files("incognote.detectors.encoder").joinpath("labels.toml").read_text(encoding="utf-8"))
    forms = tuple((row["type"], re.compile(row["pattern"])) for row in read["forms"])
    some = "|".join(sorted(titles(), key=len, reverse=True))
    before = re.compile(rf"(?:(?:{some})(?:\.[ \t]*|[ \t]+))+(?=\w)", re.IGNORECASE)
    return _Table(
        tuple(read["classes"]), frozenset(read["ignored"]), read["into"], forms, frozenset(read["titled"]), before,
        {class_: re.compile(pattern) for class_, pattern in read["never"].items()},
    )


def classes() -> tuple[str, ...]:
    """The classes, in the order of their tags."""
    return _table().classes


def class_of(type_: str) -> str | None:
    """The class a catalogue type belongs to; None for a type that is not annotated.

    Raises:
        UnknownName: neither the type nor an ancestor of it belongs to a class.
    """
    table = _table()
    for step in catalogue().lineage(type_):
        if step in table.ignored:
            return None
        if step in table.into:
            return table.into[step]
        if step in table.classes:
            return step
    raise UnknownName("class for the entity type", type_, table.classes)


def type_of(class_: str, words: str) -> str:
    """The catalogue type of a span of this class with these words."""
    if class_ != BY_FORM:
        return class_
    return next((name for name, form in _table().forms if form.match(words)), _ELSE)


def behind_title(class_: str, text: str, start: int, end: int) -> int:
    """Where a name of this class begins: behind its titles; `start` where nothing else stands there."""
    table = _table()
    found = table.titles.match(text, start, end) if class_ in table.titled else None
    return found.end() if found else start


def is_none(class_: str, words: str) -> bool:
    """Whether words are none of a class, whatever the model says."""
    pattern = _table().never.get(class_)
    return pattern is not None and pattern.match(words) is not None


def tags(names: tuple[str, ...]) -> tuple[str, ...]:
    """The BIO tags of some classes: O is 0, B of the i-th class 1 + 2i, I of it 2 + 2i."""
    return ("O", *(f"{part}-{name}" for name in names for part in "BI"))


def allowed(n_classes: int) -> NDArray[np.bool_]:
    """Which tag may follow which (from × to, both 1 + 2n): I of a class only after its own B or I."""
    n = 1 + 2 * n_classes
    legal = np.ones((n, n), bool)
    for i in range(n_classes):
        legal[:, 2 + 2 * i] = False
        legal[1 + 2 * i, 2 + 2 * i] = legal[2 + 2 * i, 2 + 2 * i] = True
    return legal
