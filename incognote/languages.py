"""What is known of a language, found by entry point: rule data, word lists, names, pools of surrogates, models.

A bundle is a package that holds files and names itself under the entry point group `incognote.languages`.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from incognote.errors import MissingLanguage
from incognote.plugins import installed, load


@cache
def resources(code: str = "en") -> Traversable:
    """The folder of a language's bundle.

    Args:
        code: ISO 639-1.

    Raises:
        MissingLanguage: no installed package brings the language.
    """
    if code not in installed("incognote.languages"):
        raise MissingLanguage(code)
    return files(load("incognote.languages", code))


def table(*path: str, code: str = "en") -> dict[str, Any]:
    """A TOML file of a language's bundle, parsed; MissingLanguage as `resources` raises it."""
    return tomllib.loads(resources(code).joinpath(*path).read_text(encoding="utf-8"))
