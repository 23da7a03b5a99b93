"""The lines of KatherLab's deidentifier (LLM-Anonymizer):
`{"document_id", "text", "entities": [{"start", "end", "entity_type", "text"}]}`. `label` is read like `entity_type`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from incognote.evaluation.formats import document, jsonrows
from incognote.evaluation.formats.base import CorpusFormat, CorpusWriter, OneFile
from incognote.evaluation.formats.document import CorpusDocument, CorpusProblem, Gold
from incognote.evaluation.formats.source import Look


def _fits(look: Look) -> bool:
    return "entities" in look.keys and bool({"document_id", "text"} & look.keys)


def _read(path: Path) -> Iterator[CorpusDocument | CorpusProblem]:
    return jsonrows.read(
        path,
        lambda one: document.marks(one["entities"], type_=("entity_type", "label")) if "entities" in one else None,
        id_=lambda one: one.get("document_id"),
    )


def _write(path: Path) -> CorpusWriter:
    return OneFile(path, _line)


def _line(one: Gold) -> str:
    spans = [
        {"start": start, "end": end, "entity_type": type_, "text": one.text[start:end]}
        for start, end, type_ in one.labels
    ]
    return jsonrows.line({"document_id": one.id, "text": one.text, "entities": spans})


KATHERLAB = CorpusFormat(
    "katherlab",
    "lines of KatherLab's LLM-Anonymizer: document_id, text, entities",
    _fits,
    _read,
    _write,
    "katherlab",
)
