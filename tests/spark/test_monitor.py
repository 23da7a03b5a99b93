"""Opt-outs, sentinel notes, and drift alarms of a Python worker, without a JVM."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import LeaseLost, LedgerUnavailable, SentinelsMissed, SettingError
from incognote.files.quarantine import Quarantine
from incognote.keys import Keyring
from incognote.service.audit import entries
from incognote.service.drift import Day, DriftStore
from incognote.service.optouts import OptOuts
from incognote.service.sentinels import Sentinel, watch
from incognote.spark.delivery import Delivery, DeliveryTask
from incognote.spark.drifting import DriftTask, days
from incognote.spark.opening import WorkerFailed, WorkerSettings, opened
from incognote.spark.roles import Roles
from incognote.spark.tallies import counted
from incognote.spark.task import Task

from .test_tallies import SCHEMA

pa = pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")
pytest.importorskip("sqlalchemy", reason="the extra `service` is not installed")
NOTE = "Seen by Dr. Emily Carter on 03/16/2025."
FOREIGN = "Пациент поступил в отделение утром и был осмотрен врачом."
GONE = "Quarrington 17"


@pytest.fixture
def service(tmp_path: Path) -> dict[str, Any]:
    return {"database": f"sqlite:///{tmp_path / 'service.db'}", "sentinels": 0, "drift_least": 4, "lease_seconds": 1.0}


@pytest.fixture
def optouts(service: dict[str, Any], key_file: Path) -> Iterator[OptOuts]:
    with closing(OptOuts(service["database"], Keyring.read(key_file))) as made:
        yield made


def settings(key_file: Path, service: dict[str, Any], quarantine: Path | None = None) -> WorkerSettings:
    words = {"key_file": str(key_file), "detectors": ["rules"], "service": service}
    return WorkerSettings.of(words, None, quarantine, several=False)


def rows_of(task: Task, **columns: list[Any]) -> list[dict[str, Any]]:
    batches: Iterator[Any] = task(iter([pa.RecordBatch.from_pydict(columns)]))
    return [row for batch in batches for row in batch.to_pylist()]


def test_nothing_of_a_patient_who_opted_out_is_in_the_result_and_the_row_is_counted(
    service: dict[str, Any], optouts: OptOuts, key_file: Path, tmp_path: Path
) -> None:
    optouts.add(GONE, by="staff")
    roles = Roles("note", patient="patient", id="n", keep=("ward",))
    task = Task(roles, settings(key_file, service, tmp_path / "held"))
    made = rows_of(task, note=[NOTE, NOTE, FOREIGN, None], patient=["p1", GONE.upper(), GONE, GONE],
                   n=[1, 2, 3, 4], ward=["w1", "w2", "w3", "w4"])  # fmt: skip
    assert [row["verdict"] for row in made] == ["release", "refused", "refused", "refused"]
    assert made[0]["note"] != NOTE
    for row in made[1:]:
        assert row.pop("reasons") == [{"code": "opted-out", "field": ""}]
        assert {name for name, value in row.items() if value is not None} == {"verdict"}
    assert not list(Quarantine(tmp_path / "held", Keyring.read(key_file)).items())
    assert GONE.encode() not in pickle.dumps(task)


def test_a_patient_within_a_record_is_refused(service: dict[str, Any], optouts: OptOuts, key_file: Path) -> None:
    optouts.add(GONE, by="staff")
    task = Task(Roles("value"), settings(key_file, service), records=True)
    lines = [json.dumps({"id": "a1", "patient": name, "text": NOTE}) for name in ("p1", GONE)]
    assert [row["verdict"] for row in rows_of(task, value=lines)] == ["release", "refused"]


def test_a_patient_who_opts_out_while_the_rows_are_served_is_refused(
    service: dict[str, Any], optouts: OptOuts, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = settings(key_file, service, tmp_path / "held")
    made, _, _ = opened(work)
    batch = type(made).batch

    def slowly(self: Any, *args: Any, **words: Any) -> Any:
        optouts.add(GONE, by="staff")
        return batch(self, *args, **words)

    monkeypatch.setattr(type(made), "batch", slowly)
    task = Task(Roles("note", patient="patient"), work)
    made_rows = rows_of(task, note=[NOTE, FOREIGN], patient=[GONE, GONE])
    assert [row["verdict"] for row in made_rows] == ["refused", "refused"]
    assert not list(Quarantine(tmp_path / "held", Keyring.read(key_file)).items())


def test_the_counts_of_a_result_balance_with_refused_rows(
    service: dict[str, Any], optouts: OptOuts, key_file: Path
) -> None:
    optouts.add(GONE, by="staff")
    task = Task(Roles("note", patient="patient"), settings(key_file, service))
    made = rows_of(task, note=[NOTE, NOTE], patient=["p1", GONE])
    plain = [
        {"verdict": row["verdict"], "codes": [one["code"] for one in row["reasons"]],
         **{name: (row["manifest"] or {}).get(name) for name in SCHEMA.names[2:]}} for row in made
    ]  # fmt: skip
    (told,) = next(counted(iter([pa.RecordBatch.from_pylist(plain, schema=SCHEMA)]))).to_pylist()
    counts = json.loads(told["told"])
    assert (counts["read"], counts["refused"], counts["outcomes"]) == (2, 1, {"release": 1})


def test_a_list_that_does_not_answer_ends_the_task(
    service: dict[str, Any], key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from incognote.errors import Unwritable

    work = settings(key_file, service)
    opened(work)

    def fails(*_: object) -> set[str]:
        raise Unwritable("no answer")

    monkeypatch.setattr(OptOuts, "refused", fails)
    with pytest.raises(WorkerFailed, match=LedgerUnavailable.__name__):
        rows_of(Task(Roles("note", patient="patient"), work), note=[NOTE], patient=["p1"])


def test_delivery_settles_a_record_of_a_patient_who_opted_out_as_refused(
    service: dict[str, Any], optouts: OptOuts, key_file: Path, tmp_path: Path
) -> None:
    optouts.add(GONE, by="staff")
    task = Task(Roles("note", patient="patient", id="n"), settings(key_file, service, tmp_path / "held"))
    work = DeliveryTask(
        task, str(tmp_path / "lab"), f"sqlite:///{tmp_path / 'ledger.db'}", "r1", "lines", "none", source="ward 3"
    )
    batch = pa.RecordBatch.from_pydict(
        {"note": [NOTE, NOTE, FOREIGN], "patient": ["p1", GONE, GONE], "n": ["n1", "n2", "n3"]}
    )
    list(work(iter([batch])))
    (told,) = [row["told"] for made in work.closed(iter(())) for row in made.to_pylist()]
    assert json.loads(told) == {"released": 1, "refused": 2}
    assert not list(Quarantine(tmp_path / "held", Keyring.read(key_file)).items())
    store = DriftStore(service["database"], Keyring.read(key_file))
    assert store._sides(store.source("ward 3"))[0].records == 1
    store.close()


def test_a_shard_with_a_patient_who_has_since_opted_out_is_not_settled(
    service: dict[str, Any], optouts: OptOuts, key_file: Path, tmp_path: Path
) -> None:
    task = Task(Roles("note", patient="patient", id="n"), settings(key_file, service, tmp_path / "held"))
    work = DeliveryTask(task, str(tmp_path / "lab"), f"sqlite:///{tmp_path / 'ledger.db'}", "r1", "lines", "none")
    batch = pa.RecordBatch.from_pydict({"note": [NOTE, NOTE], "patient": ["p1", GONE], "n": ["n1", "n2"]})
    with Delivery(work) as attempt:
        attempt.serve(task.rows(batch, opened(task.settings)[0]))
        optouts.add(GONE, by="staff")
        with pytest.raises(LeaseLost, match="opted out while"):
            attempt.flush()
    with Delivery(work) as attempt:
        assert attempt._ledger.counts(attempt._release.id).get("released", 0) == 0
        attempt.serve(task.rows(batch, opened(task.settings)[0]))
        attempt.flush()
        assert attempt.close() == {"released": 1, "refused": 1}


def test_a_worker_whose_sentinel_notes_leak_fails_before_its_first_record(
    service: dict[str, Any], key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaking = Sentinel("0" * 16, "the visitor zorblax came late.", (("PERSON", "zorblax"),))
    monkeypatch.setattr(watch, "draw", lambda count, *_: [leaking] * count)
    given = {**service, "sentinels": 2, "sentinel_least": 5, "audit": str(tmp_path / "audit")}
    with pytest.raises(WorkerFailed, match=r"SentinelsMissed.*sentinel_floor"):
        rows_of(Task(Roles("note"), settings(key_file, given)), note=[NOTE])
    events = [entry.event for entry in entries(tmp_path / "audit")]
    assert (events.count("sentinels.scored"), events.count("sentinels.failed")) == (3, 1)
    lax = settings(key_file, {**given, "sentinel_floor": None})
    assert rows_of(Task(Roles("note"), lax), note=[NOTE])[0]["verdict"] == "release"


def test_a_shard_is_not_settled_if_sentinel_notes_leak(
    service: dict[str, Any], key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {**service, "sentinels": 1, "sentinel_least": 1, "sentinel_floor": 1.0}
    task = Task(Roles("note", id="n"), settings(key_file, given, tmp_path / "held"))
    work = DeliveryTask(task, str(tmp_path / "lab"), f"sqlite:///{tmp_path / 'ledger.db'}", "r1", "lines", "none")
    batch = pa.RecordBatch.from_pydict({"note": [NOTE], "n": ["n1"]})
    leaking = Sentinel("0" * 16, "the visitor zorblax came late.", (("PERSON", "zorblax"),))
    with Delivery(work) as attempt:
        attempt.serve(task.rows(batch, opened(task.settings)[0]))
        monkeypatch.setattr(watch, "draw", lambda count, *_: [leaking] * count)
        with pytest.raises(SentinelsMissed):
            attempt.flush()
        assert attempt._ledger.counts(attempt._release.id).get("released", 0) == 0


def test_sentinel_notes_run_before_the_first_record_and_after_each_shard_of_records(
    service: dict[str, Any], key_file: Path, tmp_path: Path
) -> None:
    given = {**service, "sentinels": 2, "sentinel_least": 8, "shard_records": 3, "audit": str(tmp_path / "audit")}
    work = settings(key_file, given)
    monitor = opened(work)[2]
    before = monitor._sentinels.total
    assert before.planted >= 8
    assert before.leaked == 0
    task = Task(Roles("note"), work)
    for _ in range(3):
        rows_of(task, note=[NOTE, NOTE])
    assert monitor._sentinels.total.notes == before.notes + 2
    assert {entry.event for entry in entries(tmp_path / "audit")} == {"audit.opened", "sentinels.scored"}


def test_a_result_with_fewer_identifiers_than_on_the_days_before_raises_an_alarm(
    service: dict[str, Any], key_file: Path
) -> None:
    work = settings(key_file, service)
    day = Day.of([{"PERSON": 1, "DATE": 2}, {"PERSON": 2, "DATE": 2}] * 40)
    yesterday = datetime.now(UTC) - timedelta(days=1)
    with closing(DriftStore(service["database"], Keyring.read(key_file), clock=lambda: yesterday)) as store:
        store.put(store.source("ward 3"), day)
    maps = pa.array([[("DATE", 2)], [("DATE", 2)]] * 20, pa.map_(pa.string(), pa.int32()))
    (told,) = next(days(iter([pa.RecordBatch.from_arrays([maps], names=["by_type"])]))).to_pylist()
    today = DriftTask(work, "ward 3", Day(**json.loads(told["told"])))
    (row,) = next(today(iter(()))).to_pylist()
    assert ("PERSON", "fewer") in {(one["entity_type"], one["outlook"]) for one in json.loads(row["told"])}
    other = replace(today, source="ward 4")
    assert json.loads(next(other(iter(()))).to_pylist()[0]["told"]) == []


def test_without_a_database_of_the_service_nothing_is_created_or_compared(key_file: Path, tmp_path: Path) -> None:
    words = {"key_file": str(key_file), "detectors": ["rules"], "home": tmp_path / "home", "service": {"sentinels": 0}}
    work = WorkerSettings.of(words, None, None, several=False)
    assert rows_of(Task(Roles("note", patient="patient"), work), note=[NOTE], patient=["p1"])[0]["verdict"] == "release"
    assert next(DriftTask(work, "ward 3", Day.of([{}]))(iter(()))).to_pylist() == [{"told": "[]"}]
    assert not (tmp_path / "home").exists()


def test_a_list_in_a_file_is_refused_on_a_cluster(key_file: Path, tmp_path: Path) -> None:
    words = {"key_file": str(key_file), "home": str(tmp_path)}
    WorkerSettings.of(words, None, None, several=True).load()
    with closing(OptOuts(f"sqlite:///{tmp_path / 'service.db'}", Keyring.read(key_file))):
        pass
    with pytest.raises(SettingError, match=r"service\.database: a SQLite file serves one machine"):
        WorkerSettings.of(words, None, None, several=True).load()
