"""Results of John Snow Labs' Healthcare NLP, in its three forms of JSON.

    annotations   {"document": [{"result": TEXT}], "ner_chunk": [{"begin", "end", "result", "metadata": {"entity"}}]}:
                  the output of a light pipeline's fullAnnotate, one object per document. The chunk column may have any
                  name that contains `chunk`. The merged one (`ner_chunk`, otherwise the last) is read
    flat          {"predictions": [{"document", "ner_chunk", "begin", "end", "ner_label"}]}: answers of its endpoints,
                  with the rows of all texts in one list, separated by their text
    lines         the same without `document`, with the rows of one text per line

Offsets are those of the Java virtual machine (UTF-16 units), and `end` is the offset of the last character.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from incognote.errors import MalformedRecord
from incognote.evaluation.formats import document, jsonrows
from incognote.evaluation.formats.base import CorpusFormat
from incognote.evaluation.formats.document import CorpusDocument, CorpusProblem, SourceMark
from incognote.evaluation.formats.source import Look, files, row, rows

_FLAT = "predictions"


def _fits(look: Look) -> bool:
    first = look.first
    if _FLAT in look.keys:
        return b'"ner_chunk"' in look.head
    return isinstance(first, dict) and _column(first) is not None


def _column(one: Mapping[str, Any]) -> str | None:
    """The name of the column with chunks."""
    columns = [name for name, value in one.items() if "chunk" in name and isinstance(value, list)]
    return "ner_chunk" if "ner_chunk" in columns else columns[-1] if columns else None


def _read(path: Path) -> Iterator[CorpusDocument | CorpusProblem]:
    for file in files(path, (".json", ".jsonl", ".ndjson")):
        shared = _texts(file.path)
        if shared is None:
            yield from jsonrows.read(file.path, _marks, id_=lambda one: one.get("id"), text=_text, unit="utf-16")
            continue
        for number, (text, found) in enumerate(shared.items(), 1):
            try:
                made, fault = _flat(found), None
            except MalformedRecord as error:
                made, fault = None, str(error)
            yield CorpusDocument(str(number), f"document {number}", text, made, fault, "utf-16", numbered=True)


def _texts(path: Path) -> dict[str, list[Any]] | None:
    """The rows by text, if one list has the rows of several texts."""
    if path.suffix.lower() != ".json":
        return None
    by_text: dict[str, list[Any]] = {}
    (file,) = files(path, ())
    for _, value in rows(file):
        try:
            found = row(value).get(_FLAT)
        except MalformedRecord:
            return None
        if not isinstance(found, list):
            return None
        if not all(isinstance(one, dict) and isinstance(one.get("document"), str) for one in found):
            return None
        for one in found:
            by_text.setdefault(one["document"], []).append(one)
    return by_text


def _text(one: jsonrows.Object) -> object:
    said = one.get("document", one.get("text"))
    if isinstance(said, list) and said and isinstance(said[0], Mapping):
        said = said[0].get("result")
    return said


def _marks(one: jsonrows.Object) -> tuple[SourceMark, ...] | None:
    if _FLAT in one:
        return _flat(one[_FLAT])
    column = _column(one)
    if column is None:
        return None
    chunks = []
    for chunk in one[column]:
        metadata = chunk.get("metadata") if isinstance(chunk, Mapping) else None
        entity = metadata.get("entity") if isinstance(metadata, Mapping) else None
        chunks.append({**chunk, "entity": entity} if isinstance(chunk, Mapping) else chunk)
    return document.marks(chunks, start="begin", type_="entity", words="result", inclusive=True)


def _flat(found: object) -> tuple[SourceMark, ...]:
    return document.marks(found, start="begin", type_=("ner_label", "entity"), words="ner_chunk", inclusive=True)


JOHN_SNOW = CorpusFormat("johnsnow", "results of John Snow Labs' Healthcare NLP", _fits, _read, scheme="johnsnow")
