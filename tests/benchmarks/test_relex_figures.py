"""The published figures of relexicalization are those that the script measured."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("relex_figures", ROOT / "benchmarks" / "scripts" / "relex_figures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_shows_the_measured_figures(script: ModuleType) -> None:
    corpora = json.loads((ROOT / "docs" / "measured" / "relex.json").read_text(encoding="utf-8"))["corpora"]
    page = (ROOT / "docs" / "relex-metrics.md").read_text(encoding="utf-8")
    assert script.tables(corpora) in page
    assert {"notes", "blind", "blind2"} <= set(corpora)


def test_tables_are_replaced_and_the_rest_of_a_page_stays(script: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{script.START}stale\n{script.END}after\n", encoding="utf-8")
    figure = {"value": -0.5, "low": -1.0, "high": 0.25, "of": 1234}
    run = {"notes": 3, "held": 1, "found": {"missed": figure}, "time": {"ages": figure | {"value": None}}}
    script.write_tables(page, {"mine": {"gold": run, "detected": run | {"held": 0}}})
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| notes scored, held | 3, 1 | 3, 0 |" in text
    assert "| mentions missed | −0.500 [−1.000, 0.250] (n = 1,234) | −0.500" in text
    assert "| ages that agree with dates | – | – |" in text
    assert "stale" not in text
