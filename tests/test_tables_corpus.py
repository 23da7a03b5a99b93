"""The tables of `tests/data/tables`: with their identifiers known, none is left anywhere in the output."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from incognote.cli import app
from incognote.keys import Keyring

FOLDER = Path(__file__).parent / "data/tables"
GOLD = [json.loads(line) for line in (FOLDER / "gold.jsonl").read_text("utf-8").splitlines()]


def _roster(gold: dict[str, Any], folder: Path) -> str:
    path = folder / "known.jsonl"
    path.write_text("".join(json.dumps({"type": one["type"], "value": one["text"]}) + "\n"
                            for one in gold["identifiers"]))  # fmt: skip
    return str(path)


@pytest.mark.parametrize("gold", GOLD, ids=lambda gold: f"{gold['file']} {gold.get('table', '')}")
def test_no_identifier_is_left_in_the_output_of_a_table(gold: dict[str, Any], tmp_path: Path) -> None:
    Keyring.write_new(tmp_path / "key")
    file, common = FOLDER / gold["file"], ["--detectors", "rules", "--key-file", str(tmp_path / "key"),
                                           "--roster", _roster(gold, tmp_path), *gold["options"]]  # fmt: skip
    if file.suffix == ".db":
        out = tmp_path / "out.db"
        done = CliRunner().invoke(app, [
            "worker", f"sqlite:///{file}", "--table", gold["table"], "--destination", f"sqlite:///{out}", "--ledger",
            f"sqlite:///{tmp_path}/ledger.db", "--release", "r1", "--quarantine", str(tmp_path / "held"), "--once",
            *common,
        ])  # fmt: skip
    else:
        out = tmp_path / "out.parquet"
        done = CliRunner().invoke(app, ["deid", str(file), "--out", str(out), *common])
    if gold.get("held"):
        assert done.exit_code == 2
        assert not out.exists()
        return
    assert done.exit_code in (0, 3), done.output
    if file.suffix == ".db":
        with closing(sqlite3.connect(out)) as db:
            read = str(db.execute(f'SELECT * FROM "{gold["table"]}"').fetchall())
    else:
        read = str(pl.read_parquet(out).to_dicts())
    assert "[" in read
    raw = out.read_bytes().decode("utf-8", "replace")
    sought = [one["text"] for one in gold["identifiers"] if one["type"] != "OCCUPATION"]  # a roster skips such words
    assert [text for text in sought if len(text) > 5 and text in read + raw] == []
    assert all(word in read for word in gold.get("keeps", ()))
