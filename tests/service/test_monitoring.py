"""Monitoring of a worker: what it reports to whom, and that the worker stops if it cannot report."""

from __future__ import annotations

import io
import json
import logging
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import IncognoteError, LedgerUnavailable, UsageError
from incognote.keys import Keyring
from incognote.sdk import Deidentifier
from incognote.service.audit import entries, verify
from incognote.service.monitoring import ServiceMonitor, account, audit_folder, database_of
from incognote.service.telemetry.tracing import Tracing
from incognote.settings import ServiceSettings, Settings


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Deidentifier]:
    """A deidentifier with all stores in one folder."""
    Keyring.write_new(tmp_path / "key")
    service = ServiceSettings(audit=tmp_path / "audit", database=f"sqlite:///{tmp_path / 'service.db'}", drift_least=20)
    with Deidentifier(key_file=str(tmp_path / "key"), detectors=("rules",), service=service) as deid:
        yield deid


def told(stream: io.StringIO) -> list[dict[str, Any]]:
    """Return the log lines."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_workers_life_is_in_the_lines_and_in_the_audit_log(made: Deidentifier, tmp_path: Path) -> None:
    stream = io.StringIO()
    with ServiceMonitor(made, release="r1", source="s3://source", stream=stream) as monitor:
        monitor.hooks().tell("records.committed", outputs=1, released=3, review=0, quarantined=0, refused=0)
        monitor.hooks().tell("worker.paused", reason="index-unavailable")
        logging.getLogger("botocore").error("GET s3://source/Zebulon.txt")
    lines = told(stream)
    assert [line["event"] for line in lines] == [
        "worker.started", "records.committed", "worker.paused", "library.complained", "worker.stopped", "audit.head",
    ]  # fmt: skip
    assert {line["release"] for line in lines} == {"r1"}
    assert "Zebulon" not in stream.getvalue()
    kept = list(entries(tmp_path / "audit"))
    assert [entry.event for entry in kept] == ["audit.opened", "worker.started", "records.committed", "worker.stopped"]
    assert kept[2].facts["released"] == 3
    assert lines[-1]["head"] == str(verify(tmp_path / "audit", made.engine.keyring).head)


def test_drift_is_counted_by_sink_and_told(made: Deidentifier) -> None:
    stream = io.StringIO()
    with ServiceMonitor(made, release="r1", source="s3://source", stream=stream) as monitor:
        hooks = monitor.hooks()
        hooks.counted([{"PERSON": 1}] * 30)
        hooks.counted([])
        assert monitor.drift.sources() == [monitor.drift.source("s3://source")]
    assert "drift.alarm" not in stream.getvalue()


def test_an_alarm_is_in_the_lines_and_in_the_audit_log_which_the_dashboard_reads(
    made: Deidentifier, tmp_path: Path
) -> None:
    stream = io.StringIO()
    with ServiceMonitor(made, release="r1", source="s3://source", stream=stream) as monitor:
        monitor.drift._clock = lambda: datetime.now(UTC) - timedelta(days=1)
        monitor.hooks().counted([{"PERSON": 2}, {"PERSON": 3}] * 20)
        monitor.drift._clock = lambda: datetime.now(UTC)
        monitor.hooks().counted([{}] * 40)
    (line,) = [line for line in told(stream) if line["event"] == "drift.alarm" and line["entity_type"] == "PERSON"]
    kept = [entry.facts for entry in entries(tmp_path / "audit") if entry.event == "drift.alarm"]
    assert line["outlook"] == "fewer"
    assert {"PERSON", "ANY"} == {facts["entity_type"] for facts in kept}
    assert {facts["release"] for facts in kept} == {"r1"}


def test_a_fault_of_ours_is_told_by_its_place_and_goes_on_its_way(made: Deidentifier) -> None:
    stream = io.StringIO()
    with ServiceMonitor(made, release="r1", source="source", stream=stream) as monitor:
        with pytest.raises(RuntimeError), monitor.faults():
            raise RuntimeError("Zebulon")
        with pytest.raises(UsageError), monitor.faults():
            raise UsageError("what is known needs no report")
    lines = [line for line in told(stream) if line["event"] == "error.unexpected"]
    assert [line["error"] for line in lines] == ["RuntimeError"]
    assert "Zebulon" not in stream.getvalue()


async def test_sentinel_notes_run_after_a_settlement(made: Deidentifier, tmp_path: Path) -> None:
    with ServiceMonitor(made, release="r1", source="source", stream=io.StringIO()) as monitor:
        settled = monitor.hooks().settled
        assert settled is not None
        await settled()
    assert "sentinels.scored" in [entry.event for entry in entries(tmp_path / "audit")]


def test_who_opted_out_is_refused(made: Deidentifier) -> None:
    with ServiceMonitor(made, release="r1", source="source", stream=io.StringIO()) as monitor:
        monitor.optouts.add("p-1", "Ada")
        assert monitor.hooks().refused(["p-1", "p-2"]) == {"p-1"}


def test_a_database_that_is_away_makes_the_worker_wait_for_opt_outs_and_not_for_drift(made: Deidentifier) -> None:
    stream = io.StringIO()
    with ServiceMonitor(made, release="r1", source="source", stream=stream) as monitor:
        for store in (monitor.optouts._store, monitor.drift._store):
            with store.begin() as connection:
                for table in ("optouts", "drift_days"):
                    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {table}")
        with pytest.raises(LedgerUnavailable, match="opt-outs"):
            monitor.hooks().refused(["p-1"])
        monitor.hooks().counted([{"PERSON": 1}])
    assert "database.failed" in [line["event"] for line in told(stream)]


def test_a_release_whose_name_cannot_be_told_is_refused_before_anything_is_done(
    made: Deidentifier, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="release"):
        ServiceMonitor(made, release="for Mr. Quackenbosh", source="source", stream=io.StringIO())
    assert not (tmp_path / "audit").exists()


def test_a_broken_audit_log_ends_the_worker_and_is_told(made: Deidentifier, tmp_path: Path) -> None:
    stream = io.StringIO()
    monitor = ServiceMonitor(made, release="r1", source="source", stream=stream)
    (tmp_path / "audit" / "head").unlink()
    with pytest.raises(IncognoteError, match="audit verify"):
        monitor.tell("worker.ceiling", share=0.5)
    assert told(stream)[-1]["event"] == "audit.broken"


def test_places_are_the_settings_or_in_incognotes_home(tmp_path: Path) -> None:
    settings = Settings.load(home=tmp_path)
    assert audit_folder(settings) == tmp_path / "audit"
    assert database_of(settings) == f"sqlite:///{tmp_path / 'service.db'}"


def test_what_a_worker_serves_is_traced(made: Deidentifier) -> None:
    export = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    exporter = export.InMemorySpanExporter()
    with ServiceMonitor(made, release="r1", source="source", stream=io.StringIO()) as monitor:
        monitor.telemetry._tracing = Tracing(exporter, at_once=True)
        with monitor.hooks().span("records.claimed", records=2):
            pass
    (span,) = exporter.get_finished_spans()
    assert span.attributes["records"] == 2


def test_an_account_is_the_systems_and_not_what_a_variable_says(monkeypatch: pytest.MonkeyPatch) -> None:
    pwd = pytest.importorskip("pwd")
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "somebody-else")
    assert account() == pwd.getpwuid(os.getuid()).pw_name
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)  # a container's user, with a number but no name
    assert account() == f"uid-{os.getuid()}"
