"""Run the command line from tests, in this process or in a separate one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from incognote.cli import app
from incognote.keys import Keyring
from incognote.llm.base import Request
from incognote.testing import LocalServer, text_of
from incognote_benchmarks.script import Script


class Done(NamedTuple):
    """The result of a command: exit code, standard output, and standard error."""

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
    """Run `incognote ARGS` in this process."""

    def call(*args: str | Path, stdin: str | None = None) -> Done:
        result = CliRunner().invoke(app, [str(arg) for arg in args], input=stdin, prog_name="incognote")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Done(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture
def command() -> Command:
    """The command line that runs `incognote ARGS` as a process."""
    return lambda *args: [sys.executable, "-m", "incognote", *map(str, args)]


@pytest.fixture
def process(command: Command) -> Run:
    """Run `incognote ARGS` as a separate process, for tests of standard input, imports, and signals."""

    def call(*args: str | Path, stdin: bytes = b"") -> Done:
        done = subprocess.run(command(*args), input=stdin, capture_output=True, timeout=300, check=False)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@pytest.fixture
def per_patient(tmp_path: Path) -> Path:
    """A policy that shifts dates per patient, so a text without a patient goes to review."""
    path = tmp_path / "per-patient.toml"
    path.write_text('name = "per-patient"\nextends = "strict"\n[types.DATE]\noperator = "date-shift"\n')
    return path


NOTES = {
    "Seen by Dr. Emily Carter on 03/16/2025. Her sister Zuleika brought the keys.": [
        ("PERSON", "Dr. Emily Carter", 12, 24),
        ("PERSON", "sister Zuleika", 51, 58),
    ],
    "Nothing to report today for Mr. Okonkwo.": [("PERSON", "Okonkwo", 32, 39)],
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalServer]:
    """A local language model that can answer for the two notes and for `doctor`. Failed requests are not retried."""
    script = Script(NOTES)

    def answer(request: Request) -> str:
        return '{"animal": "cat", "legs": 4}' if "grey cat" in text_of(request) else script(request)

    monkeypatch.setenv("OPENAI_API_KEY", LocalServer.api_key)
    monkeypatch.setenv("INCOGNOTE_MODEL_ATTEMPTS", "1")
    with LocalServer(answer) as running:
        yield running


@pytest.fixture
def model(server: LocalServer) -> tuple[str, ...]:
    """The options that select the local model."""
    return ("--model", "openai/tiny", "--api-base", server.url)


@pytest.fixture
def index(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index and its key, both set in the environment."""
    Keyring.write_new(tmp_path / "a.key")
    monkeypatch.setenv("INCOGNOTE_KEY_FILE", str(tmp_path / "a.key"))
    monkeypatch.setenv("INCOGNOTE_INDEX", f"sqlite:///{tmp_path / 'index.db'}")
    assert run("index", "create").code == 0
    return tmp_path / "index.db"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the two notes as files."""
    place = tmp_path / "notes"
    place.mkdir()
    for number, text in enumerate(NOTES):
        (place / f"{number}.txt").write_text(text)
    return place
