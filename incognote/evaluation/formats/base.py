"""What a format is to the rest of the program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from incognote.evaluation.formats.document import Document, Problem
from incognote.evaluation.formats.sink import Sink
from incognote.evaluation.formats.source import Look


@dataclass(frozen=True)
class Format:
    """A way in which annotated texts, or what a system found in them, are written.

    Attributes:
        name: as `--from` and `--to` take it.
        about: one line for people.
        fits: whether a file or folder looks like it.
        read: its documents, as far as it can one after the other.
        write: a sink for documents at a place; None where only its own system writes it.
        scheme: whose names its types are (`names.toml`); "" where anybody's may be.
        suffixes: of outputs that are taken for it when nobody says what they shall be.
    """

    name: str
    about: str
    fits: Callable[[Look], bool]
    read: Callable[[Path], Iterator[Document | Problem]]
    write: Callable[[Path], Sink] | None = None
    scheme: str = ""
    suffixes: tuple[str, ...] = ()
