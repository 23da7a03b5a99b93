"""Composite requests (RedactOR §5): the tokens saved by sending several light texts at once, with equal findings."""

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
    """Read records of light texts one text at a time and together, with the default prompt.

    Args:
        material: light texts; each record takes the next ones.
        sizes: the number of texts in a record.
        records: the number of records of each size.

    Returns:
        For each size: texts, words per text, and per record the calls, input and output tokens both ways (`input`
        without the reply schemas, `input_with_schema` with them). `saved` is the share of input tokens saved, and
        `equal` says whether both ways found the same spans.
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
    """The mean usage per record, and the findings: record, field, start, end, type."""
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
    """A FHIR R4 Bundle of one patient's observations, with one text in the note of each."""
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
    """A reply in contract 2 to a request about one text, or about several numbered texts."""
    asked = request.messages[-1].content
    texts = [(number, text) for number, _, text in _TEXT.findall(asked)]
    if not texts:
        return script(request)
    opening, closing = marks("\n".join(text for _, text in texts))
    answers: dict[str, dict[str, list[str]]] = {}
    for number, text in texts:
        for m in script.visible(text):
            marked = m.phrase[: m.start] + opening + m.words + closing + m.phrase[m.end :]
            answers.setdefault(number, {}).setdefault(m.type, []).append(marked)
    return json.dumps(answers, ensure_ascii=False)
