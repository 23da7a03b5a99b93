"""JSON records, one per file or one per line.

The data type selects the schema, every value is checked, and edits are spliced into the raw JSON. A FHIR resource is a
record whose schema is part of the package (`formats/records/fhir.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

from incognote.errors import SchemaViolation, UnknownDataType
from incognote.formats import encoding
from incognote.formats.base import DecodedDocument, Document, Format, Unreadable
from incognote.formats.encoding import ENCODING, UTF8, Codec, characters, codec_of, is_container
from incognote.formats.html import is_page, page_in, second_of
from incognote.formats.records.rawjson import Node, parse
from incognote.formats.records.record import OpenRecord, Walk
from incognote.formats.text import read_whole, refused
from incognote.schemas.registry import Registry

# At most 2.3.3 digits: too short for a telephone number or an identifier.
_VERSION = re.compile(r"v?[0-9]{1,2}(\.[0-9]{1,3}){0,2}")


class JsonRecord(DecodedDocument):
    """The raw JSON of a record before a schema opens it. It has no texts yet.

    Args:
        after: the line end that follows the record.
        separator: written between this record and the next one if it has no line end.
    """

    is_record = True

    def __init__(self, content: str, codec: Codec = UTF8, after: bytes = b"", separator: bytes = b"") -> None:
        self.content, self.codec, self.after, self.separator = content, codec, after, separator
        self.head = codec.mark

    def under(self, registry: Registry, data_type: str | None) -> Document:
        record = open_record(self.content, registry, data_type=data_type)
        return replace(record, codec=self.codec, head=self.head, after=self.after, separator=self.separator)


def open_record(raw: str, registry: Registry, *, data_type: str | None = None) -> OpenRecord:
    """Open one record.

    Args:
        raw: the JSON text of the record.
        data_type: the schema for a record without `dataType`; the record's own `dataType` takes precedence. A record
            with `resourceType` and without `dataType` is a FHIR resource.

    Raises:
        MalformedRecord: the text is not JSON.
        UnknownDataType: there is no data type, or no schema for it.
        SchemaViolation: a field is unknown or missing, or a value has the wrong type.
        UnapprovedSchema, BadSchema: the schema cannot be used.
    """
    root = parse(raw)
    if root.kind != "object":
        raise SchemaViolation(f"a record must be a JSON object, not of type {root.kind}")
    members: dict[str, Node] = root.value
    if "dataType" not in members and "resourceType" in members:
        from incognote.formats.records.fhir import open_fhir

        return open_fhir(raw, root, registry)
    if "dataType" not in members and members.keys() >= {"transactionTime", "output"}:
        raise UnknownDataType("this is the manifest of a FHIR bulk export, not a record. Leave the file out")
    name = _data_type(members, registry, data_type)
    _check_version(raw, members.get("recordVersion"))
    schema = registry.get(name)
    walk = Walk(raw, root, schema)
    pages = {text.field: page for text in walk.texts if (page := page_in(text)) is not None}
    return OpenRecord(
        data_type=name, schema=schema, texts=tuple(text for text in walk.texts if text.field not in pages),
        actions=tuple(walk.actions), children=pages,
        known=tuple(dict.fromkeys(walk.known)), patient=walk.scalar_at(schema.patient_key),
        id=walk.scalar_at(schema.id_key), content=raw, nodes=walk.nodes,
    )  # fmt: skip


def _data_type(members: dict[str, Node], registry: Registry, given: str | None) -> str:
    carried = members.get("dataType")
    if carried is None:
        if given is None:
            raise UnknownDataType("the record has no dataType. Set it with --data-type or data_type=")
        return given
    if carried.kind != "string":
        raise SchemaViolation(f"dataType: must be a string, not of type {carried.kind}", field="dataType")
    name: str = carried.value
    if name not in registry:  # the value may be anything, so the message does not quote it
        raise UnknownDataType(
            f"there is no schema for the record's dataType. Known: {', '.join(sorted(registry))}", field="dataType")
    return name


def _check_version(raw: str, node: Node | None) -> None:
    """Check that `recordVersion` is only a version number, because the envelope passes through unchanged."""
    if node is None or node.kind == "null":
        return
    content = node.value if node.kind == "string" else raw[node.start : node.end]
    if not isinstance(content, str) or not _VERSION.fullmatch(content):
        raise SchemaViolation("recordVersion: must be a version number such as \"1.0\"", field="recordVersion")


def _read(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    yield read_whole(stream, media_type, JsonRecord)


def _read_lines(stream: BinaryIO, media_type: str) -> Iterator[Document | Unreadable]:
    """Yield one record per nonblank line, with one record in memory at a time.

    Undecodable bytes become lone surrogates, so that only the line that contains them is held.
    """
    codec = codec_of(stream, media_type)
    if codec is None or is_container(stream):
        yield refused(stream)
        return
    separator = codec.encode("\n")
    try:
        with characters(stream, codec, "\n") as text:
            while line := text.readline(encoding.MAX_BYTES + 1):
                if len(line) > encoding.MAX_BYTES:
                    yield Unreadable(encoding.too_large())
                    while line and not line.endswith("\n"):
                        line = text.readline(encoding.MAX_BYTES)
                    continue
                content = line.removesuffix("\n").removesuffix("\r")
                if not content or content.isspace():
                    continue
                try:
                    content.encode(codec.encoding)
                except UnicodeEncodeError:
                    yield Unreadable(ENCODING, content.encode(codec.encoding, codec.lossless))
                else:
                    yield JsonRecord(content, codec, codec.encode(line[len(content) :]), separator)
    except UnicodeDecodeError:  # UTF-16 that ends in the middle of a character
        yield Unreadable(ENCODING)


def _second(data: bytes) -> Iterator[str]:
    """Yield what the second readers see in the attachments of a FHIR resource, and in the pages of another record.

    The record itself is not read again: property tests show that only what is edited changes.
    """
    if not any(sign in data for sign in (b"data", b"<", b"\\u003")):
        return
    import json

    from incognote.formats.records.narrative import octets_of
    from incognote.formats.registry import of_container, second_reading

    todo = [json.loads(data)]
    is_fhir = "resourceType" in todo[0]
    while todo:
        node = todo.pop()
        if isinstance(node, str) and not is_fhir and is_page(node):
            yield from second_of(node)
        todo += node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        content = octets_of(node["data"]) if isinstance(node, dict) and isinstance(node.get("data"), str) else None
        if content and of_container(content) is not None:
            yield from second_reading(content)


FORMATS = (
    Format("json", ("application/json", "application/fhir+json"), (".json",), _read, is_record=True, second=_second),
    Format(
        "lines", ("application/x-ndjson", "application/jsonl", "application/ndjson", "application/fhir+ndjson"),
        (".jsonl", ".ndjson"), _read_lines, is_record=True, second=_second,
    ),
)
