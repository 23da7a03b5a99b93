"""The commands, from a configuration to scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("torch", reason="needs the extra `train`: pip install 'incognote[train]'")
pytest.importorskip("onnx", reason="needs the extra `train`: pip install 'incognote[train]'")
pytest.importorskip("matplotlib", reason="needs the extra `evaluation`: pip install 'incognote[evaluation]'")

from incognote_training.train_commands import app


def run(*words: str) -> str:
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_train_export_evaluate(setting: Path, tmp_path: Path) -> None:
    out, bundle, gold = str(tmp_path / "run"), str(tmp_path / "bundle"), str(setting.parent / "dev.jsonl")
    assert "40 steps" in run("train", str(setting), "--out", out, "--steps", "40")
    assert (tmp_path / "run" / "history.png").is_file()
    assert "bytes" in run("export", out, "--out", bundle)
    said = run("evaluate", bundle, "--gold", gold, "--synthetic", "--plot", str(tmp_path / "scores.png"))
    assert (tmp_path / "scores.png").read_bytes().startswith(b"\x89PNG")
    assert "8 texts, synthetic" in said
    told = json.loads(run("evaluate", bundle, "--gold", gold, "--fast", "--json"))
    assert {"rules", "encoder", "both"} <= set(told["data"])


def test_ablate_prints_a_row_per_variant(setting: Path, tmp_path: Path) -> None:
    words = ("ablate", str(setting), "--out", str(tmp_path), "--variant", "without-crf", "--seeds", "1", "--steps", "2")
    said = run(*words)
    assert said.splitlines()[0].startswith("whole ")
    assert said.splitlines()[1].startswith("without-crf ")
