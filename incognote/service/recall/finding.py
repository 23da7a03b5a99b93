"""Find the outputs for a recall: those of a patient, those that contain given words, or those made by a version."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from incognote.errors import IncognoteError, MalformedRecord, MissingExtra, RecordProblem, UnknownName, UsageError
from incognote.formats.base import actions_of, texts_of
from incognote.formats.registry import name_of, named, open_one, second_reading, suffix_of
from incognote.ledger import Ledger, LedgerEntry
from incognote.nouns import subject_form
from incognote.runs.location import Location, store_error
from incognote.runs.shards import is_document

_LEAST = 3
_BROKEN = re.compile(r"[-\u2010\u2011\u00ad][^\S\n]*\r?\n\s*")
_NAMED = ("schemas", "detectors", "models")


def of_patient(ledger: Ledger, patient: str) -> Iterator[LedgerEntry]:
    """Return the released records of a subject."""
    return ledger.entries(subject=ledger.subject(patient), state="released")


def made_by(ledger: Ledger, version: str) -> Iterator[LedgerEntry]:
    """Yield released records of every release that used a given policy, schema, prompt, model, detector, code or key.

    Args:
        version: its name, version or hash, as `incognote release list` shows it; or the release's own name.

    Raises:
        UnknownName: no release used it.
    """
    releases = ledger.releases()
    found = [one for one in releases if version in (one.name, one.digest) or version in _leaves(one.frozen)]
    if not found:
        raise UnknownName("release, or version in one,", version, [one.name for one in releases])
    for release in found:
        yield from ledger.entries(release=release.id, state="released")


def with_words(
    ledger: Ledger, destination: Location, words: str, absent: Callable[[str], object] = lambda name: None
) -> Iterator[LedgerEntry]:
    """Yield released records whose output contains some words.

    Case, white space between the words, and line breaks within a word are ignored. Every shard is read. If the rows of
    a table cannot be assigned to records, all records of the shard count.

    Args:
        absent: called with every shard that is not in the destination although one of its records counts as released.
            It is not there yet, or was removed. Its content is unknown.

    Raises:
        UsageError: fewer than three characters.
        IncognoteError: the destination cannot be read.
    """
    sought = subject_form(words)
    if len(sought) < _LEAST:
        raise UsageError(f"--contains needs at least {_LEAST} characters. Fewer would recall too many outputs.")
    for release in ledger.releases():
        for shard in ledger.shards(release.id):
            data = shard_bytes(destination, shard.name)
            if data is None:
                if next(ledger.entries(shard=shard.name, state="released"), None) is not None:
                    absent(shard.name)
                continue
            texts = records(shard.name, data)
            apart = len(texts) == shard.records
            lines = {number for number, text in enumerate(texts, start=1) if _holds(text, sought)}
            if not lines and (apart or not _holds("\n".join(texts), sought)):
                continue
            for entry in ledger.entries(shard=shard.name, state="released"):
                if not apart or entry.line in lines:
                    yield entry


def _holds(text: str, sought: str) -> bool:
    """Whether a text contains words. A hyphen at a line end may belong to the line break or to the word."""
    broken = _BROKEN.search(text) is not None
    return sought in subject_form(text) or (
        broken and (sought in subject_form(_BROKEN.sub("", text)) or sought in subject_form(_BROKEN.sub("-", text)))
    )


def _leaves(frozen: Mapping[str, Any]) -> set[str]:
    """Return the words in what a release froze: values, and the names of schemas, detectors and models."""
    found: set[str] = set()
    for name, value in frozen.items():
        if isinstance(value, Mapping):
            found |= _leaves(value) | (set(value) if name in _NAMED else set())
        elif isinstance(value, list | tuple):
            found |= {one for one in value if isinstance(one, str)}
        elif isinstance(value, str):
            found.add(value)
    return found


def shard_bytes(destination: Location, name: str) -> bytes | None:
    """Return a shard of the destination; None if it no longer exists.

    Raises:
        IncognoteError: the destination cannot be read.
    """
    try:
        if destination.store is None:
            return (Path(destination.root) / name).read_bytes()
        destination.store.invalidate_cache()
        data: bytes = destination.store.cat_file(f"{destination.root}/{name}")
        return data
    except FileNotFoundError:
        return None
    except Exception as error:  # a store's message can quote names, and no error may count as an absent shard
        raise IncognoteError(
            f"The destination cannot be read ({store_error(error)}). Run this as a user with read access."
        ) from None


def records(name: str, data: bytes) -> list[str]:
    """Return the records of a shard in order, each as the text of its values.

    For a table whose notes are split over several rows, these are rows, so there are more of them than records. A
    document is one record: its texts and values as its own reader and a second one see them.

    Raises:
        IncognoteError: the bytes do not have the format that the name gives.
    """
    try:
        if name.endswith(".parquet"):
            return _parquet(data)
        if is_document(name):
            return ["\n".join(_of_document(name, data))]
        if name.endswith(".gz"):
            name, data = name.removesuffix(".gz"), gzip.decompress(data)
        elif name.endswith(".zst"):
            import zstandard

            name, data = name.removesuffix(".zst"), zstandard.ZstdDecompressor().stream_reader(data).read()
        text = data.decode()
        if name.endswith(".jsonl"):
            return [_values(json.loads(line)) for line in text.split("\n") if line]
        rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if name.endswith(".tsv") else ",")
        return [" ".join(row) for row in rows][1:]
    except (ValueError, OSError, EOFError, csv.Error, RecordProblem):
        raise IncognoteError(
            "A shard of the destination was changed after it was written. Compare it with its hash in the ledger."
        ) from None


def _of_document(name: str, data: bytes) -> Iterator[str]:
    media_type = named(name_of(suffix_of(name))).media_types[0]
    document = open_one(data, media_type)[1]
    yield from (text.content for text in texts_of(document))
    yield from (action.text.content for action in actions_of(document))
    try:
        yield from second_reading(data, media_type)
    except MissingExtra:
        raise
    except Exception:  # the libraries have many error classes of their own, and their messages quote content
        raise MalformedRecord("the document cannot be read") from None


def _values(value: Any) -> str:
    """Return all strings and numbers of a JSON value, then its keys.

    So a name that is split over two fields stays adjacent.
    """
    values: list[str] = []
    names: list[str] = []
    _take(value, values, names)
    return " ".join([*values, *names])


def _take(value: Any, values: list[str], names: list[str]) -> None:
    if isinstance(value, dict):
        names += value
        for one in value.values():
            _take(one, values, names)
    elif isinstance(value, list):
        for one in value:
            _take(one, values, names)
    elif value is not None:
        values.append(str(value))


def _parquet(data: bytes) -> list[str]:
    from pyarrow import parquet

    return [_values(row) for row in parquet.read_table(io.BytesIO(data)).to_pylist()]
