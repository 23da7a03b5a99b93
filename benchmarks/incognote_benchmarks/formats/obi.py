"""The lines of robust-deid (obi): `{"text", "meta": {"note_id"}, "spans": [{"id", "start", "end", "label"}]}`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from incognote.evaluation.formats import document, jsonrows
from incognote.evaluation.formats.base import CorpusFormat, CorpusWriter, OneFile
from incognote.evaluation.formats.document import CorpusDocument, CorpusProblem, Gold
from incognote.evaluation.formats.source import Look


def _fits(look: Look) -> bool:
    first = look.first
    if not isinstance(first, dict) or not isinstance(first.get("spans"), list):
        return False
    labelled = any(isinstance(span, dict) and "label" in span for span in first["spans"])
    return labelled or (isinstance(first.get("meta"), dict) and "note_id" in first["meta"])


def _read(path: Path) -> Iterator[CorpusDocument | CorpusProblem]:
    return jsonrows.read(
        path, lambda one: document.marks(one["spans"], type_="label") if "spans" in one else None, id_=_id
    )


def _id(one: jsonrows.Object) -> object:
    meta = one.get("meta")
    return meta.get("note_id") if isinstance(meta, dict) else one.get("id")


def _write(path: Path) -> CorpusWriter:
    return OneFile(path, _line)


def _line(one: Gold) -> str:
    spans = [
        {"id": f"T{n}", "start": start, "end": end, "label": type_} for n, (start, end, type_) in enumerate(one.labels)
    ]
    return jsonrows.line({"text": one.text, "meta": {"note_id": one.id, "patient_id": ""}, "spans": spans})


OBI = CorpusFormat(
    "obi", "lines of robust-deid (obi): text, meta.note_id, spans with labels", _fits, _read, _write, "obi"
)
