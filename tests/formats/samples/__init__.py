"""What the conformance suite knows of each format: a module here with `SAMPLES` is found by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from incognote.formats.base import Format


@dataclass(frozen=True)
class Sample:
    """How sources of a format are made.

    Args:
        form: opens them.
        make: a source with these texts, in order; one document each where `many`.
        damaged: sources that are refused, with the reason code of each.
        many: whether a source holds several documents.
    """

    form: Format
    make: Callable[[Sequence[str]], bytes]
    damaged: Sequence[tuple[bytes, str]]
    many: bool = False
