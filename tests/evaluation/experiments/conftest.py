"""Invented notes with one clinician each, a model that knows them, and an experiment with both."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from incognote.testing import LocalServer
from incognote_benchmarks.script import Script

SURNAMES = "Abara Bergström Castellano Dimitriou Eklund Fontaine Grabowski Haugen Ivanova Jankauskas Kowalski Lindqvist"
NOTES = {
    f"{surname} looked at the wound, visit {n}; no fever.": surname for n in (1, 2) for surname in SURNAMES.split()
}

Write = Callable[..., Path]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A file of 24 notes."""
    path = tmp_path / "notes.jsonl"
    rows = [
        {"id": f"n{i}", "text": text, "spans": [{"start": 0, "end": len(name), "type": "CLINICIAN"}]}
        for i, (text, name) in enumerate(NOTES.items())
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def script() -> Script:
    return Script({text: [("CLINICIAN", name, 0, len(name))] for text, name in NOTES.items()})


@pytest.fixture
def server(script: Script, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalServer]:
    monkeypatch.setenv("OPENAI_API_KEY", LocalServer.api_key)
    with LocalServer(script) as running:
        yield running


@pytest.fixture
def written(tmp_path: Path, notes: Path) -> Write:
    """Write the experiment, with other values for some keys, and return its path."""

    def write(**other: Any) -> Path:
        split = other.pop("split", "dev")
        system = {"name": "model", "detectors": ["llm"], "settings": {"model_attempts": 1}}
        spec = {
            "name": "tiny",
            "corpora": [{"name": "notes", "path": notes.name, "synthetic": True, "split": split}],
            "systems": [system],
            "models": [{"name": "openai/tiny"}],
            "passes": [1],
            **other,
        }
        path = tmp_path / "tiny.yaml"
        path.write_text(yaml.safe_dump(spec), encoding="utf-8")
        return path

    return write
