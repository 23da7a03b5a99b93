"""Samples of presidio-research: `{"full_text", "spans": [{"entity_type", "entity_value", "start_position",
"end_position"}]}`, a list or lines of them. A sample's number among those of its file serves as its id where it has
none (`sample_id`): `template_id` names the sentence it was filled into, not the sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from incognote.evaluation.formats import document, jsonrows
from incognote.evaluation.formats.base import Format
from incognote.evaluation.formats.document import Document, Gold, Problem
from incognote.evaluation.formats.sink import OneFile, Sink
from incognote.evaluation.formats.source import Look


def _fits(look: Look) -> bool:
    return "full_text" in look.keys


def _read(path: Path) -> Iterator[Document | Problem]:
    return jsonrows.read(
        path,
        lambda one: document.marks(
            one["spans"], start="start_position", end="end_position", type_="entity_type", words="entity_value"
        ) if "spans" in one else None,
        id_=lambda one: one.get("sample_id"),
        text=lambda one: one.get("full_text"),
    )  # fmt: skip


def _write(path: Path) -> Sink:
    return OneFile(path, _item, head="[\n", between=",\n", tail="\n]\n")


def _item(one: Gold) -> str:
    spans = [
        {"entity_type": type_, "entity_value": one.text[start:end], "start_position": start, "end_position": end}
        for start, end, type_ in one.labels
    ]
    return jsonrows.line({"full_text": one.text, "masked": None, "spans": spans, "sample_id": one.id}).rstrip("\n")


SAMPLES = Format(
    "presidio-research", "samples of presidio-research: full_text and spans", _fits, _read, _write, "presidio"
)
