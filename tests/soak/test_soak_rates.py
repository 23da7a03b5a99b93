"""What measures the workers' rate measures it."""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path

import pytest

from .processes import NOTES

SCRIPT = Path(__file__).parents[2] / "scripts" / "worker_rates.py"


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="the system does not tell of its processes")
def test_the_rates_of_workers_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = f"--records 24 --encoder-records 0 --workers 1 --ledgers sqlite --out {tmp_path}/worker.json"
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), str(NOTES), *words.split()])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    told = json.loads((tmp_path / "worker.json").read_text(encoding="utf-8"))
    (measured,) = told["measured"]
    (rate,) = measured["rates"]
    assert (measured["detectors"], measured["ledger"]) == (["rules"], "sqlite")
    assert (rate["workers"], rate["records"], rate["records_of_each"]) == (1, 24, [24])
    assert rate["records_per_second"] > 0
    assert rate["times_that_of_1"] == 1.0
    assert told["cores"] == os.cpu_count()
