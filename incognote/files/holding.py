"""The link between a run and its quarantine: what an Input stores there, and the Input that is restored from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from itertools import groupby
from typing import Any

from incognote.errors import UsageError
from incognote.files.inputs import Input, RecordDefaults
from incognote.files.outputs import hashed_name
from incognote.files.quarantine import Contents, Held, Quarantine
from incognote.files.sources import Source
from incognote.formats.base import Unreadable
from incognote.formats.encoding import Codec
from incognote.formats.json import JsonRecord
from incognote.formats.records.typed import TypedRow, TypedTable
from incognote.formats.registry import PROVEN, reopened_one
from incognote.formats.tables import Layout, reopened
from incognote.formats.text import plain
from incognote.keys import Keyring
from incognote.nouns import Known, Verdict
from incognote.schemas.record_schema import Schema

_NOT_TOLD = "unknown"


def hold(quarantine: Quarantine, keyring: Keyring, one: Input, verdict: Verdict, manifest: Mapping[str, Any]) -> Held:
    """Put a record that was not released into the quarantine. A record that came from there replaces its old entry.

    Args:
        manifest: the manifest of its Result; empty if the record could not be read.
    """
    data = one.data
    policy, schema = manifest.get("policy"), manifest.get("schema")
    return quarantine.put(
        Contents(data or b"", told_of(one)),
        outcome=verdict.outcome,
        reasons=verdict.reasons,
        source=hashed_name(one.source, keyring),
        position=one.position,
        kind=one.source.kind,
        data_type=schema["data_type"] if schema else None,
        policy=f"{policy['name']} {policy['version']}" if policy else _NOT_TOLD,
        kept=data is not None,
        name=one.held,
    )


def held_inputs(quarantine: Quarantine, wanted: Iterable[Held], schema_of: Callable[[str], Schema]) -> Iterator[Input]:
    """Yield held records as they were first read, one in memory at a time. Each is opened again.

    Args:
        schema_of: returns the schema of a table, by its data type.

    Raises:
        WrongKey: one of them is damaged.
    """
    for held in wanted:
        contents = quarantine.open(held)
        one = input_of(contents.data, contents.words, held.position, held.kind, schema_of)
        if one.document is None:
            one = replace(one, error=contents.reasons[0], raw=contents.data if held.kept else None)
        yield replace(one, held=held.name)


def input_of(
    data: bytes, told: Mapping[str, Any], position: int, kind: str, schema_of: Callable[[str], Schema]
) -> Input:
    """Return an Input as it was first read.

    Args:
        data: its bytes.
        told: from `told_of`.
        schema_of: returns the schema of a table, by its data type.
    """
    source = Source(None, told["name"], kind, shown=told.get("path", ""))
    known = tuple(Known(*pair) for pair in told["known"])
    defaults = RecordDefaults(told["patient"], told["domain"], told["data_type"], known)
    if told["unread"]:
        return Input(source, position, None, raw=data, defaults=defaults)
    codec = Codec(told["encoding"], bytes.fromhex(told["mark"]))
    if told["table"]:
        layout = Layout.of(told["table"], schema_of)
        each = reopened(codec.decode(data), kind, codec, told["table"]["header"], layout)
    elif told.get("typed"):
        each = TypedTable.of(told["typed"], schema_of).opened(data.decode(), told["typed"]["version"])
    elif not told["is_record"] and kind in PROVEN:
        each = plain(codec.decode(data), codec)
    elif kind in PROVEN:
        separator = codec.encode("\n") if kind == "lines" else b""
        each = JsonRecord(codec.decode(data), codec, codec.encode(told["ending"]), separator)
    else:
        each = reopened_one(kind, bytes.fromhex(told["head"]) + data + bytes.fromhex(told["after"]))
    if isinstance(each, Unreadable):
        return Input(source, position, each.document, error=each.reason, raw=each.data, defaults=defaults)
    return Input(source, position, each, defaults=defaults)


def data_of(content: str | bytes, told: Mapping[str, Any]) -> bytes:
    """Return the bytes for `input_of` from the content that the machine got.

    Args:
        told: from `told_of`.
    """
    if isinstance(content, str):
        return content.encode(told["encoding"])
    head, after = bytes.fromhex(told["head"]), bytes.fromhex(told["after"])
    return content[len(head) : len(content) - len(after)]


def supersede(quarantine: Quarantine) -> None:
    """Drop records that a later run held again: the same bytes from the same position of an input with the same name.

    Records without bytes are the same if their inputs have the same path.

    Raises:
        WrongKey: one of them is damaged.
    """
    for _, group in groupby(quarantine.items(), key=lambda held: (held.source, held.position)):
        newest_first = sorted(group, key=lambda held: held.time, reverse=True)
        if len(newest_first) > 1:
            seen: set[bytes | str] = set()
            for held in newest_first:
                contents = quarantine.open(held)
                same = sha256(contents.data).digest() if held.kept else contents.words.get("path", "")
                if same in seen:
                    quarantine.drop(held)
                seen.add(same)


def sources_of(quarantine: Quarantine, wanted: Iterable[Held]) -> list[Source]:
    """Return the sources of held records, each once.

    Raises:
        UsageError: two records have the same position in inputs of the same name. They cannot go to one output.
    """
    found: dict[str, Source] = {}
    places: set[tuple[str, int]] = set()
    for held in wanted:
        if (held.source, held.position) in places:
            raise UsageError(
                f"Two held records come from inputs with the same name ({held.name[:8]}). Retry them separately, by "
                "item."
            )
        places.add((held.source, held.position))
        if held.source not in found:
            found[held.source] = Source(None, quarantine.open(held).words["name"], held.kind)
    return list(found.values())


def told_of(one: Input) -> dict[str, Any]:
    """Return what `input_of` needs in addition to the bytes, ready for JSON. It contains PHI."""
    defaults, document = one.defaults, one.document
    return {
        "name": one.source.name,
        "path": one.source.shown,
        "is_record": one.is_record,
        "encoding": one.codec.encoding,
        "mark": one.codec.mark.hex(),
        "ending": one.ending,
        "head": document.head.hex() if document is not None and one.content is None else "",
        "after": document.after.hex() if document is not None and one.content is None else "",
        "unread": document is None,
        "patient": defaults.patient,
        "domain": defaults.domain,
        "data_type": defaults.data_type,
        "known": [[known.type, known.value] for known in defaults.known],
        "table": {**one.table.words, "header": one.table.header} if one.table else None,
        "typed": {**document.typed.words(), "version": document.version} if isinstance(document, TypedRow) else None,
    }
