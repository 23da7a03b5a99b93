"""The data and models of a language: rules, dates, number words, names, word lists, pools of surrogates, encoders.

A bundle is a package that registers under the entry point group `incognote.languages`. It holds files in folders, and
parts, which are modules with fixed names. A bundle need not hold all of them (docs/languages.md lists both).
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
    """The bundle of one language. Call `language` to get it.

    Attributes:
        code: ISO 639-1.
        package: the name of the package that holds the bundle.
    """

    code: str
    package: str

    def file(self, *path: str) -> Traversable:
        """Return a file or folder of the bundle, even if it does not exist."""
        return files(self.package).joinpath(*path)

    def table(self, *path: str) -> dict[str, Any]:
        """Return a parsed TOML file of the bundle; empty if the bundle has no such file."""
        file = self.file(*path)
        return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}

    def tables(self, folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the TOML files of a folder by name: (name without suffix, content).

        Yield nothing if the folder does not exist.
        """
        if self.file(folder).is_dir():
            for entry in sorted(self.file(folder).iterdir(), key=lambda e: e.name):
                if entry.name.endswith(".toml"):
                    yield entry.name.removesuffix(".toml"), tomllib.loads(entry.read_text(encoding="utf-8"))

    def part(self, name: str) -> Any:
        """Return a module of the bundle, loaded on first use; None if the bundle has no such module."""
        return _part(f"{self.package}.{name}")


@cache
def _part(module: str) -> Any:
    spec = find_spec(module)
    return import_module(module) if spec is not None and spec.origin else None  # a folder of data is not a module


@cache
def language(code: str = "en") -> Language:
    """Return the bundle of a language.

    Args:
        code: ISO 639-1.

    Raises:
        MissingLanguage: no installed package provides the language.
    """
    if code not in installed("incognote.languages"):
        raise MissingLanguage(code)
    return Language(code, load("incognote.languages", code).__name__)
