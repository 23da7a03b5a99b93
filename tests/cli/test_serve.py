"""`incognote serve` and `incognote key api`, with a real server and real keys."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
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
        if found := re.search(r"^Open (http://\S+) with the token in ", line):
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


def test_a_patient_for_all_requests_is_refused(here: dict[str, str]) -> None:
    done = run(here, "serve", "--patient", "p1")
    assert (done.returncode, "each request names its own patient" in done.stderr) == (2, True)


def test_an_unusable_certificate_or_address_is_named_before_it_serves(here: dict[str, str], tmp_path: Path) -> None:
    done = run(here, "serve", "--port", "0", "--certificate", "no.pem", "--certificate-key", "no.key")
    assert (done.returncode, "The certificate cannot be used" in done.stderr) == (2, True)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(here, "serve", "--port", str(port))
    assert (done.returncode, f"Cannot listen on 127.0.0.1, port {port}" in done.stderr) == (2, True)
    assert "Open http" not in done.stderr


def token(here: dict[str, str]) -> str:
    (file,) = Path(here["INCOGNOTE_HOME"]).glob("serve-*.token")
    assert file.stat().st_mode & 0o777 == 0o600
    return file.read_text().strip()


def test_it_serves_says_nothing_of_texts_and_stops_when_told(
    serve: subprocess.Popen[str], here: dict[str, str]
) -> None:
    url = address(serve.stderr)
    headers = {"Authorization": f"Bearer {token(here)}"}
    answer = httpx.post(f"{url}/v1/deidentify", json={"text": NOTE}, headers=headers, timeout=60)
    assert answer.json()["text"] == "Seen by Dr. [PERSON] on [DATE]."
    assert "server" not in answer.headers
    assert httpx.get(f"{url}/readyz", timeout=60).json() == {"status": "ok"}
    assert "<title>" in httpx.get(f"{url}/review", timeout=60).text
    serve.send_signal(signal.SIGTERM)
    serve.wait(60)
    assert serve.stdout is not None
    assert serve.stderr is not None
    out, err = serve.stdout.read(), serve.stderr.read()  # communicate() would lose what `address` has buffered
    assert "Carter" not in out + err
    assert headers["Authorization"].split()[1] not in out + err
    assert not list(Path(here["INCOGNOTE_HOME"]).glob("serve-*"))
    events = [json.loads(line)["event"] for line in err.splitlines() if line.startswith("{")]
    assert (events[0], events[-1]) == ("api.started", "api.stopped")
    assert serve.returncode == 0


def test_a_request_as_a_default_nginx_sends_it_on_is_refused_without_a_key(serve: subprocess.Popen[str]) -> None:
    """The bytes that nginx 1.22 sends with only `proxy_pass http://127.0.0.1:PORT;`. No header names the client."""
    port = int(address(serve.stderr).rpartition(":")[2])
    body = json.dumps({"text": NOTE}).encode()
    asked = {
        "GET /v1/me": b"", "GET /v1/review": b"", "GET /v1/gold": b"", "GET /metrics": b"", "GET /v1/jobs": b"",
        "POST /v1/deidentify": body,
    }  # fmt: skip
    for line, content in asked.items():
        length = f"Content-Length: {len(content)}\r\nContent-Type: application/json\r\n" if content else ""
        head = f"{line} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{length}User-Agent: x\r\n\r\n"
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(head.encode() + content)
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        if line.endswith("/me"):
            assert json.loads(answer.partition(b"\r\n\r\n")[2]) == {"name": "", "roles": []}
        else:
            assert answer.startswith(b"HTTP/1.1 401"), line
