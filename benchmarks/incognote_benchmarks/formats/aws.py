"""Answers of Amazon Comprehend Medical's DetectPHI: `{"Entities": [{"BeginOffset", "EndOffset", "Text", "Type"}]}`.

Offsets are code points (the service's reference: "the UTF-8 code point in the string"). An answer names no document. A
folder has one answer per file, named like the document (NAME.json, NAME.txt.out). Lines may have `id` or `File`, and
`text`. DetectEntities returns all categories; entities in a category other than PROTECTED_HEALTH_INFORMATION are
ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from incognote.evaluation.formats import document, jsonrows
from incognote.evaluation.formats.base import CorpusFormat
from incognote.evaluation.formats.document import CorpusDocument, CorpusProblem, SourceMark
from incognote.evaluation.formats.source import Look

_PHI = "PROTECTED_HEALTH_INFORMATION"


def _fits(look: Look) -> bool:
    return "Entities" in look.keys


def _read(path: Path) -> Iterator[CorpusDocument | CorpusProblem]:
    return jsonrows.read(path, _marks, id_=_id, suffixes=(".json", ".jsonl", ".ndjson", ".out"))


def _id(one: jsonrows.Object) -> object:
    name = one.get("id", one.get("File"))
    return name.removesuffix(".txt") if isinstance(name, str) else name


def _marks(one: jsonrows.Object) -> tuple[SourceMark, ...] | None:
    entities = one.get("Entities")
    if isinstance(entities, list):
        entities = [e for e in entities if not isinstance(e, Mapping) or e.get("Category", _PHI) == _PHI]
    return None if entities is None else document.marks(
        entities, start="BeginOffset", end="EndOffset", type_="Type", words="Text"
    )  # fmt: skip


AWS = CorpusFormat("aws", "answers of Amazon Comprehend Medical (DetectPHI)", _fits, _read, scheme="aws")
