"""`incognote distill evaluate` and related commands, as far as they work without torch."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from typer.testing import CliRunner

from incognote.errors import MissingExtra, SettingError
from incognote_training.train_commands import app  # adds its commands to those of `commands`

NOTES = Path(__file__).parents[1] / "data" / "notes.jsonl"


def test_the_commands_are_those_of_distill() -> None:
    said = CliRunner().invoke(app, ["--help"]).output
    assert all(name in said for name in ("train", "evaluate", "export", "ablate", "sizes"))


def test_a_bundle_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["evaluate", str(tmp_path), "--gold", str(NOTES)])
    assert isinstance(done.exception, SettingError)


def test_training_without_torch_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    done = CliRunner().invoke(app, ["export", str(tmp_path), "--out", str(tmp_path / "out")])
    assert isinstance(done.exception, MissingExtra)
    assert "incognote[train]" in str(done.exception)
