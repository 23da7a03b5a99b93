"""UIMA CAS JSON 0.4, as INCEpTION exports it: a folder with one file per document.

The files are read as plain JSON (dkpro-cassis would first build the whole type system). The text is the first view's
`sofaString`, and offsets are UTF-16 units. An annotation is any feature structure with `begin` and `end`. UIMA's own
types and DKPro Core's (tokens, sentences, metadata) are ignored, except its named entities. The type is the first of
the features in `_FEATURES` that holds a string. If there is none, it is the layer's name, so that an unlabeled
annotation is not lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from incognote.errors import MalformedRecord
from incognote.evaluation.formats import document, jsonrows
from incognote.evaluation.formats.base import CorpusFormat, CorpusWriter, Folder
from incognote.evaluation.formats.document import CorpusDocument, CorpusProblem, Gold, SourceMark
from incognote.evaluation.formats.source import Look

_FEATURES = ("label", "kind", "value", "type", "category", "entity_type")
_SOFA, _LAYER = "uima.cas.Sofa", "custom.Span"
_ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
_PLUMBING = ("uima.", "de.tudarmstadt.", "org.dkpro.")


def _fits(look: Look) -> bool:
    return "%FEATURE_STRUCTURES" in look.keys or "%TYPES" in look.keys


def _read(path: Path) -> Iterator[CorpusDocument | CorpusProblem]:
    return jsonrows.read(path, _marks, id_=lambda one: None, text=_text, unit="utf-16")


def _structures(one: jsonrows.Object) -> Sequence[Mapping[str, Any]]:
    """The feature structures. Older files store them by id instead of in a list."""
    found = one.get("%FEATURE_STRUCTURES")
    if isinstance(found, Mapping):
        found = [{**value, "%ID": int(key)} for key, value in found.items() if isinstance(value, Mapping)]
    return [fs for fs in found if isinstance(fs, Mapping)] if isinstance(found, list) else []


def _sofa(one: jsonrows.Object) -> Mapping[str, Any]:
    return next(
        (fs for fs in _structures(one) if fs.get("%TYPE") == _SOFA and isinstance(fs.get("sofaString"), str)), {}
    )


def _text(one: jsonrows.Object) -> object:
    return _sofa(one).get("sofaString")


def _marks(one: jsonrows.Object) -> tuple[SourceMark, ...] | None:
    if "%FEATURE_STRUCTURES" not in one:
        raise MalformedRecord("no feature structures")
    view = _sofa(one).get("%ID")
    spans = []
    for fs in _structures(one):
        layer = fs.get("%TYPE")
        if not isinstance(layer, str) or fs.get("@sofa", view) != view or "end" not in fs:
            continue
        if layer.startswith(_PLUMBING) and layer != _ENTITY:
            continue
        kind = next((fs[name] for name in _FEATURES if isinstance(fs.get(name), str) and fs[name]), None)
        spans.append({"start": fs.get("begin", 0), "end": fs["end"], "type": kind or layer.rpartition(".")[2]})
    return document.marks(spans)


def _write(path: Path) -> CorpusWriter:
    return Folder(path, _files)


def _files(one: Gold) -> dict[str, str]:
    feature = {"%NAME": "label", "%RANGE": "uima.cas.String"}
    structures: list[dict[str, Any]] = [
        {"%ID": 1, "%TYPE": _SOFA, "sofaNum": 1, "sofaID": "_InitialView", "mimeType": "text", "sofaString": one.text}
    ]
    units = [0]
    for character in one.text:
        units.append(units[-1] + (2 if character > "\uffff" else 1))
    for number, (start, end, type_) in enumerate(one.labels, 2):
        structures.append(
            {"%ID": number, "%TYPE": _LAYER, "@sofa": 1, "begin": units[start], "end": units[end], "label": type_}
        )
    members = [fs["%ID"] for fs in structures[1:]]
    cas = {
        "%TYPES": {_LAYER: {"%NAME": _LAYER, "%SUPER_TYPE": "uima.tcas.Annotation", "label": feature}},
        "%FEATURE_STRUCTURES": structures,
        "%VIEWS": {"_InitialView": {"%SOFA": 1, "%MEMBERS": members}},
    }
    return {".json": json.dumps(cas, ensure_ascii=False, indent=1)}


INCEPTION = CorpusFormat("inception", "a folder of UIMA CAS JSON 0.4 (INCEpTION)", _fits, _read, _write, "inception")
