"""The lists and families: text files next to this module, whose entries are templates of `grammar.py`.

A list file has heads `= name` or `= name @TYPE`. With a type, everything that an entry makes is one span of that type.
Below the head is one entry per line, and `3> entry` counts three times. A family file has heads
`=== id | style | options`, each with a template below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate

from incognote.errors import UsageError
from incognote.schemas.catalogue import catalogue
from incognote_training.corpus.grammar import Template, parse

_HEAD = re.compile(r"= (\S+)(?: @([A-Z_]+))?")
_FAMILY = re.compile(r"=== ([a-z0-9-]+) \| ([^|\n]+?) ?(?:\|([^|\n]*))?")
_WEIGHT = re.compile(r"(\d+)> ")


@dataclass(frozen=True, slots=True)
class Entries:
    """A list: its templates, their cumulative weights, and the type of what they make."""

    templates: tuple[Template, ...]
    weights: tuple[int, ...]
    type: str | None


@dataclass(frozen=True, slots=True)
class Family:
    """One kind of document.

    Attributes:
        options: words that restrict the scene (`scene.py`): child, infant, adult, elder, fertile, F, M; `clean` for no
            PHI at all, `single` for one that is never combined with others in a chart.
        weight: its relative frequency.
    """

    id: str
    style: str
    options: frozenset[str]
    weight: float
    template: Template


def _texts(folder: str) -> Iterator[tuple[str, str]]:
    for entry in sorted(files(__package__).joinpath(folder).iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(".txt"):
            yield entry.name, entry.read_text(encoding="utf-8")


@cache
def lists() -> dict[str, Entries]:
    """Every list by its name.

    Raises:
        UsageError: a file is malformed.
    """
    made: dict[str, Entries] = {}
    for file, text in _texts("lists"):
        name, kind = "", None
        rows: list[tuple[int, Template]] = []
        for number, line in enumerate((*text.splitlines(), "= end"), 1):
            if (head := _HEAD.fullmatch(line)) is not None:
                if name:
                    made[name] = _entries(rows, kind, f"{file}: list {name}", made.get(name))
                name, kind, rows = head[1], head[2], []
            elif line.strip() and not line.startswith("# "):
                weight = _WEIGHT.match(line)
                entry = line[weight.end() :] if weight else line
                rows.append((int(weight[1]) if weight else 1, parse(entry, f"{file} line {number}")))
    return made


def _entries(rows: list[tuple[int, Template]], kind: str | None, where: str, before: Entries | None) -> Entries:
    if not rows or before is not None:
        raise UsageError(f"{where} is empty or occurs twice: give it entries under one head")
    if kind is not None and kind not in catalogue():
        raise UsageError(f"{where}: the catalogue has no type {kind}")
    return Entries(tuple(t for _, t in rows), tuple(accumulate(w for w, _ in rows)), kind)


@cache
def families() -> tuple[Family, ...]:
    """Every family, in order of file and place.

    Raises:
        UsageError: a file is malformed, or an id occurs twice.
    """
    made: list[Family] = []
    for file, text in _texts("families"):
        for block in re.split(r"(?m)^(?==== )", text):
            if not block.startswith("=== "):
                continue
            first, _, body = block.partition("\n")
            head = _FAMILY.fullmatch(first)
            if head is None:
                raise UsageError(f"{file}: a malformed head: write `=== id | style | options`")
            options = (head[3] or "").split()
            weight = next((float(word[2:]) for word in options if word.startswith("w=")), 1.0)
            made.append(
                Family(head[1], head[2], frozenset(options), weight, parse(body.strip("\n"), f"{file} {head[1]}"))
            )
    if len({family.id for family in made}) < len(made):
        raise UsageError("two families have the same id: rename one")
    return tuple(made)
