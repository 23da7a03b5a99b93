"""The data and models of a language: rules, dates, number words, names, word lists, pools of surrogates, encoders.

A bundle is a package that names itself under the entry point group `incognote.languages`. It holds files in folders,
and parts: modules with fixed names. A bundle need not hold all of them (docs/languages.md lists both).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from typing import Any

from incognote.errors import MissingLanguage
from incognote.plugins import installed, load


@dataclass(frozen=True, slots=True)
class Language:
    """One language's bundle; `language` makes it.

    Attributes:
        code: ISO 639-1.
        package: the name of the package that holds the bundle.
    """

    code: str
    package: str

    def file(self, *path: str) -> Traversable:
        """A file or folder of the bundle, whether it exists or not."""
        return files(self.package).joinpath(*path)

    def table(self, *path: str) -> dict[str, Any]:
        """A TOML file of the bundle, parsed; empty where the bundle has none."""
        file = self.file(*path)
        return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}

    def tables(self, folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The TOML files of a folder by name: (name without suffix, content); empty if the folder does not exist."""
        if self.file(folder).is_dir():
            for entry in sorted(self.file(folder).iterdir(), key=lambda e: e.name):
                if entry.name.endswith(".toml"):
                    yield entry.name.removesuffix(".toml"), tomllib.loads(entry.read_text(encoding="utf-8"))

    def part(self, name: str) -> Any:
        """A module of the bundle, loaded when it is first asked for; None where the bundle has none."""
        return _part(f"{self.package}.{name}")


@cache
def _part(module: str) -> Any:
    spec = find_spec(module)
    return import_module(module) if spec is not None and spec.origin else None  # a folder of data is no module


@cache
def language(code: str = "en") -> Language:
    """The bundle of a language.

    Args:
        code: ISO 639-1.

    Raises:
        MissingLanguage: no installed package brings the language.
    """
    if code not in installed("incognote.languages"):
        raise MissingLanguage(code)
    return Language(code, load("incognote.languages", code).__name__)
