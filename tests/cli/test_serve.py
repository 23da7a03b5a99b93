"""`incognote serve` and `incognote key api`: a real server, asked with real keys."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

pytest.importorskip("fastapi", reason="needs the extra service")
pytest.importorskip("structlog", reason="needs the extra service")

import httpx

NOTE = "Seen by Dr. Emily Carter on 03/16/2025."


@pytest.fixture
def here(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "INCOGNOTE_HOME": str(tmp_path / "home"), "INCOGNOTE_DETECTORS": '["rules"]'}


def run(here: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "incognote", *arguments]
    return subprocess.run(command, env=here, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def serve(here: dict[str, str], tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "incognote", "serve", "--port", "0"]
    with subprocess.Popen(command, env=here, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def address(stream: IO[str] | None) -> str:
    assert stream is not None
    for line in stream:
        if found := re.search(r"serves on (http://\S+)", line):
            return found[1]
    raise AssertionError("it did not begin to serve")


def test_keys_are_made_listed_and_revoked(here: dict[str, str]) -> None:
    made = json.loads(run(here, "key", "api", "new", "ann", "--role", "submit,review", "--json").stdout)["data"]
    assert made["roles"] == ["submit", "review"]
    listed = run(here, "key", "api", "list")
    assert "ann" in listed.stdout
    assert made["key"].split("_", 2)[2] not in listed.stdout
    assert run(here, "key", "api", "new", "ann", "--role", "submit").returncode == 2
    assert run(here, "key", "api", "revoke", "ann").returncode == 0
    assert run(here, "key", "api", "revoke", "bob").returncode == 2
    (key,) = json.loads(run(here, "key", "api", "list", "--json").stdout)["data"]["keys"]
    assert key["revoked"]


def test_beyond_this_machine_a_key_is_needed_before_it_serves(here: dict[str, str]) -> None:
    done = run(here, "serve", "--host", "0.0.0.0", "--port", "0")
    assert done.returncode == 2
    assert "incognote key api new" in done.stderr


def test_it_serves_says_nothing_of_texts_and_stops_when_told(serve: subprocess.Popen[str]) -> None:
    url = address(serve.stderr)
    answer = httpx.post(f"{url}/v1/deidentify", json={"text": NOTE}, timeout=60)
    assert answer.json()["text"] == "Seen by Dr. [PERSON] on [DATE]."
    assert "server" not in answer.headers
    assert httpx.get(f"{url}/readyz", timeout=60).json() == {"status": "ok"}
    assert "<title>" in httpx.get(f"{url}/review", timeout=60).text
    serve.send_signal(signal.SIGTERM)
    out, err = serve.communicate(timeout=60)
    assert "Carter" not in out + err
    events = [json.loads(line)["event"] for line in err.splitlines() if line.startswith("{")]
    assert (events[0], events[-1]) == ("api.started", "api.stopped")
    assert serve.returncode == 0
