"""PHI does not leak: planted in every kind of input, it is in no log, exception, repr, manifest, name, or trace."""

from __future__ import annotations

import base64
import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from incognote.llm.base import Request
from incognote.prompts import marks
from incognote.testing import MISBEHAVIOURS, LocalServer, Misbehaviour, text_of

NAME, GIVEN, MRN, PHONE, MAIL, STREET = (
    "Zebulon Quackenbosh",
    "Zebulon",
    "77120943",
    "4155550199",
    "zqx@canary.example",
    "Plumtree",
)
CANARIES = ("zebulon", "quackenbosh", MRN, "555-0199", "zqx@", "plumtree")
NOTE = (
    f"Patient: {NAME}  MRN: {MRN}\nMr. Quackenbosh, 46, lives at 12 {STREET} Lane, Toledo, OH 43604, "
    f"phone (415) 555-0199, {MAIL}. Seen by Dr. {NAME}-Ito on 03/04/2025."
)


def record(**more: Any) -> dict[str, Any]:
    """A record of the paper's type that contains the note."""
    return {"dataType": "clinicalRecord", "PatientId": MRN, "MRN": MRN, "AGE": "46 years", "note": NOTE, **more}


def fhir() -> dict[str, Any]:
    """A patient, and a document with the note as its attachment."""
    data = base64.b64encode(NOTE.encode()).decode()
    return {
        "resourceType": "Bundle",
        "type": "collection",
        "entry": [
            {
                "fullUrl": f"https://h.example/fhir/Patient/{MRN}",
                "resource": {
                    "resourceType": "Patient",
                    "id": MRN,
                    "name": [{"family": "Quackenbosh", "given": [GIVEN]}],
                    "text": {
                        "status": "generated",
                        "div": f'<div xmlns="http://www.w3.org/1999/xhtml"><p>{NAME}</p></div>',
                    },
                },
            },
            {
                "resource": {
                    "resourceType": "DocumentReference",
                    "id": "d1",
                    "status": "current",
                    "subject": {"reference": f"Patient/{MRN}", "display": NAME},
                    "content": [{"attachment": {"contentType": "text/plain", "data": data}}],
                }
            },
        ],
    }


def inputs() -> list[tuple[Any, dict[str, Any]]]:
    """The inputs for the SDK, valid and broken."""
    return [
        (NOTE, {"id": NAME, "patient": NAME, "known": [("PERSON", NAME), ("MEDICAL_RECORD_NUMBER", MRN)]}),
        (NOTE, {"id": NAME}),
        (record(), {"patient": NAME}),
        (record(**{NAME: "x"}), {}),
        (record(note=[NOTE]), {}),
        (record(AGE={"v": NAME}), {}),
        ({"dataType": NAME, "note": NOTE}, {}),
        ({"note": NOTE}, {"data_type": "nope"}),
        ('{"note": "' + NAME + '", }', {"data_type": "clinicalRecord"}),
        ('{"note": "' + NAME + '", "note": "x"}', {"data_type": "clinicalRecord"}),
        (NAME, {"data_type": "clinicalRecord"}),
        (fhir(), {}),
        ({"resourceType": "Patient", "extension": [{"url": f"http://x/{NAME}", "valueString": NAME}]}, {}),
        ({"resourceType": NAME.replace(" ", "")}, {}),
        ({"resourceType": "Patient", "birthDate": NAME, NAME: NAME}, {}),
        ("", {}),
        (NAME * 50, {}),
    ]


def assert_clean(channel: str, content: str | bytes) -> None:
    """Check that a channel contains no canary."""
    text = content.decode("utf-8", "replace") if isinstance(content, bytes) else content
    found = [canary for canary in CANARIES if canary in text.lower()]
    assert not found, f"{channel} shows {len(found)} of the planted identifiers: {found}"


class Collector(HTTPServer):
    """A trace collector on the loopback that counts what it receives."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Collector

    def _take(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers.get("content-length") or 0)))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    do_GET = do_POST = do_PATCH = _take  # noqa: N815 -- http.server calls these names

    def log_message(self, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector that all tracing variables point to."""
    server = Collector()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def loud(collector: Collector, tmp_path: Path) -> dict[str, str]:
    """An environment with all logging and tracing enabled."""
    home = tmp_path / "home"
    home.mkdir()
    return {
        **os.environ,
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "INCOGNOTE_HOME": str(home / "incognote"),
        "LANGSMITH_TRACING": "true",
        "LANGCHAIN_TRACING_V2": "true",
        "LANGSMITH_ENDPOINT": collector.url,
        "LANGCHAIN_ENDPOINT": collector.url,
        "LANGSMITH_API_KEY": "k",
        "LANGCHAIN_API_KEY": "k",
        "PYTHONUNBUFFERED": "1",
        "TMPDIR": str(home),
    }


def test_the_sdk_leaks_into_no_channel(loud: dict[str, str], collector: Collector, tmp_path: Path) -> None:
    given, log = tmp_path / "given.json", tmp_path / "debug.log"
    given.write_text(json.dumps(inputs()), encoding="utf-8")
    script = Path(__file__).with_name("canary_run.py")
    done = subprocess.run([sys.executable, script, log, given], capture_output=True, env=loud, timeout=300)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    assert b"Traceback" in done.stderr
    assert b"quarantine" in done.stdout
    assert_clean("standard output", done.stdout)
    assert_clean("standard error", done.stderr)
    assert_clean("the debug log", log.read_bytes())
    for path in (tmp_path / "home").rglob("*"):
        assert_clean("a file name", str(path.relative_to(tmp_path)))
        if path.is_file():
            assert_clean("a cache", path.read_bytes())
    assert collector.bodies == []


def phrases(request: Request) -> str:
    """A correct answer: the planted words of the text shown."""
    shown = text_of(request)
    opening, closing = marks(shown)
    planted = [("PERSON", NAME), ("PERSON", "Quackenbosh"), ("MEDICAL_RECORD_NUMBER", MRN), ("EMAIL", MAIL)]
    said: dict[str, list[str]] = {}
    for kind, word in planted:
        if word in shown:
            said.setdefault(kind, []).append(opening + word + closing)
    return json.dumps(said)


@pytest.mark.parametrize("model", ["openai/x", "hosted_vllm/x"])
def test_prompts_and_replies_leak_into_no_channel(
    model: str, loud: dict[str, str], collector: Collector, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    key = tmp_path / "key"
    key.write_text("07" * 32, encoding="utf-8")
    given, log = tmp_path / "given.json", tmp_path / "debug.log"
    every = inputs()
    given.write_text(json.dumps([every[i] for i in (0, 2, 5, 8, 11, 16)]), encoding="utf-8")
    env = {
        **loud, "OPENAI_LOG": "debug", "LITELLM_LOG": "DEBUG", "HTTPX_LOG_LEVEL": "debug", "LITELLM_VERBOSE": "true",
        "OPENAI_API_KEY": LocalServer.api_key, "HOSTED_VLLM_API_KEY": LocalServer.api_key, "PYTHONASYNCIODEBUG": "1",
    }  # fmt: skip
    bad = Misbehaviour(MISBEHAVIOURS, 0.5, seed=5, hang=2.0, slow=2.0, retry_after=0.0)
    with (
        LocalServer(phrases, echo=True) as good,
        LocalServer(phrases, echo=True, misbehaviour=bad) as worse,
        LocalServer(phrases, echo=True, misbehaviour=Misbehaviour("server_error", 1.0)) as broken,
        LocalServer(phrases, echo=True, dialect="sglang", context=900) as narrow,
    ):
        common = {"model": model, "model_attempts": 2, "model_timeout": 1.0, "key_file": str(key)}
        runs = [
            {**common, "model_timeout": 20.0, "api_base": good.url, "recording": str(home / "recording")},
            {**common, "model_timeout": 20.0, "api_base": narrow.url, "recording": str(home / "narrow")},
            {**common, "api_base": worse.url, "votes": 2, "recording": str(home / "worse")},
            {**common, "model_attempts": 1, "api_base": broken.url, "recording": str(home / "broken")},
            {**common, "api_base": good.url, "replay": True, "votes": 3, "recording": str(home / "recording")},
        ]
        script = Path(__file__).with_name("canary_run.py")
        done = subprocess.run(
            [sys.executable, script, log, given, json.dumps(runs)], capture_output=True, env=env, timeout=300
        )
        assert done.returncode == 0, done.stderr.decode()[-3000:]
        assert any(
            NAME.encode() in call.body for call in good.log
        )  # the control: the canaries really were sent and came back
        assert len({call.misbehaviour for call in worse.log}) > 6
        assert {400} <= {call.status for call in narrow.log}
    assert b"model-unavailable" in done.stdout
    assert b"release" in done.stdout
    assert b"NotReleased" in done.stderr
    assert_clean("standard output", done.stdout)
    assert_clean("standard error", done.stderr)
    assert_clean("the debug log", log.read_bytes())
    copies = {path.name for path in home.glob("copy-of-*")}
    assert copies >= {"copy-of-recording", "copy-of-recording-wal", "copy-of-worse-wal"}
    for path in home.rglob("*"):
        assert_clean("a file name", str(path.relative_to(tmp_path)))
        if path.is_file():
            assert_clean(f"a file, {path.name}", path.read_bytes())
    assert collector.bodies == []


def test_the_debug_log_would_have_shown_a_prompt(loud: dict[str, str], tmp_path: Path) -> None:
    """The control: the same loggers do write prompts when the openai SDK is called without our guard."""
    log = tmp_path / "debug.log"
    with LocalServer(phrases) as server:
        code = (
            "import logging, openai\n"
            f"logging.basicConfig(filename={str(log)!r}, level=logging.DEBUG)\n"
            f"client = openai.OpenAI(base_url={server.url!r}, api_key={server.api_key!r})\n"
            f"client.chat.completions.create(model='x', messages=[dict(role='user', content={NAME!r})])\n"
        )
        subprocess.run([sys.executable, "-c", code], env=loud, check=True, timeout=120, capture_output=True)
    assert NAME in log.read_text(encoding="utf-8")


def test_the_command_line_with_a_model_leaks_into_no_channel(
    loud: dict[str, str], collector: Collector, tmp_path: Path
) -> None:
    source = tmp_path / f"{GIVEN}.jsonl"
    notes = [{"dataType": "note", "id": MRN, "text": f"{NOTE} {i}"} for i in range(12)]
    source.write_text("".join(json.dumps(one) + "\n" for one in notes), encoding="utf-8")
    out = tmp_path / "out"
    env = {**loud, "OPENAI_API_KEY": LocalServer.api_key, "OPENAI_LOG": "debug", "INCOGNOTE_MODEL_ATTEMPTS": "1"}
    bad = Misbehaviour(("server_error", "not_json", "refusal", "hallucinated_phrases"), 0.5, seed=1)
    with LocalServer(phrases, echo=True, misbehaviour=bad) as server:
        model = ["--model", "openai/x", "--api-base", server.url, "--recording", str(tmp_path / "recording")]
        done = subprocess.run(
            [sys.executable, "-m", "incognote", "deid", source, "--out", out, *model], capture_output=True, env=env,
            timeout=300,
        )  # fmt: skip
    assert done.returncode == 3, done.stderr.decode()[-2000:]
    assert_clean("standard output", done.stdout)
    assert_clean("standard error", done.stderr)
    for path in tmp_path.rglob("*"):
        if path != source:
            assert_clean("a file name", str(path.relative_to(tmp_path)))
            if path.is_file():
                assert_clean("an output, a quarantine item, the recording or a cache", path.read_bytes())
    assert collector.bodies == []


def test_the_collector_would_have_seen_a_trace(loud: dict[str, str], collector: Collector) -> None:
    """The control: the same variables do trace a graph that runs without our guard."""
    code = (
        "import asyncio\n"
        "from langchain_core.tracers.langchain import wait_for_all_tracers\n"
        "from incognote import Deidentifier, Item\n"
        "from incognote.agents.nodes import Progress\n"
        "from incognote.agents.graph import machine\n"
        "engine = Deidentifier().engine\n"
        "asyncio.run(machine().ainvoke({}, context=Progress(Item('x'), engine, engine.policy)))\n"
        "wait_for_all_tracers()\n"
    )
    subprocess.run([sys.executable, "-c", code], env=loud, check=True, timeout=120, capture_output=True)
    assert collector.bodies != []


def test_the_command_line_leaks_into_no_channel(loud: dict[str, str], collector: Collector, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    files: dict[str, bytes] = {
        f"{NAME}.txt": NOTE.encode(),
        f"{NAME}-record.json": json.dumps(record()).encode(),
        f"{GIVEN}.jsonl": b"\n".join(
            json.dumps(r).encode() for r in (record(), record(**{NAME: 1}), {"note": NOTE}, [NAME])
        ),
        f"{GIVEN}-bundle.json": json.dumps(fhir()).encode(),
        f"{GIVEN}-broken.json": json.dumps(record()).encode()[:-20],
        f"{GIVEN}-latin.txt": NOTE.replace("Mr.", "Señor").encode("latin-1"),
        f"{GIVEN}-binary.txt": NOTE.encode() + bytes(range(256)),
        f"{GIVEN}.csv": f"{NAME},note\n1,{MRN}\n".encode(),
        f"{GIVEN}.txt.gz": gzip.compress(NOTE.encode()),
        f"{GIVEN}-cut.txt.gz": gzip.compress(NOTE.encode())[:-9],
    }
    for name, content in files.items():
        (source / name).write_bytes(content)
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-m", "incognote", "deid", source, "--out", out, "--json", "--data-type", "csvNotes"],
        capture_output=True,
        env=loud,
        timeout=300,
    )
    assert done.returncode == 3, done.stderr.decode()[-2000:]
    assert_clean("standard output", done.stdout)
    assert_clean("standard error", done.stderr)
    held = 0
    for path in tmp_path.rglob("*"):
        if source not in (path, *path.parents):
            assert_clean("a file name", str(path.relative_to(tmp_path)))
            if path.is_file():
                held += 1
                assert_clean("an output, a quarantine item or a cache", path.read_bytes())
    assert held >= 5
    assert collector.bodies == []
