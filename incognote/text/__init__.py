"""What a text is before anything is sought in it: one reading of it, its language, its container.

A reading asks a language for its `Vocabulary` and its `labels`.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Protocol

from incognote import languages  # `language` is a module of this package, too


class Vocabulary(Protocol):
    """The words of a language; each method takes a word in lower case."""

    def usual(self, word: str) -> bool:
        """Whether it is a usual word of the language or of medicine."""
        ...

    def name(self, word: str) -> int:
        """How common it is as a name, 0 (none) to 7."""
        ...

    def known(self, word: str) -> bool:
        """Whether it is any word or name at all."""
        ...


@cache
def labels() -> Any:
    """The part `labels` of the language: labels of numbers and names, titles, kinds of streets."""
    return languages.language().part("labels")


@cache
def speech() -> Any:
    """The part `spoken` of the language: what is said or broken in a text, as it is written."""
    return languages.language().part("spoken")
