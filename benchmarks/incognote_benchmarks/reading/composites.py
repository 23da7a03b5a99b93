"""Composite requests (RedactOR §5): what asking about several light texts at once saves, and that it finds the same."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from typing import Any

from incognote.llm.base import Request
from incognote.nouns import Result
from incognote.prompts import marks
from incognote.sdk import Deidentifier
from incognote.testing import ScriptedLLM
from incognote_benchmarks.reading.counting import Counter
from incognote_benchmarks.reading.material import Heard, Note, findings
from incognote_benchmarks.script import Script, contract_2

SIZES = (4, 8, 16, 24)
_TEXT = re.compile(r"^Text (\d+)\n(=== [0-9a-f]{16} ===)\n(.*?)\n\2$", re.DOTALL | re.MULTILINE)


def composites(material: Sequence[Note], count: Counter, sizes: Sequence[int] = SIZES, records: int = 8) -> list[Any]:
    """Records of light texts read text by text and together, under the default prompt.

    Args:
        material: light texts; each record takes the next ones.
        sizes: how many texts a record holds.
        records: how many records of each size.

    Returns:
        Per size: texts, words per text, and per record the calls, input and output tokens either way (`input` without
        the reply schemas, `input_with_schema` with them), `saved`, the share of input tokens that is not spent, and
        whether both found `equal` spans.
    """
    stream = cycle(material)
    script = Script({note.text: findings(note) for note in material}, write=contract_2)
    made = []
    for size in sizes:
        sets = [list(islice(stream, size)) for _ in range(records)]
        single, found_single = _read(sets, script, count, composite=False)
        together, found_together = _read(sets, script, count, composite=True)
        made.append(
            {
                "texts": size,
                "records": records,
                "words_per_text": sum(note.words for one in sets for note in one) / (size * records),
                "identifiers": sum(len(note.gold) for one in sets for note in one),
                "single": single,
                "composite": together,
                "saved": 1 - together["input"] / single["input"],
                "saved_with_schema": 1 - together["input_with_schema"] / single["input_with_schema"],
                "saved_calls": 1 - together["calls"] / single["calls"],
                "spans": len(found_single),
                "equal": found_single == found_together,
            }
        )
    return made


Found = list[tuple[int, str, int, int, str]]


def _read(
    sets: Sequence[Sequence[Note]], script: Script, count: Counter, *, composite: bool
) -> tuple[dict[str, float], Found]:
    """What records take on average, and what is found: record, field, start, end, type."""
    model = Heard(ScriptedLLM(lambda request: _several(request, script)))
    with Deidentifier(model=model, detectors=("llm",), composite=composite) as deidentifier:
        results = list(deidentifier.batch(bundle(notes) for notes in sets))
    requests = [request for request, _ in model.said]
    n, read = len(sets), count.messages(requests)
    figures = {
        "calls": len(requests) / n,
        "input": read / n,
        "input_with_schema": (read + count.schemas(requests)) / n,
        "output": sum(count(reply) for _, reply in model.said) / n,
    }
    return figures, [spot for i, result in enumerate(results) for spot in _spots(i, result)]


def _spots(record: int, result: Result) -> Found:
    return sorted((record, r.span.field, r.span.start, r.span.end, r.span.type) for r in result.replacements)


def bundle(light: Sequence[Note]) -> Mapping[str, Any]:
    """A FHIR R4 Bundle of one patient's observations, a note of one text in each."""
    coded = {"coding": [{"system": "http://loinc.org", "code": "8716-3"}]}
    return {
        "resourceType": "Bundle",
        "type": "collection",
        "entry": [
            {"resource": {"resourceType": "Observation", "status": "final", "code": coded, "note": [{"text": n.text}]}}
            for n in light
        ],
    }


def _several(request: Request, script: Script) -> str:
    """A reply under contract 2 to a request about one text, or about several under their numbers."""
    asked = request.messages[-1].content
    texts = [(number, text) for number, _, text in _TEXT.findall(asked)]
    if not texts:
        return script(request)
    opening, closing = marks("\n".join(text for _, text in texts))
    said: dict[str, dict[str, list[str]]] = {}
    for number, text in texts:
        for m in script.visible(text):
            marked = m.phrase[: m.start] + opening + m.words + closing + m.phrase[m.end :]
            said.setdefault(number, {}).setdefault(m.type, []).append(marked)
    return json.dumps(said, ensure_ascii=False)
