"""bf16 is used only if a child process shows that it works."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from incognote_training.training import precision


@pytest.mark.parametrize(
    ("code", "printed", "gain"), [(0, "2.5\n", 2.5), (-4, "", 0.0), (0, "no number", 0.0), (1, "9.0\n", 0.0)]
)
def test_a_child_that_dies_or_says_nothing_gains_nothing(
    monkeypatch: pytest.MonkeyPatch, code: int, printed: str, gain: float
) -> None:
    def run(*_: Any, **__: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], code, printed, "")

    monkeypatch.setattr(subprocess, "run", run)
    assert precision.bf16_gain(1) == gain
    assert precision.chosen("auto", 1) == (gain > 1.25)


def test_a_child_that_hangs_gains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_: Any, **__: Any) -> None:
        raise subprocess.TimeoutExpired("x", 1)

    monkeypatch.setattr(subprocess, "run", run)
    assert precision.bf16_gain(1) == 0.0


def test_what_is_asked_for_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "bf16_gain", lambda threads: 0.0)
    assert precision.chosen("bf16", 1)
    assert not precision.chosen("fp32", 1)
