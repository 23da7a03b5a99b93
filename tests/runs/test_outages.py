"""The command line, the worker, and the API's jobs treat the same failures as outages, with the same outcome."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("fastapi", reason="needs the extra service")
pytest.importorskip("sqlalchemy", reason="needs the extra service")
pytest.importorskip("structlog", reason="needs the extra service")

from incognote.cli import app
from incognote.errors import Unwritable
from incognote.files.inputs import RecordDefaults
from incognote.files.quarantine import Quarantine
from incognote.keys import Keyring
from incognote.ledger import Ledger
from incognote.nouns import Reason, Result, Verdict
from incognote.runs.destination import open_destination
from incognote.runs.location import open_location
from incognote.runs.source import WatchedSource
from incognote.sdk import Deidentifier
from incognote.service.api.context import ApiContext
from incognote.service.api.runner import Runner
from incognote.service.telemetry import Telemetry
from incognote.service.worker.freezing import frozen
from incognote.service.worker.worker import Worker
from incognote.settings import ServiceSettings
from incognote.testing import LocalServer, Misbehaviour

NOTE = "Seen by Dr. Emily Carter on 03/16/2025."
OUTAGES = (
    "model-unavailable", "model-stopped", "budget-exhausted", "index-unavailable", "index-rejected", "index-busy",
)  # fmt: skip
VERDICTS = ("model-rejected", "malformed", "unanswered")
Away = Callable[[str | None], None]


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> Away:
    """From now on, the server fails with this code. With None, it works again."""
    real, now = Deidentifier._unit, list[str | None]([None])

    async def unserved(items: Sequence[Any]) -> list[Result]:
        manifest = {"counts": {"by_type": {}}}
        return [Result(None, Verdict("quarantine", (Reason(str(now[0])),)), manifest) for _ in items]

    def unit(self: Deidentifier, items: Sequence[Any]) -> Any:
        return real(self, items) if now[0] is None else unserved(items)

    monkeypatch.setattr(Deidentifier, "_unit", unit)
    return lambda code: now.__setitem__(0, code)


def by_command(folder: Path, between: Callable[[], None]) -> str:
    """Run `deid`, and retry what it held because a service was unavailable."""
    (folder / "note.txt").write_text(NOTE)
    words = ["--key-file", str(folder / "key"), "--detectors", "rules"]
    done = CliRunner().invoke(app, ["deid", str(folder / "note.txt"), "--out", str(folder / "out"), *words, "--json"])
    told = json.loads(done.stdout)["data"]
    between()
    if told["unserved"]:
        held, again = str(folder / "out-quarantine"), str(folder / "again")
        done = CliRunner().invoke(app, ["quarantine", "retry", held, "--out", again, *words, "--json"])
        told = json.loads(done.stdout)["data"]
    return "released" if told["released"] else "quarantined"


def by_worker(folder: Path, between: Callable[[], None]) -> str:
    """Run a worker until its source is empty. The outage ends at its first pause."""
    (folder / "source").mkdir()
    (folder / "source" / "note.txt").write_text(NOTE)
    settings = ServiceSettings(rest_seconds=0.0, poll_seconds=0.02, longest_pause=0.02)
    keyring = Keyring.read(folder / "key")
    ledger = Ledger(f"sqlite:///{folder}/ledger.db", keyring)
    with Deidentifier(key_file=str(folder / "key"), detectors=("rules",), service=settings) as made:
        parts = frozen(made, layout=None, words=RecordDefaults(), form="lines", packing="none", part_bytes=2**20)
        release = ledger.freeze("r1", parts)
        worker = Worker(
            made, WatchedSource(open_location(str(folder / "source"))),
            open_destination(open_location(str(folder / "destination"))), ledger, release,
            Quarantine(folder / "held", keyring),
        )  # fmt: skip
        real = worker._sleep

        async def sleep(seconds: float) -> None:
            between()
            await real(seconds)

        worker._sleep = sleep  # type: ignore[method-assign]  # the outage ends when it waits
        asyncio.run(worker.run(once=True))
        counts = ledger.counts(release.id)
    ledger.close()
    (state,) = counts
    return state


def by_job(folder: Path, between: Callable[[], None]) -> str:
    """Run two rounds of the API's job runner."""
    given = {"home": folder, "key_file": str(folder / "key"), "detectors": ("rules",)}
    with Deidentifier(**given) as made:
        context = ApiContext(made, Telemetry(io.StringIO()), given)
        job = context.jobs.submit("ann", "redact", [{"content": NOTE, "known": []}])

        async def rounds() -> None:
            runner = Runner(context)
            await runner.round()
            between()
            await runner.round()

        asyncio.run(rounds())
        (document,) = context.jobs.documents(job.id, "ann")
        context.close()
    return document.state


DRIVERS = (by_command, by_worker, by_job)


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("code", [*OUTAGES, *VERDICTS])
def test_an_outage_is_no_verdict_for_any_driver(driver: Any, code: str, tmp_path: Path, away: Away) -> None:
    Keyring.write_new(tmp_path / "key")
    away(code)
    assert driver(tmp_path, lambda: away(None)) == ("released" if code in OUTAGES else "quarantined")


def test_a_run_that_a_refusing_model_ended_is_finished_by_a_retry(tmp_path: Path) -> None:
    """Real servers: the first one refuses every note, and the second one answers."""
    Keyring.write_new(tmp_path / "key")
    notes = [json.dumps({"text": f"Seen by Dr. Emily Carter, visit {i}."}) for i in range(45)]
    (tmp_path / "notes.jsonl").write_text("\n".join(notes) + "\n")

    def run(*words: str, **server: Any) -> tuple[dict[str, Any], int]:
        with LocalServer(lambda request: '{"PERSON": ["Dr. <<Emily Carter>>"]}', **server) as answering:
            model = ("--model", "openai/any", "--api-base", answering.url, "--detectors", "rules,llm")
            environment = {"OPENAI_API_KEY": answering.api_key, "INCOGNOTE_HOME": str(tmp_path / "home")}
            key = ("--key-file", str(tmp_path / "key"))
            done = CliRunner().invoke(app, [*words, *model, *key, "--json"], env=environment)
            assert done.stdout, done.output
            return json.loads(done.stdout)["data"], answering.calls

    counts, calls = run(
        "deid", str(tmp_path / "notes.jsonl"), "--out", str(tmp_path / "out"),
        misbehaviour=Misbehaviour("refusal", 1.0),
    )  # fmt: skip
    assert counts["released"] == 0
    assert counts["unserved"] == {"model-stopped": counts["quarantined"]}
    assert counts["review"] == calls
    assert calls < 45
    held = str(tmp_path / "out-quarantine")
    counts, _ = run("quarantine", "retry", held, "--out", str(tmp_path / "again"))
    assert counts["released"] == 45


@pytest.mark.parametrize("driver", [by_worker, by_job])
def test_a_place_that_cannot_be_written_is_no_verdict_either(
    driver: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incognote.runs.destination import FolderDestination
    from incognote.service.api.jobs import Jobs

    Keyring.write_new(tmp_path / "key")
    full = [1]

    def patched(where: Any, name: str) -> None:
        real = getattr(where, name)

        def refusing(*words: Any) -> Any:
            if full:
                raise Unwritable("full")
            return real(*words)

        monkeypatch.setattr(where, name, refusing)

    patched(FolderDestination, "stage")
    patched(Jobs, "settle")
    assert driver(tmp_path, full.clear) == "released"


def test_a_command_that_cannot_write_leaves_nothing_and_can_be_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incognote.files.outputs import Outputs

    Keyring.write_new(tmp_path / "key")

    def refusing(*_: Any) -> None:
        raise Unwritable("full")

    with monkeypatch.context() as patch:
        patch.setattr(Outputs, "write", refusing)
        with pytest.raises(KeyError, match="data"):  # there is an error instead
            by_command(tmp_path, lambda: None)
    assert not list((tmp_path / "out").glob("*.txt"))
    assert by_command(tmp_path, lambda: None) == "released"
