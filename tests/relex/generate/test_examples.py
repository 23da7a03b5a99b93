"""The table on the documentation page matches the command's output."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "surrogates.md"
SCRIPT = ROOT / "benchmarks" / "scripts" / "surrogate_examples.py"


def test_the_table_of_the_page_is_what_the_command_prints() -> None:
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=True)
    table = done.stdout
    assert table.count("\n") > 40
    assert PAGE.read_text(encoding="utf-8").split("<!-- examples -->\n")[1] == table


def test_nothing_of_an_example_stays() -> None:
    rows = [
        line.strip("| ").split(" | ")
        for line in PAGE.read_text(encoding="utf-8").split("<!-- examples -->\n")[1].splitlines()[2:]
    ]
    assert all(stands != becomes for kind, stands, becomes in rows if kind != "STATE")
