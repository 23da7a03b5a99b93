"""Two small pages that can be scored by hand, a writer of JSON lines, and pictures of the pages."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from incognote.pages.nouns import Box

Lines = Callable[..., Path]
NAME, DATE, CODE = (20, 20, 120, 40), (20, 60, 100, 80), (150, 20, 250, 60)
FOLEY, CATHETER, PULLED = (20, 100, 60, 120), (70, 100, 140, 120), (150, 100, 200, 120)
FREE = (20, 20, 80, 40)


def box(sides: Box, type_: str = "", page: int = 1, **more: Any) -> dict[str, Any]:
    """Return a box as a line holds it."""
    named = dict(zip(("x0", "y0", "x1", "y1"), sides, strict=True))
    return {"page": page, **named, **({"type": type_} if type_ else {}), **more}


GOLD = [
    {
        "id": "a.png",
        "boxes": [box(NAME, "PATIENT"), box(DATE, "DATE", ink="handwriting"), box(CODE, "BARCODE", ink="barcode")],
        "words": [box(FOLEY), box(CATHETER), box(PULLED), box((20, 20, 60, 40)), box((65, 20, 120, 40), "PATIENT")],
    },
    {"id": "b.png", "boxes": [], "words": [box(FREE)]},
]
FOUND = [
    {
        "id": "a.png",
        "boxes": [box((18, 18, 122, 42), "PATIENT", score=0.9), box((20, 60, 60, 80), "DATE", score=0.8),
                  box((70, 100, 105, 120), "DATE", score=0.3)],
        "verdict": "review",
    },
    {"id": "b.png", "boxes": [], "verdict": "release"},
]  # fmt: skip


@pytest.fixture
def lines(tmp_path: Path) -> Lines:
    """Write rows to a file with that name and return its path."""

    def write(name: str, rows: list[Any]) -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


@pytest.fixture
def gold(lines: Lines) -> Path:
    return lines("pages.jsonl", GOLD)


@pytest.fixture
def found(lines: Lines) -> Path:
    return lines("found.jsonl", FOUND)


def drawn(*boxes: Box) -> Any:
    """Return a white page of 300 × 160 pixels with vertical strokes in the boxes."""
    page = np.full((160, 300), 255, np.uint8)
    for left, top, right, bottom in boxes:
        for x in range(left + 2, right - 2, 5):
            page[top + 4 : bottom - 4, x : x + 2] = 0
    return page


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """The folder with the pictures of the two pages. The right half of the date has no ink."""
    image = pytest.importorskip("PIL.Image")
    folder = tmp_path / "pages"
    folder.mkdir()
    image.fromarray(drawn(NAME, (20, 60, 60, 80), CODE, FOLEY, CATHETER, PULLED)).save(folder / "a.png")
    image.fromarray(drawn(FREE)).save(folder / "b.png")
    return folder
