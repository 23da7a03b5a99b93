"""Results of Presidio's analyzer: `[{"entity_type", "start", "end", "score"}]` per text, with offsets in code points.

The analyzer's own answer names neither the text nor the document. So two forms are read:
    a folder of .json files with one answer each, named like the documents,
    lines, or a list, of {"id", "text", "analyzer_results": [...]}. A request to Presidio's anonymizer has these names.
    `recognizer_results`, the name in its batch engine, and `results` are also read. `id` and `text` are optional.

Samples of presidio-research: `{"full_text", "spans": [{"entity_type", "entity_value", "start_position",
"end_position"}]}`, as a list or as lines. A sample without an id (`sample_id`) is identified by its number in the file.
`template_id` names the sentence it was made from, not the sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from incognote.errors import MalformedRecord
from incognote.evaluation.formats import document, jsonrows
from incognote.evaluation.formats.base import CorpusFormat, CorpusWriter, OneFile
from incognote.evaluation.formats.document import CorpusDocument, CorpusProblem, Gold, SourceMark
from incognote.evaluation.formats.source import File, Look, files, rows

_RESULTS = ("analyzer_results", "recognizer_results", "results")


def _fits(look: Look) -> bool:
    return bool({"analyzer_results", "recognizer_results"} & look.keys) or {
        "entity_type", "start", "end", "score"
    } <= look.keys  # fmt: skip


def _read(path: Path) -> Iterator[CorpusDocument | CorpusProblem]:
    for file in files(path, (".json", ".jsonl", ".ndjson")):
        answer = _answer(file)
        if answer is not None:
            yield _document(file, answer)
        else:
            yield from jsonrows.read(file.path, _marks, id_=_id, alone=_listed)


def _answer(file: File) -> list[Any] | None:
    """The single answer in a file: a list of results, which may be empty."""
    if file.path.suffix.lower() != ".json":
        return None
    results = []
    for _, value in rows(file):
        if not isinstance(value, dict) or "entity_type" not in value:
            return None
        results.append(value)
    return results


def _document(file: File, results: list[Any]) -> CorpusDocument:
    try:
        return CorpusDocument(file.name, file.name, marks=document.marks(results, type_="entity_type"))
    except MalformedRecord as error:
        return CorpusDocument(file.name, file.name, fault=str(error))


def _listed(value: Any) -> Any:
    """Turn a line that is a bare answer into an object."""
    return {"results": value} if isinstance(value, list) else value


def _id(one: jsonrows.Object) -> object:
    return one.get("id", one.get("key"))


def _marks(one: jsonrows.Object) -> tuple[SourceMark, ...] | None:
    found = next((one[name] for name in _RESULTS if name in one), None)
    return None if found is None else document.marks(found, type_="entity_type")


def _write(path: Path) -> CorpusWriter:
    return OneFile(path, _line)


def _line(one: Gold) -> str:
    results = [{"entity_type": type_, "start": start, "end": end, "score": 1.0} for start, end, type_ in one.labels]
    return jsonrows.line({"id": one.id, "text": one.text, "analyzer_results": results})


PRESIDIO = CorpusFormat(
    "presidio", "answers of Presidio's analyzer, as JSON lines or a folder of them", _fits, _read, _write, "presidio"
)


def _fits_samples(look: Look) -> bool:
    return "full_text" in look.keys


def _read_samples(path: Path) -> Iterator[CorpusDocument | CorpusProblem]:
    return jsonrows.read(
        path,
        lambda one: document.marks(
            one["spans"], start="start_position", end="end_position", type_="entity_type", words="entity_value"
        ) if "spans" in one else None,
        id_=lambda one: one.get("sample_id"),
        text=lambda one: one.get("full_text"),
    )  # fmt: skip


def _write_samples(path: Path) -> CorpusWriter:
    return OneFile(path, _sample, head="[\n", between=",\n", tail="\n]\n")


def _sample(one: Gold) -> str:
    spans = [
        {"entity_type": type_, "entity_value": one.text[start:end], "start_position": start, "end_position": end}
        for start, end, type_ in one.labels
    ]
    return jsonrows.line({"full_text": one.text, "masked": None, "spans": spans, "sample_id": one.id}).rstrip("\n")


SAMPLES = CorpusFormat(
    "presidio-research",
    "samples of presidio-research: full_text and spans",
    _fits_samples,
    _read_samples,
    _write_samples,
    "presidio",
)
