"""Plugins of installed packages, found by entry point.

They add detectors, operators, embedders, stores, models, languages and commands. Nothing is imported until it is
requested by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, distributions
from typing import Any, Literal

from incognote.errors import SettingError

Group = Literal[
    "incognote.commands",  # a Typer app
    "incognote.corpus_formats",  # an incognote.evaluation.formats.base.CorpusFormat
    "incognote.detectors",  # a callable without arguments -> incognote.detectors.Detector
    "incognote.embedders",  # a callable with the part of the name after the colon -> incognote.embedding.base.Embedder
    "incognote.formats",  # an incognote.formats.base.Format
    "incognote.index_stores",  # awaited: address, Meta for a new index or None, password -> ….index.base.IndexStore
    "incognote.languages",  # a package with the files of a language
    "incognote.models",  # ModelSpec (incognote.llm.opening), Egress -> incognote.llm.base.LanguageModel
    "incognote.operators",  # a class: incognote.operators.base.Operator
]


@cache
def _every() -> tuple[EntryPoint, ...]:
    """Return all entry points of the environment. They are read in one scan of its packages, since a scan is slow."""
    return tuple(point for package in distributions() for point in package.entry_points)


@cache
def installed(group: Group) -> Mapping[str, EntryPoint]:
    """Return the entry points of a group by name, sorted.

    If two packages use the same name, the first installed wins.
    """
    found: dict[str, EntryPoint] = {}
    for point in _every():
        if point.group == group:
            found.setdefault(point.name, point)
    return dict(sorted(found.items()))


def load(group: Group, name: str) -> Any:
    """Load the object that an entry point names.

    Raises:
        KeyError: no installed package has an entry point with that name.
        SettingError: it cannot be imported.
    """
    point = installed(group)[name]
    try:
        return point.load()
    except Exception as error:
        raise SettingError(f"{group}: {name} cannot be loaded: {type(error).__name__} in {point.module}") from None
