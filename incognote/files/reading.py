"""The inputs of all sources of a run, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from incognote.files import inputs, tables
from incognote.files.inputs import Input, Words
from incognote.files.sources import Source
from incognote.files.tables import Layout

TABLES = ("csv", "tsv")


def read_all(sources: Iterable[Source], words: Words, layout: Layout | None = None) -> Iterator[Input]:
    """Every input of every source, with what the run was told about them.

    Args:
        layout: how tables are read; needed where there is one.

    Raises:
        UsageError: the layout does not fit a table.
    """
    for source in sources:
        if source.kind in TABLES:
            assert layout is not None  # the caller asked for it when it saw the sources
            stream = tables.read(source, layout)
        else:
            stream = inputs.read(source)
        for one in stream:
            yield replace(one, words=words)
