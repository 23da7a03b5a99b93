"""Our own lines: `{"id", "text", "spans": [{"start", "end", "type"}]}`, and predictions, which need no text.

A line of predictions may carry `error` instead of spans (`incognote detect` writes it), and more keys are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from incognote.errors import MalformedRecord
from incognote.evaluation.formats import document, jsonrows
from incognote.evaluation.formats.base import Format
from incognote.evaluation.formats.document import Document, Gold, Mark, Problem
from incognote.evaluation.formats.sink import OneFile, Sink
from incognote.evaluation.formats.source import Look


def _fits(look: Look) -> bool:
    return "id" in look.keys and ("spans" in look.keys or "error" in look.keys)


def _read(path: Path) -> Iterator[Document | Problem]:
    for one in jsonrows.read(path, _marks, id_=lambda one: one.get("id")):
        if isinstance(one, Document) and one.numbered:
            yield Problem(one.place, "no id")
        else:
            yield one


def _marks(one: jsonrows.Object) -> tuple[Mark, ...] | None:
    if "error" in one:
        raise MalformedRecord("the prediction failed")
    return document.marks(one["spans"]) if "spans" in one else None


def _write(path: Path) -> Sink:
    return OneFile(path, _line)


def _line(one: Gold) -> str:
    spans: list[dict[str, Any]] = [{"start": start, "end": end, "type": type_} for start, end, type_ in one.labels]
    return jsonrows.line({"id": one.id, "text": one.text, "spans": spans})


OWN = Format(
    "incognote",
    'lines of {"id", "text", "spans": [{"start", "end", "type"}]}, also .gz; what `incognote detect` writes',
    _fits,
    _read,
    _write,
    suffixes=(".jsonl", ".ndjson"),
)
