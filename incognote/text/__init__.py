"""Prepare a text for detection: its reading, its language, and its container format.

A reading uses the `Vocabulary` and the `labels` of a language.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Protocol

from incognote import languages  # `language` is also a module of this package


class Vocabulary(Protocol):
    """The words of a language. Each method takes a word in lower case."""

    def usual(self, word: str) -> bool:
        """Whether it is a common word of the language or of medicine."""
        ...

    def name(self, word: str) -> int:
        """Return how common it is as a name, 0 (not a name) to 7."""
        ...

    def known(self, word: str) -> bool:
        """Whether it is a known word or name."""
        ...


@cache
def labels() -> Any:
    """Return the part `labels` of the language: labels of numbers and names, titles, kinds of streets."""
    return languages.language().part("labels")


@cache
def speech() -> Any:
    """Return the part `spoken` of the language: spelled-out numbers, addresses and names, words broken by spaces."""
    return languages.language().part("spoken")
