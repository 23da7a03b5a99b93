"""Finished cells over invented notes, in the files that an experiment writes. One note tries to break the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.evaluation.experiments.cell import hash_of_path
from incognote.evaluation.experiments.results import CellHead, Results, ScoredLabel
from incognote.evaluation.experiments.seal import Seal
from incognote.evaluation.report.experiment import WrittenReport, write_report

HOSTILE = "</script></pre><img src=x onerror=\"alert(1)\"> $title \u202e\x00 & 'Hale'"
SURNAMES = "Abara Bergström Castellano Dimitriou Eklund Fontaine Grabowski Haugen Ivanova Jankauskas Kowalski Lindqvist"

Cells = Callable[..., Path]


def notes() -> list[dict[str, Any]]:
    """Twelve notes with a clinician and a date each, one of them hostile throughout, and three notes without PHI."""
    rows: list[dict[str, Any]] = []
    for number, name in enumerate(SURNAMES.split()):
        text = f"{name} looked at the wound on 3/{number + 1}."
        spans = [(0, len(name), "CLINICIAN"), (text.index("3/"), len(text) - 1, "DATE")]
        if number == 5:
            spans.append((len(text) + 1, len(text) + 1 + len(HOSTILE), "PATIENT"))
            text = f"{text} {HOSTILE}"
        rows.append({"id": f"n<{number}>", "text": text, "spans": spans})
    rows += [
        {"id": f"clean{number}", "text": f"Foley out, no fever, day {number}.", "spans": []} for number in range(3)
    ]
    for row in rows:
        row["spans"] = [dict(zip(("start", "end", "type"), span, strict=True)) for span in row["spans"]]
    return rows


def found(row: dict[str, Any], passes: int) -> list[ScoredLabel]:
    """Dates at 0.6; clinicians at 0.9, every third in the second pass only; a catheter in the notes without PHI."""
    number = int("".join(filter(str.isdigit, row["id"])))
    made = [ScoredLabel(s["start"], s["end"], s["type"], 0.6) for s in row["spans"] if s["type"] == "DATE"]
    if number % 3 or passes == 2:
        made += [ScoredLabel(s["start"], s["end"], s["type"], 0.9) for s in row["spans"] if s["type"] == "CLINICIAN"]
    return made or [ScoredLabel(0, 5, "PERSON", 0.6)]


@pytest.fixture
def cells(tmp_path: Path) -> Cells:
    """Write a results folder with one cell per number of passes and one without a model, and return its path."""
    return lambda *args, **named: write(tmp_path, *args, **named)


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> WrittenReport:
    """The report of these cells, with a hostile corpus name."""
    pytest.importorskip("matplotlib", reason="needs the extra evaluation")
    place = tmp_path_factory.mktemp("report")
    return write_report(write(place, name=HOSTILE), place / "out", resamples=50)


def write(place: Path, split: str = "dev", name: str = "notes", passes: tuple[int, ...] = (1, 2)) -> Path:
    """Write the corpus and the results folder."""
    folder = place / "tiny.results"
    corpus = place / "notes.jsonl"
    rows = notes()
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    results = Results(folder)
    results.cells.mkdir(parents=True)
    opening = Seal(corpus).open("spec", "run", "Ada") if split == "test" else None
    for number in (0, *passes):
        facts: dict[str, Any] = {"corpus": hash_of_path(corpus), "detectors": ["rules"], "code": "0.1+abc"}
        label = f"{name}:rules"
        if number:
            facts |= {"detectors": ["llm"], "model": "openai/tiny", "prompt": "f" * 16, "seed": 0}
            facts["asking"] = {"chunk_words": 256, "passes": number, "votes": 1}
            label = f"{name}:model:openai/tiny:extract/v2:w256:p{number}:v1:s0"
        head = CellHead(
            key=f"{number}" * 16,
            label=label,
            spec="spec",
            corpus={"name": name, "path": results.relative(corpus), "synthetic": True, "split": split,
                    "documents": len(rows)},
            facts=facts,
            scores={},
            taken={"calls": number, "from_recording": 0, "tokens_in": 900 * number, "tokens_out": 90 * number,
                   "usd": 0.0},
            failed=0,
            opening=None if opening is None else (opening.number, opening.hash),
        )  # fmt: skip
        results.keep(head, [row["id"] for row in rows], [found(row, number or 1) for row in rows])
    return folder
