"""What installed packages add, by entry point: detectors, operators, embedders, stores, models, languages, commands.

Nothing is imported before it is asked for by its name.
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
    "incognote.embedders",  # a callable: what stands behind the colon of the name -> incognote.embedding.base.Embedder
    "incognote.formats",  # an incognote.formats.base.Format
    "incognote.index_stores",  # awaited: address, a Meta to make it with or None, password -> ….index.base.IndexStore
    "incognote.languages",  # a package with the files of a language
    "incognote.models",  # a callable: an incognote.llm.opening.ModelSpec, an Egress -> incognote.llm.base.LanguageModel
    "incognote.operators",  # a class: incognote.operators.base.Operator
]


@cache
def _every() -> tuple[EntryPoint, ...]:
    """All entry points of the environment, read in one scan of its packages, since a scan is slow."""
    return tuple(point for package in distributions() for point in package.entry_points)


@cache
def installed(group: Group) -> Mapping[str, EntryPoint]:
    """The entry points of a group by name, sorted; two packages with one name: the first that is installed."""
    found: dict[str, EntryPoint] = {}
    for point in _every():
        if point.group == group:
            found.setdefault(point.name, point)
    return dict(sorted(found.items()))


def load(group: Group, name: str) -> Any:
    """What an entry point names.

    Raises:
        KeyError: no installed package has one of that name.
        SettingError: it cannot be imported.
    """
    point = installed(group)[name]
    try:
        return point.load()
    except Exception as error:
        raise SettingError(f"{group}: {name} cannot be loaded: {type(error).__name__} in {point.module}") from None
