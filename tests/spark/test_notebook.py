"""The example for Spark and Databricks: its cells run one after the other on a session of this machine."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples" / "spark_notes.py"


def test_the_cells_of_the_notebook_run_and_count_every_note(
    spark: SparkSession, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert text.startswith("# Databricks notebook source\n")
    cells = re.split(r"^# COMMAND -+\n", text, flags=re.M)
    assert len(cells) == 6
    with (ROOT / "examples" / "notes.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["note_id"]: row for row in csv.DictReader(file)}
    monkeypatch.setenv("NOTES", str(ROOT / "examples" / "notes.csv"))
    monkeypatch.setenv("CLEAN", str(tmp_path / "clean"))
    # the workers of this session have no key in their environment
    code = cells[3].replace('known="author")', f'known="author", key_file={str(key_file)!r}, detectors=["rules"])')
    assert code != cells[3]
    names: dict[str, object] = {}
    for cell in (*cells[:3], code, *cells[4:]):
        exec(compile(cell, NOTEBOOK.name, "exec"), names)
    said = capsys.readouterr().out
    assert f"{len(rows)} notes: " in said
    assert not any(word in said for row in rows.values() for word in (row["patient_id"], row["note_id"]))
