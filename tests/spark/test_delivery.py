"""Delivery by the ledger, without a JVM: an attempt of a task that is killed loses nothing and doubles nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from incognote.files.quarantine import Quarantine
from incognote.keys import Keyring
from incognote.spark.delivery import Delivery, DeliveryTask
from incognote.spark.inputs import SparkRow
from incognote.spark.opening import WorkerSettings, opened
from incognote.spark.roles import Roles
from incognote.spark.task import Task

pa = pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")
FOREIGN = "Пациент поступил в отделение утром и был осмотрен врачом."
NOTES = [*(f"Seen by Dr. Emily Carter on 03/{day:02}/2025, visit {day}." for day in range(1, 13)), FOREIGN]


@pytest.fixture
def work(database: str, key_file: Path, tmp_path: Path) -> DeliveryTask:
    words = {"key_file": str(key_file), "detectors": ["rules"],
             "service": {"lease_seconds": 1.0, "shard_records": 4}}  # fmt: skip
    settings = WorkerSettings.of(words, None, tmp_path / "held", several=False)
    task = Task(Roles("note", id="n"), settings)
    return DeliveryTask(task, str(tmp_path / "lab"), database, "r1", "lines", "none")


def rows(work: DeliveryTask, numbers: range) -> list[SparkRow]:
    batch = pa.RecordBatch.from_pydict({"note": [NOTES[n] for n in numbers], "n": [f"n{n}" for n in numbers]})
    return work.task.rows(batch, opened(work.task.settings)[0])


def killed(work: DeliveryTask, numbers: range) -> Delivery:
    """Return an attempt that has served rows and then stops without a word."""
    attempt = Delivery(work)
    attempt.serve(rows(work, numbers))
    attempt._heart.stop()
    return attempt


def lines(folder: Path) -> list[str]:
    """The texts of all shards that a reader of the destination sees."""
    found = [path for path in (folder / "lab" / "r1").iterdir() if not path.name.startswith(".")]
    return sorted(json.loads(line)["text"] for path in found for line in path.read_text().splitlines())


def finished(work: DeliveryTask) -> dict[str, Any]:
    batches: Iterator[Any] = work.closed(iter([pa.RecordBatch.from_pydict({"id": [0]})]))
    (told,) = [row["told"] for batch in batches for row in batch.to_pylist()]
    states: dict[str, Any] = json.loads(told)
    return states


def test_a_repeated_task_after_a_kill_delivers_each_record_once(work: DeliveryTask, tmp_path: Path) -> None:
    first = killed(work, range(6))  # four are settled with their shard, two are claimed
    second = killed(work, range(6, 8))  # nothing is settled
    with Delivery(work) as attempt:
        attempt.serve(rows(work, range(len(NOTES))))
        attempt.flush()
    assert finished(work) == {"released": 12, "quarantined": 1} or finished(work) == {"released": 12, "review": 1}
    texts = lines(tmp_path)
    assert len(texts) == len(set(texts)) == 12
    (held,) = Quarantine(tmp_path / "held", Keyring.read(Path(work.task.settings.words["key_file"]))).items()
    assert held.kind == "text"
    assert not list((tmp_path / "lab" / "r1").glob(".*"))
    for one in (first, second):
        one._ledger.close()


def test_a_shard_that_was_settled_and_not_placed_is_placed_at_the_end(
    work: DeliveryTask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = Delivery(work)

    def dies() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(attempt._delivery, "place", dies)
    with pytest.raises(KeyboardInterrupt):
        attempt.serve(rows(work, range(4)))
    attempt._heart.stop()
    assert lines(tmp_path) == []
    assert finished(work) == {"released": 4}
    assert len(lines(tmp_path)) == 4
    attempt._ledger.close()


def test_rows_with_equal_ids_and_texts_are_one_record(work: DeliveryTask, tmp_path: Path) -> None:
    with Delivery(work) as attempt:
        attempt.serve([*rows(work, range(2)), *rows(work, range(2))])
        attempt.flush()
    assert finished(work) == {"released": 2}
    assert len(lines(tmp_path)) == 2


def test_the_counts_of_a_release_that_is_complete_do_not_change(work: DeliveryTask, tmp_path: Path) -> None:
    for _ in range(2):
        with Delivery(work) as attempt:
            attempt.serve(rows(work, range(3)))
            attempt.flush()
        assert finished(work) == {"released": 3}
    assert len(lines(tmp_path)) == 3
