"""`python -m incognote.testing` serves a file of replies until it is stopped."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

COMMAND = [sys.executable, "-m", "incognote.testing"]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_a_file_until_it_is_told_to_end(tmp_path: Path, ending: signal.Signals) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text('{"note": "Seen by Dr. Abara.", "reply": "{}"}\n', encoding="utf-8")
    command = [*COMMAND, "--replies", str(path), "--misbehave", "code_fence", "--share", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        url, key = urlsplit(running.stdout.readline().strip()), running.stdout.readline().strip()
        connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=20)
        body = json.dumps({"model": "any", "messages": [{"role": "user", "content": "Seen by Dr. Abara."}]})
        connection.request("POST", f"{url.path}/chat/completions", body, {"authorization": f"Bearer {key}"})
        said = json.loads(connection.getresponse().read())
        connection.close()
        running.send_signal(ending)
        assert running.wait(20) == 0
    assert "```" in said["choices"][0]["message"]["content"]


def test_a_missing_file_and_an_unknown_misbehaviour_are_told(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    for arguments in ([], ["--misbehave", "sulking"]):
        done = subprocess.run(
            [*COMMAND, "--replies", str(path), *arguments], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
        assert "Traceback" not in done.stderr
        path.write_text("", encoding="utf-8")


def test_importing_the_twins_loads_no_vendor() -> None:
    script = "import sys, incognote.testing; print([m for m in ('openai', 'litellm', 'httpx') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
