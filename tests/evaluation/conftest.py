"""Five notes that can be scored by hand (the arithmetic is in `test_scores.py`), and a JSONL writer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GOLD = [
    ("n1", "Ruth Hale, 42", [(0, 9, "PATIENT"), (11, 13, "AGE")]),
    ("n2", "Seen by Dr. Lund 3/5", [(12, 16, "CLINICIAN"), (17, 20, "DATE")]),
    ("n3", "Mercy Hospital MRN 8841", [(0, 14, "HOSPITAL"), (19, 23, "MEDICAL_RECORD_NUMBER")]),
    ("n4", "Foley out", []),
    ("n5", "no fever", []),
]
FOUND = {
    "n1": [(0, 9, "PERSON")],
    "n2": [(8, 11, "OCCUPATION"), (12, 16, "CLINICIAN"), (17, 20, "DATE")],
    "n3": [(0, 5, "CITY"), (19, 23, "GUID")],
    "n4": [(0, 5, "PERSON")],
    "n5": [],
}


def _spelled(row: Any) -> Any:
    """Return a row with its (start, end, type) spans in full."""
    if not isinstance(row, dict) or not isinstance(row.get("spans"), list):
        return row
    spans = [dict(zip(("start", "end", "type"), s, strict=True)) if isinstance(s, tuple) else s for s in row["spans"]]
    return {**row, "spans": spans}


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[[str, list[Any]], Path]:
    """Write rows to a file with that name and return its path. Spans may be (start, end, type)."""

    def write(name: str, rows: list[Any]) -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(_spelled(row)) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


@pytest.fixture
def gold(jsonl: Callable[[str, list[Any]], Path]) -> Path:
    return jsonl("tiny.jsonl", [{"id": i, "text": t, "spans": s} for i, t, s in GOLD])


@pytest.fixture
def found(jsonl: Callable[[str, list[Any]], Path]) -> Path:
    return jsonl("found.jsonl", [{"id": i, "spans": s} for i, s in FOUND.items()])
