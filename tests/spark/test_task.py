"""What a worker does with Arrow batches, without a JVM: outputs, held rows, errors, one Deidentifier per process."""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from incognote import Deidentifier
from incognote.errors import KeyMissing, SettingError
from incognote.files.quarantine import Quarantine
from incognote.keys import Keyring
from incognote.spark import task as module
from incognote.spark.opening import WorkerFailed, WorkerSettings, opened
from incognote.spark.roles import Roles
from incognote.spark.task import Task, slices

pa = pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")
ROOT = Path(__file__).parents[2]
CANARY = "Zebulon Quarrington"
FOREIGN = f"Пациент {CANARY} поступил в отделение утром и был осмотрен врачом."
NOTE = "Seen by Dr. Emily Carter on 03/16/2025."


def settings(key_file: Path, quarantine: Path | None = None, **words: Any) -> WorkerSettings:
    given = {"key_file": str(key_file), "detectors": ["rules"], **words}
    return WorkerSettings.of(given, None, quarantine, several=False)


def rows_of(task: Task, **columns: list[Any]) -> list[dict[str, Any]]:
    batches: Iterator[Any] = task(iter([pa.RecordBatch.from_pydict(columns)]))
    return [row for batch in batches for row in batch.to_pylist()]


def test_documents_give_what_deidentify_gives(key_file: Path, tmp_path: Path) -> None:
    paths = [ROOT / "examples" / name for name in ("letter.docx", "letter.rtf", "note.txt", "summary.xml")]
    broken = b"PK\x03\x04" + bytes(50)
    task = Task(Roles("content", path="path"), settings(key_file, tmp_path / "held"))
    names = [*map(str, paths), "file:/x/Carter.docx"]
    made = rows_of(task, path=names, content=[*(path.read_bytes() for path in paths), broken])
    with Deidentifier(key_file=key_file, detectors=["rules"]) as single:
        results = [single.deidentify(path) for path in paths]
    assert [row["content"] for row in made[:-1]] == [r.data if r.verdict.released else None for r in results]
    assert sum(result.verdict.released for result in results) >= 3
    assert (made[-1]["content"], made[-1]["verdict"]) == (None, "quarantine")
    assert not any("Carter" in str(row["path"]) for row in made)
    held = list(Quarantine(tmp_path / "held", Keyring.read(key_file)).items())
    assert len(held) == sum(row["content"] is None for row in made)


def test_lines_of_json_give_what_the_command_gives(key_file: Path, tmp_path: Path) -> None:
    lines = (ROOT / "examples" / "records.jsonl").read_text().splitlines()
    lines += ['{"id": "a1", "patient": "p", "text": "Seen by Dr. Carter on 03/16/2025."}', '{"torn": "Dr. Carter']
    (tmp_path / "lines.jsonl").write_text("\n".join(lines) + "\n")
    made = rows_of(Task(Roles("value"), settings(key_file), records=True), value=lines)
    command = ("deid", tmp_path / "lines.jsonl", "--out", tmp_path / "out", "--detectors", "rules",
               "--key-file", key_file, "--keep-names")  # fmt: skip
    subprocess.run([sys.executable, "-m", "incognote", *command], check=False, capture_output=True, timeout=300)
    expected = (tmp_path / "out" / "lines.jsonl").read_text().splitlines()
    assert [row["value"] for row in made if row["value"] is not None] == expected
    assert (made[-1]["value"], made[-1]["verdict"]) == (None, "quarantine")
    assert [reason["code"] for reason in made[-1]["reasons"]] == ["malformed"]


def test_surrogates_of_a_patient_agree_in_an_index_of_the_process(key_file: Path) -> None:
    task = Task(Roles("note", patient="p"), settings(key_file, policy="surrogate", index="partition"))
    notes = ["Mrs. Alice Sorensen was seen.", "Mrs. Alice Sorensen is well."]
    first, second = (rows_of(task, note=[note], p=["p1"])[0]["note"] for note in notes)
    assert first.removesuffix(" was seen.") == second.removesuffix(" is well.")
    assert "Sorensen" not in first


def test_a_row_held_again_by_a_repeated_task_replaces_its_entry(key_file: Path, tmp_path: Path) -> None:
    task = Task(Roles("note", id="n"), settings(key_file, tmp_path / "held"))
    for _ in range(2):
        made = rows_of(task, n=[1, 2, 3], note=[FOREIGN, FOREIGN, None])
        assert [row["note"] for row in made] == [None, None, None]
        assert [row["verdict"] for row in made] == ["review", "review", "release"] or made[0]["verdict"] == "quarantine"
    quarantine = Quarantine(tmp_path / "held", Keyring.read(key_file))
    held = list(quarantine.items())
    assert len(held) == 2
    assert {quarantine.open(one).data.decode() for one in held} == {FOREIGN}
    assert all(CANARY.encode() not in path.read_bytes() for path in (tmp_path / "held").iterdir())


def test_a_process_opens_one_deidentifier_for_all_tasks(key_file: Path) -> None:
    one, other = (opened(settings(key_file))[0] for _ in range(2))
    assert one is other
    assert opened(settings(key_file, domain="other"))[0] is not one


def test_a_known_value_of_a_wrong_type_holds_its_row_and_not_the_job(key_file: Path) -> None:
    task = Task(Roles("note", known=("m",)), settings(key_file))
    made = rows_of(task, note=[NOTE, NOTE], m=[None, b"\xff"])
    assert [row["verdict"] for row in made] == ["release", "quarantine"]


def test_an_error_of_the_program_names_its_class_and_no_value(
    key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ValueError(CANARY)

    monkeypatch.setattr(module, "serve", fails)
    with pytest.raises(WorkerFailed) as failed:
        rows_of(Task(Roles("note"), settings(key_file)), note=[f"{NOTE} {CANARY}"])
    assert str(failed.value).startswith("ValueError in a task")
    assert CANARY not in "".join(traceback.format_exception(failed.value))


def test_without_a_key_no_row_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    without = WorkerSettings.of({"detectors": ["rules"]}, None, None, several=False)
    with pytest.raises(KeyMissing, match=r"spark-env\.sh"):
        opened(without)


@pytest.mark.parametrize("url", ["sqlite:///index.db", "sqlite:////shared/index.db"])
def test_a_sqlite_file_is_refused_on_a_cluster(key_file: Path, url: str) -> None:
    cluster = WorkerSettings.of({"key_file": str(key_file), "index": url}, None, None, several=True)
    with pytest.raises(SettingError, match="index: a SQLite file serves one machine"):
        cluster.load()
    WorkerSettings.of({"key_file": str(key_file), "index": url}, None, None, several=False).load()


def test_slices_have_few_rows_and_few_bytes_and_all_of_a_batch() -> None:
    batch = pa.RecordBatch.from_pydict({"t": [*("x" * (3 * 2**20) for _ in range(5)), None, "", "y"]})
    made = list(slices(batch, "t", 3))
    assert [one.num_rows for one in made] == [2, 2, 3, 1]
    assert pa.Table.from_batches(made).to_pylist() == batch.to_pylist()
    assert list(slices(batch.slice(0, 0), "t", 3)) == []
