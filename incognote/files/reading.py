"""The inputs of all sources of a run, in their order. A source that cannot be read stops none of the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace

from incognote.errors import UsageError
from incognote.files import inputs, tables
from incognote.files.inputs import Input, Words
from incognote.files.sources import Source
from incognote.files.tables import Layout
from incognote.nouns import Reason

TABLES = ("csv", "tsv")
_UNTOLD = Reason("unknown-data-type", "", "a table, and nobody said how it is read: its schema, or its columns")
_OTHER_COLUMNS = Reason("schema-violation", "", "its columns are not those that the run was told of")


def read_all(sources: Iterable[Source], words: Words, layout: Layout | None = None) -> Iterator[Input]:
    """Every input of every source, with what the run was told about them.

    Args:
        layout: how tables are read; without one each is an input with its reason.
    """
    for source in sources:
        for one in read_one(source, layout):
            yield replace(one, words=words)


def read_one(source: Source, layout: Layout | None) -> Iterator[Input]:
    """Every input of one source; a table that the layout does not fit is one, with its reason and its bytes."""
    if source.kind not in TABLES:
        yield from inputs.read(source)
    elif layout is None:
        yield _turned_away(source, _UNTOLD)
    else:
        try:
            yield from tables.read(source, layout)
        except UsageError:  # of its header: nothing of it was read
            if source.once:
                raise  # it cannot be read a second time
            yield _turned_away(source, _OTHER_COLUMNS)


def _turned_away(source: Source, reason: Reason) -> Input:
    with ExitStack() as held:
        try:
            return inputs.refused(source, inputs.opened(source, held)[1], reason)
        except inputs.UNREADABLE as error:
            return inputs.unread(source, 1, error)
