"""What a reading asks of a language: whether letters are a usual word or a name, labels of numbers, titles."""

from __future__ import annotations

from typing import Any, Protocol

from incognote.languages import language


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


def labels() -> Any:
    """The part `labels` of the language: labels of numbers and names, titles, kinds of streets."""
    return language().part("labels")
