"""The Text Anonymization Benchmark (Pilán et al., Computational Linguistics 2022): a JSON list of court cases.

A case has annotators, each with mentions. What counts as to be found is what any annotator marked for masking, as a
direct or a quasi identifier: recall is then that of everything an expert wanted gone. Mentions under NO_MASK are left
out, and the same stretch under the same type counts once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from incognote.errors import MalformedRecord
from incognote.evaluation.formats import document, jsonrows
from incognote.evaluation.formats.base import Format
from incognote.evaluation.formats.document import Document, Mark, Problem
from incognote.evaluation.formats.source import Look


def _fits(look: Look) -> bool:
    return {"doc_id", "annotations", "text"} <= look.keys or "entity_mentions" in look.keys


def _read(path: Path) -> Iterator[Document | Problem]:
    return jsonrows.read(path, _marks, id_=lambda one: one.get("doc_id"))


def _marks(one: jsonrows.Object) -> tuple[Mark, ...] | None:
    annotators = one.get("annotations")
    if not isinstance(annotators, Mapping):
        return None
    found: dict[Mark, None] = {}
    for annotator in annotators.values():
        mentions = annotator.get("entity_mentions") if isinstance(annotator, Mapping) else None
        if not isinstance(mentions, list):
            raise MalformedRecord("an annotator has no entity_mentions")
        masked = [m for m in mentions if not isinstance(m, Mapping) or m.get("identifier_type") != "NO_MASK"]
        said = document.marks(masked, start="start_offset", end="end_offset", type_="entity_type", words="span_text")
        found.update(dict.fromkeys(said))
    return tuple(found)


TAB = Format("tab", "the Text Anonymization Benchmark's JSON", _fits, _read, scheme="tab")
