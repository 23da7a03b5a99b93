"""Time and memory of scoring: the default metrics of `incognote evaluate`, on one core.

    python -m incognote_benchmarks.detection.scoring [--notes NOTES.jsonl] [--documents N] [--characters N] [--out JSON]

Documents are annotated notes, joined and cut to size. Predictions are their gold with a tenth left out and some ends
moved. A tenth of the documents is also scored on its own. Each run is a separate process, so the growth in memory is
what scoring keeps. This is a benchmark, not a test: it asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from incognote.errors import UsageError
from incognote.evaluation.corpus import Gold, LabeledSpan, read_gold
from incognote_benchmarks.detection import NOTES, fresh
from incognote_benchmarks.detection.memory import peak_mb

_PROGRAM = "incognote_benchmarks.detection.scoring"


def bench(notes: Path = NOTES, documents: int = 10_000, characters: int = 5_000) -> dict[str, Any]:
    """Run the measurement.

    Args:
        notes: annotated texts in any format of `evaluation.formats`.
        documents, characters: the number of documents, and the length of each.

    Returns:
        The environment. For each number of documents: seconds of processor and wall time, and the peak memory in MB
        (2**20 bytes), before the first document and in total.

    Raises:
        UsageError: the notes cannot be read or have no text.
    """
    gold = [note for note in read_gold(notes) if isinstance(note, Gold)]
    if not any(note.text for note in gold):
        raise UsageError(f"{notes.name}: no text to make documents from")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        runs = {}
        for n in sorted({max(1, documents // 10), documents}):
            spans = _write(gold, place, n, characters)
            scored = fresh.measured("-m", _PROGRAM, "--score", str(place))
            runs[f"{n}"] = {"documents": n, "gold_spans": spans, **scored}
    return {
        "what": "scoring with the default metrics, 1,000 resamples, one thread",
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "corpus": {"made_of": notes.name, "synthetic": notes == NOTES or None, "characters": characters},
        "runs": runs,
    }


def _write(notes: list[Gold], place: Path, documents: int, characters: int) -> int:
    """Write gold and predictions. Returns the number of gold spans."""
    chance, total = random.Random(0), 0  # noqa: S311 -- benchmark data, not a secret
    with (place / "gold.jsonl").open("w") as gold, (place / "found.jsonl").open("w") as found:
        for number in range(documents):
            text, spans = _document(notes, characters, chance)
            total += len(spans)
            kept = [s._replace(end=max(s.start + 1, s.end - chance.choice((0, 0, 0, 2)))) for s in spans]
            kept = [s for s in kept if chance.random() < 0.9]
            rows = [{**s._asdict(), "score": round(chance.uniform(0.5, 1), 4)} for s in kept]
            print(json.dumps({"id": number, "text": text, "spans": [s._asdict() for s in spans]}), file=gold)
            print(json.dumps({"id": number, "spans": rows}), file=found)
    return total


def _document(notes: list[Gold], characters: int, chance: random.Random) -> tuple[str, list[LabeledSpan]]:
    parts: list[str] = []
    spans: list[LabeledSpan] = []
    length = 0
    while length < characters:
        note = chance.choice(notes)
        spans += [LabeledSpan(s.start + length, s.end + length, s.type) for s in note.labels]
        parts += [note.text, "\n"]
        length += len(note.text) + 1
    return "".join(parts)[:characters], [s for s in spans if s.end <= characters]


def _score(place: Path) -> dict[str, Any]:
    from incognote.evaluation.scores import evaluate

    before, clock, wall = peak_mb(), process_time(), perf_counter()
    report = evaluate(place / "gold.jsonl", place / "found.jsonl")
    return {
        "processor_seconds": round(process_time() - clock, 2),
        "wall_seconds": round(perf_counter() - wall, 2),
        "before_mb": before,
        "peak_mb": peak_mb(),
        "recall": report.figures["recall"].value,
    }


def main(arguments: list[str] | None = None) -> None:
    """Measure and print; write the figures if requested."""
    parser = argparse.ArgumentParser(prog=f"python -m {_PROGRAM}", description="Measure scoring.")
    parser.add_argument("--notes", type=Path, default=NOTES)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--characters", type=int, default=5_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--score", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.score:
        print(json.dumps(_score(given.score)))  # noqa: T201 -- the parent reads it
        return
    text = json.dumps(bench(given.notes, given.documents, given.characters), indent=1)
    print(text)  # noqa: T201 -- this is a program that prints
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
