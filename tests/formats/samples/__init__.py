"""Samples of each format for the conformance suite, which discovers every module here that defines `SAMPLES`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from incognote.formats.base import Format


@dataclass(frozen=True)
class Sample:
    """How to make sources of a format.

    Args:
        form: the format that opens them.
        make: makes a source with these texts, in order; one document each if `many`.
        damaged: sources that are refused, with the reason code of each.
        many: whether a source can contain several documents.
        suits: whether the format can hold texts in the order of their characters.
        letters: the characters of new words in tests.
    """

    form: Format
    make: Callable[[Sequence[str]], bytes]
    damaged: Sequence[tuple[bytes, str]]
    many: bool = False
    suits: Callable[[Sequence[str]], bool] = lambda texts: True
    letters: str = "ab\"\\,;\n&<é😀"
