"""A small release, and reviewers with scripted answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from incognote.evaluation.sampling.draw import SampleRequest, draw
from incognote.evaluation.sampling.key import Key, read_key

KINDS = ("Progress", "Progress", "Discharge", "Radiology")


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A folder of 120 released records with a manifest, as `deid` writes them."""
    folder = tmp_path / "released"
    folder.mkdir()
    rows = [
        {
            "dataType": KINDS[n % 4],
            "note": f"[PERSON] was seen on [DATE]; visit {n}.\nStable, µ = 1.{n}0. 😀 Plan: rest.",
        }
        for n in range(120)
    ]
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    (folder / "3f2a.jsonl").write_bytes(data)
    told = {
        "incognote": "0",
        "records": 120,
        "outputs": [{"name": "3f2a.jsonl", "records": 120, "sha256": sha256(data).hexdigest()}],
    }
    (folder / "manifest.json").write_text(json.dumps(told))
    return folder


@pytest.fixture
def drawn(tmp_path: Path, release: Path) -> Callable[..., tuple[Path, Key]]:
    """Draw from the release. Return the reviewers' folder and the key."""

    def make(bound: float = 0.05, seed: int | None = 3, **words: Any) -> tuple[Path, Key]:
        key = tmp_path / "review.key.json"
        draw([str(release)], tmp_path / "review", key, SampleRequest(bound, seed=seed, **words))
        return tmp_path / "review", read_key(key)

    return make


@pytest.fixture
def decide(tmp_path: Path) -> Callable[..., list[Path]]:
    """Write the files that the pages save, with each reviewer's marks on the given cases and no others."""

    def write(key: Key, *marks: dict[str, list[Sequence[Any]]]) -> list[Path]:
        paths = []
        for number, (given, own) in enumerate(zip(key.sets, marks, strict=True)):
            told = {case.items[number]: own.get(case.case, []) for case in key.cases}
            page = {"kind": "incognote-review", "set": given.name, "reviewer": given.reviewer, "decisions": told}
            paths.append(tmp_path / f"decisions-{number + 1}.json")
            paths[-1].write_text(json.dumps(page))
        return paths

    return write
