"""The scripts that measure workers and the server work."""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from .processes import NOTES

SCRIPTS = Path(__file__).parents[2] / "benchmarks" / "scripts"
pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="the system does not tell of its processes")


def run(name: str, out: Path, words: str, patched: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run a script and return its JSON."""
    patched.setattr(sys, "argv", [name, str(NOTES), *words.split(), "--out", str(out)])
    runpy.run_path(str(SCRIPTS / name), run_name="__main__")
    told: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    assert told["cores"] == os.cpu_count()
    return told


def test_the_rates_of_workers_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "--records 24 --encoder-records 0 --workers 1 --ledgers sqlite"
    (measured,) = run("worker_rates.py", tmp_path / "worker.json", words, monkeypatch)["measured"]
    (rate,) = measured["rates"]
    assert (measured["detectors"], measured["ledger"]) == (["rules"], "sqlite")
    assert (rate["workers"], rate["records"], rate["records_of_each"]) == (1, 24, [24])
    assert rate["records_per_second"] > 0
    assert rate["times_that_of_1"] == 1.0


def test_the_time_of_answers_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fastapi", reason="the extra `service` is not installed")
    words = "--requests 6 --clients 2 --detectors rules"
    (measured,) = run("api_load.py", tmp_path / "api.json", words, monkeypatch)["measured"]
    assert set(measured["verdicts"]) <= {"release", "review"}
    assert sum(measured["verdicts"].values()) == 6
    assert 0 < measured["p50_ms"] <= measured["p99_ms"]
