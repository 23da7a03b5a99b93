"""The shared reader for formats whose documents are JSON objects, one per line or list item, and two such formats.

Our own lines: `{"id", "text", "spans": [{"start", "end", "type"}]}`. Predictions need no text. A line of predictions
may have `error` instead of spans (`incognote detect` writes it). More keys are ignored.

The Text Anonymization Benchmark (Pilán et al., Computational Linguistics 2022): a JSON list of court cases. A case has
annotators, each with mentions. A mention is gold if any annotator marked it for masking, as a direct or a quasi
identifier. Recall is then over everything that an expert wanted masked. Mentions with NO_MASK are left out, and the
same span with the same type counts once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from incognote.errors import MalformedRecord
from incognote.evaluation.formats.base import CorpusFormat, CorpusWriter, OneFile
from incognote.evaluation.formats.document import CorpusDocument, CorpusProblem, Gold, SourceMark, Unit
from incognote.evaluation.formats.document import marks as document_marks
from incognote.evaluation.formats.source import WHOLE, Look, files, row, rows

Object = Mapping[str, Any]
_SUFFIXES = (".json", ".jsonl", ".ndjson")


def read(
    path: Path,
    marks: Callable[[Object], tuple[SourceMark, ...] | None],
    *,
    id_: Callable[[Object], object],
    text: Callable[[Object], object] = lambda one: one.get("text"),
    unit: Unit = "code point",
    alone: Callable[[Any], Object] | None = None,
    suffixes: tuple[str, ...] = _SUFFIXES,
) -> Iterator[CorpusDocument | CorpusProblem]:
    """The documents of a file, or of every file in a folder.

    Args:
        marks: returns the marks of an object, or None if it says nothing about them. May raise MalformedRecord.
        id_: returns its name, or None. Without a name, the file's name is used if the document is the whole file,
            otherwise its number.
        text: returns its text, or None.
        alone: makes an object of any other kind of row.
    """
    for file in files(path, suffixes):
        prefix = f"{file.name} " if path.is_dir() else ""
        for number, (place, value) in enumerate(rows(file), 1):
            try:
                one = row(alone(value) if alone and not isinstance(value, MalformedRecord) else value)
            except MalformedRecord as error:
                yield CorpusProblem(prefix + place, str(error))
                continue
            name = id_(one)
            named = isinstance(name, str | int) and not isinstance(name, bool) and name != ""
            made = file.name if place == WHOLE else f"{prefix}{number}"
            content = text(one)
            found, fault = None, None
            try:
                found = marks(one)
            except MalformedRecord as error:
                fault = str(error)
            yield CorpusDocument(
                str(name) if named else made,
                prefix + place,
                content if isinstance(content, str) else None,
                found,
                fault,
                unit,
                numbered=not named and place != WHOLE,
            )


def line(value: Object) -> str:
    """Format an object as a line of a file."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def _own_fits(look: Look) -> bool:
    return "id" in look.keys and ("spans" in look.keys or "error" in look.keys)


def _own_read(path: Path) -> Iterator[CorpusDocument | CorpusProblem]:
    for one in read(path, _own_marks, id_=lambda one: one.get("id")):
        if isinstance(one, CorpusDocument) and one.numbered:
            yield CorpusProblem(one.place, "no id")
        else:
            yield one


def _own_marks(one: Object) -> tuple[SourceMark, ...] | None:
    if "error" in one:
        raise MalformedRecord("the prediction failed")
    return document_marks(one["spans"]) if "spans" in one else None


def _own_write(path: Path) -> CorpusWriter:
    return OneFile(path, _own_line)


def _own_line(one: Gold) -> str:
    spans: list[dict[str, Any]] = [{"start": start, "end": end, "type": type_} for start, end, type_ in one.labels]
    return line({"id": one.id, "text": one.text, "spans": spans})


OWN = CorpusFormat(
    "incognote",
    'lines of {"id", "text", "spans": [{"start", "end", "type"}]}, also .gz; what `incognote detect` writes',
    _own_fits,
    _own_read,
    _own_write,
    suffixes=(".jsonl", ".ndjson"),
)


def _tab_fits(look: Look) -> bool:
    return {"doc_id", "annotations", "text"} <= look.keys or "entity_mentions" in look.keys


def _tab_read(path: Path) -> Iterator[CorpusDocument | CorpusProblem]:
    return read(path, _tab_marks, id_=lambda one: one.get("doc_id"))


def _tab_marks(one: Object) -> tuple[SourceMark, ...] | None:
    annotators = one.get("annotations")
    if not isinstance(annotators, Mapping):
        return None
    found: dict[SourceMark, None] = {}
    for annotator in annotators.values():
        mentions = annotator.get("entity_mentions") if isinstance(annotator, Mapping) else None
        if not isinstance(mentions, list):
            raise MalformedRecord("an annotator has no entity_mentions")
        masked = [m for m in mentions if not isinstance(m, Mapping) or m.get("identifier_type") != "NO_MASK"]
        marks = document_marks(masked, start="start_offset", end="end_offset", type_="entity_type", words="span_text")
        found.update(dict.fromkeys(marks))
    return tuple(found)


TAB = CorpusFormat("tab", "the Text Anonymization Benchmark's JSON", _tab_fits, _tab_read, scheme="tab")
