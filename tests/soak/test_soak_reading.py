"""Records read by a model whose server is killed and restarted: the run completes, and a retry releases the rest."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from incognote.llm.base import Request
from incognote.prompts import marks
from incognote.testing import LocalServer, text_of

GIVEN = "velmira tashkin okoro dunsany halvik sorrel quade fenwick tolle castell".split()
FAMILY = "brimley lindqvist marrow hazelrig pellmoor winnow osier thorne abrego vance".split()
PLANTED = re.compile(rf"\b(?:{'|'.join([*GIVEN, *FAMILY])})\b")


def mark(number: int) -> str:
    """A clinical word that only this record contains."""
    return "re" + "".join("lnrtbdgmpz"[int(digit)] + "o" for digit in f"{number:04d}") + "osis"


def record(number: int) -> dict[str, str]:
    who = f"{GIVEN[number % 10]} {FAMILY[number // 10 % 10]}"
    text = f"{mark(number)} review: brought in by {who}, knee pain for a week, metoprolol kept. {who} will call again."
    return {"dataType": "note", "id": f"r{number}", "text": text}


def answer(request: Request) -> str:
    """Return all planted names of the text shown."""
    shown = text_of(request)
    opening, closing = marks(shown)
    return json.dumps({"PERSON": [opening + word + closing for word in dict.fromkeys(PLANTED.findall(shown))]})


def incognote(*words: object, home: Path, key: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code and the data of one command."""
    environment = {
        **os.environ, "INCOGNOTE_HOME": str(home), "OPENAI_API_KEY": key, "INCOGNOTE_MODEL_ATTEMPTS": "2",
        "INCOGNOTE_MODEL_TIMEOUT": "20",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "incognote", *map(str, words), "--json"],
        capture_output=True,
        env=environment,
        check=False,
    )
    assert done.returncode in (0, 3), done.stderr.decode()[-2000:]
    assert not PLANTED.search(done.stderr.decode())
    return done.returncode, json.loads(done.stdout)["data"]


def outages(server: LocalServer, at: list[int], over: threading.Event) -> int:
    """Kill the server at the given numbers of calls and restart it after a while. Return the number of kills."""
    done = 0
    for calls in at:
        while server.calls < calls and not over.is_set():
            time.sleep(0.005)
        if over.is_set():
            break
        server.stop()
        time.sleep(0.8)
        server.start()
        done += 1
    return done


def test_a_run_over_a_server_that_is_killed_ends_complete(tmp_path: Path, full: bool, figures: dict[str, Any]) -> None:
    count = 1_000 if full else 160
    source, out, home = tmp_path / "notes.jsonl", tmp_path / "out", tmp_path / "home"
    source.write_text("".join(json.dumps(record(i)) + "\n" for i in range(count)), encoding="utf-8")
    with LocalServer(answer, latency=0.1) as server:
        over, killed = threading.Event(), list[int]()
        at = [count // 3, count * 2 // 3]  # after the first, the breaker may end the run: 32 records fail alike
        killer = threading.Thread(target=lambda: killed.append(outages(server, at, over)))
        killer.start()
        asked = ("--model", "openai/x", "--api-base", server.url, "--passes", "2")
        began = time.monotonic()
        code, summary = incognote("deid", source, "--out", out, *asked, home=home, key=server.api_key)
        seconds = time.monotonic() - began
        over.set()
        killer.join()
        assert killed[0] >= 1
        assert code == 3
        assert summary["records"] == count
        assert summary["released"] + summary["review"] + summary["quarantined"] == count
        assert summary["review"] == 0
        held = summary["quarantined"]
        assert 0 < held < count
        server.start()
        folder = summary["quarantine"]
        _, listed = incognote("quarantine", "list", folder, home=home, key=server.api_key)
        codes = Counter(reason["code"] for one in listed["held"] for reason in one["reasons"])
        assert set(codes) <= {"model-unavailable", "model-stopped"}
        assert codes.total() == held
        assert not [path for path in Path(folder).rglob("*") if path.is_file() and PLANTED.search(_text(path))]

        def lines() -> list[str]:
            return [line for path in out.rglob("*.jsonl") for line in path.read_text(encoding="utf-8").splitlines()]

        assert len(lines()) == count - held
        code, again = incognote("quarantine", "retry", folder, "--out", out, *asked, home=home, key=server.api_key)
        assert code == 0
        assert (again["records"], again["released"]) == (held, held)
        _, listed = incognote("quarantine", "list", folder, home=home, key=server.api_key)
        assert listed["held"] == []
    written = lines()
    found = Counter(re.findall(r"\bre(?:[a-z]o){4}osis\b", "\n".join(written)))
    assert found == {mark(i): 1 for i in range(count)}
    assert not PLANTED.search("\n".join(written))
    figures["reading_with_outages"] = {
        "records": count, "kills": killed[0], "held_then_released": held, "seconds": round(seconds, 1),
        "calls": server.calls,
    }  # fmt: skip


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")
