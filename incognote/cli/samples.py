"""Reads the sample records for `schema draft`. Samples that cannot be read are skipped."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from incognote.runs.units import counted

if TYPE_CHECKING:
    from incognote.files.sources import Source


def sample_records(samples: list[str], form: str | None) -> Iterator[dict[str, Any]]:
    """Yield the records of files, folders, and standard input.

    Args:
        form: like `--format`. Without it, standard input that begins with `{` is JSON or JSON Lines, and any other is
            a table.

    Raises:
        UsageError: like `files.sources.find`.
        MalformedRecord: a table has no usable header.
    """
    from incognote.files.sources import find

    for source in find(samples, form=form).files:
        if source.path is None and form is None:
            yield from _sniffed(source)
        elif source.kind in ("csv", "tsv"):
            yield from _rows(source)
        elif source.kind != "text":  # plain text has no fields
            yield from _objects(source)


def _sniffed(source: Source) -> Iterator[dict[str, Any]]:
    if source.kind == "text":
        yield from _rows(source)
        return
    import sys

    content = sys.stdin.buffer.read().removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")
    whole = list(_parsed([content]))
    yield from whole or _parsed(content.splitlines())


def _objects(source: Source) -> Iterator[dict[str, Any]]:
    from incognote.files.inputs import read

    yield from _parsed(one.content or "" for one in read(source))


def _parsed(contents: Iterable[str]) -> Iterator[dict[str, Any]]:
    for content in contents:
        try:
            record = json.loads(content)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


def _rows(source: Source) -> Iterator[dict[str, Any]]:
    """Yield rows by column name. Rows that are not UTF-8 (or UTF-16 with a byte order mark) are skipped."""
    from incognote.cli.shell import warn
    from incognote.files import inputs
    from incognote.formats.encoding import codec_of
    from incognote.formats.records.csvtext import dictionaries

    strange = 0
    with ExitStack() as held:
        try:
            _, stream = inputs.opened(source, held)
            codec = codec_of(stream)
        except inputs.UNREADABLE:
            return
        if codec is None:
            return
        stream.read(len(codec.mark))
        text = io.TextIOWrapper(stream, encoding=codec.encoding, errors="surrogateescape", newline="")
        held.callback(text.detach)  # leaves closing to the owner of the stream; standard input stays open
        try:
            for row in dictionaries(text, "\t" if source.kind == "tsv" else None):
                if any("\udc80" <= c <= "\udcff" for value in (*row, *row.values()) for c in value):
                    strange += 1
                else:
                    yield row
        except (*inputs.UNREADABLE, UnicodeDecodeError):
            pass  # keep the rows before the error
    if strange:
        warn(f"{counted(strange, 'row')} skipped: not UTF-8. Convert the table.")
