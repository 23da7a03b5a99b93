"""incognote beside another redactor of pages: the worker's answers, its memory, and the report."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from incognote_benchmarks.pages.peers import Redactor, reports, resident_mb

_HOLDS = "import sys; kept = bytearray(60 * 2**20); print('ready', flush=True); sys.stdin.readline()"
_STARTS = f"""
import subprocess, sys
kept = bytearray(60 * 2**20)
subprocess.run([sys.executable, "-c", {_HOLDS!r}], check=True)
"""


def test_the_worker_of_incognote_says_what_it_removes_and_what_it_takes(tmp_path: Path) -> None:
    page = Image.new("L", (570, 100), "white")
    draw = ImageDraw.Draw(page)
    draw.text((12, 12), "Patient: Ottoline Quackenbush", font=ImageFont.load_default(26), fill="black")
    draw.text((12, 54), "Asthma, stable. Inhaler as needed.", font=ImageFont.load_default(26), fill="black")
    page.save(tmp_path / "page.png", dpi=(200, 200))
    with Redactor("incognote", sys.executable, {}) as redactor:
        said = redactor.redact(tmp_path / "page.png", "en")
        assert redactor.said["version"]
        assert redactor.peak_mb > 50
    assert said["outcome"] in ("release", "review", "quarantine")
    assert any(left < 130 and right > 340 and top < 30 and bottom > 25 for left, top, right, bottom in said["boxes"])
    assert not any(bottom > 75 for *_, bottom in said["boxes"])
    assert said["cpu_seconds"] > 0.1


def test_a_redactor_that_is_not_installed_is_named() -> None:
    with pytest.raises(SystemExit, match="presidio: its process ended with 1"):
        Redactor("presidio", sys.executable, {"model": "no such folder"})


def test_the_memory_of_a_process_includes_that_of_the_programs_that_it_started() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", _STARTS], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert 120 < resident_mb(process.pid) < 250
        process.communicate("end\n")
    assert resident_mb(process.pid) == 0


def _row(redactor: str, gone: bool, **more: Any) -> dict[str, Any]:
    return {
        "redactor": redactor, "name": "a", "level": "clean", "kind": "lab", "outcome": "release", "seconds": 9.0,
        "quality": None, "identifiers": [("PERSON", "print", gone), ("PERSON", "print", True)], "kept": 3, "words": 4,
        "missed": [], "touched": True, "cpu_seconds": 2.0, "megapixels": 4.0, "peak_mb": 100.0, "language": "en",
        "version": "1", "about": "", "ready_seconds": 1.0, **more,
    }  # fmt: skip


def test_the_report_of_each_redactor_has_its_boxes_pages_and_costs_by_level_and_language() -> None:
    spanish = _row("ours", False, name="b", language="es", cpu_seconds=4.0, peak_mb=160.0)
    told = reports([_row("ours", True), _row("theirs", False), spanish, _row("ours", True, level="scan")])
    assert list(told) == ["ours", "theirs"]
    every, english = told["ours"]["clean"]["all pages"], told["ours"]["clean"]["pages in English"]
    assert (every["pages"], every["all boxes gone"]["n"], every["all boxes gone"]["of"]) == (2, 3, 4)
    assert every["pages wholly clean"]["value"] == 0.5
    assert every["processor seconds a page"] == 3.0
    assert every["processor seconds per million pixels"] == 0.75
    assert (english["pages"], english["all boxes gone"]["value"]) == (1, 1.0)
    assert told["ours"]["peak MB"] == 160
    assert told["ours"]["scan"]["all pages"]["pages"] == 1
    assert told["theirs"]["clean"]["all pages"]["pages wholly clean"]["value"] == 0.0
