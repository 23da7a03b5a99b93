"""The command line as a test calls it: in this process, or as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from incognote.cli import app


class Done(NamedTuple):
    """What a command left: exit code, standard output and error."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, Any]:
        """The `data` of its `--json` line."""
        told = json.loads(self.out)
        assert told["ok"], told
        found: dict[str, Any] = told["data"]
        return found


Run = Callable[..., Done]
Command = Callable[..., list[str]]


@pytest.fixture
def run() -> Run:
    """`incognote ARGS` in this process."""

    def call(*args: str | Path, stdin: str | None = None) -> Done:
        result = CliRunner().invoke(app, [str(arg) for arg in args], input=stdin, prog_name="incognote")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Done(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture
def command() -> Command:
    """The command line of `incognote ARGS` as a process."""
    return lambda *args: [sys.executable, "-m", "incognote", *map(str, args)]


@pytest.fixture
def process(command: Command) -> Run:
    """`incognote ARGS` as a process of its own, for what only that shows: the standard input, imports, signals."""

    def call(*args: str | Path, stdin: bytes = b"") -> Done:
        done = subprocess.run(command(*args), input=stdin, capture_output=True, timeout=300, check=False)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@pytest.fixture
def per_patient(tmp_path: Path) -> Path:
    """A policy that shifts dates per patient: a text without one goes to review."""
    path = tmp_path / "per-patient.toml"
    path.write_text('name = "per-patient"\nextends = "strict"\n[types.DATE]\noperator = "date-shift"\n')
    return path
