"""Tables on a session of this machine: the same outputs as without Spark, and nothing of a held row."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from incognote import Deidentifier
from incognote.errors import AccountingError, SettingError, UnknownName, UsageError
from incognote.files.quarantine import Quarantine
from incognote.keys import Keyring
from incognote.spark import deidentify, deliver, held, released, tally

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).parents[2]
NOTES = [json.loads(line)["text"] for line in (ROOT / "tests" / "data" / "notes.jsonl").read_text().splitlines()[:6]]
CANARY = "Zebulon Quarrington"
FOREIGN = f"Пациент {CANARY} поступил в отделение утром и был осмотрен врачом."
ROWS: list[tuple[Any, ...]] = [
    *((number, f"p{number % 2}", note, 7 + number, "ward 3") for number, note in enumerate(NOTES)),
    (6, "p0", None, None, "ward 3"),
    (7, None, "Mr. Harper (MRN 16) was seen on 03/16/2025.", 16, "ward 4"),
    (8, "p1", FOREIGN, None, "ward 4"),
]
SCHEMA = "n int, patient string, note string, mrn long, ward string"


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(ROWS, SCHEMA)


@pytest.fixture(scope="module")
def words(key_file: Path) -> dict[str, Any]:
    return {"text": "note", "patient": "patient", "id": "n", "known": "mrn", "detectors": ["rules"],
            "key_file": str(key_file)}  # fmt: skip


@pytest.fixture(scope="module")
def done(rows: DataFrame, words: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> tuple[DataFrame, Path]:
    """The rows de-identified and written, and their quarantine."""
    folder = tmp_path_factory.mktemp("done")
    made = deidentify(rows, keep="ward", quarantine=folder / "held", **words)
    made.write.partitionBy("verdict").parquet(str(folder / "out"))
    return rows.sparkSession.read.schema(made.schema).parquet(str(folder / "out")), folder / "held"


def test_the_outputs_are_those_of_a_table_of_pandas(done: tuple[DataFrame, Path], key_file: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(ROWS, columns=[one.split()[0] for one in SCHEMA.split(", ")]).astype({"mrn": "object"})
    with Deidentifier(key_file=key_file, detectors=["rules"]) as single:
        expected = single.deidentify_frame(table, text="note", patient="patient", known=["mrn", "n"], keep=[])
    names = ["n", "patient", "note", "mrn", "ward", "verdict"]
    mine = sorted(tuple(row[name] for name in names) for row in done[0].collect())
    its = sorted(tuple(None if v != v else v for v in row) for row in expected[names].itertuples(index=False))
    assert [row[:1] + row[2:] for row in mine] == [row[:1] + row[2:] for row in its]
    assert {row[1] for row in mine} == {row[1] for row in its}
    assert {row[5] for row in mine} >= {"release", "quarantine"} or {row[5] for row in mine} >= {"release", "review"}


def test_a_held_row_has_no_text_and_is_encrypted_in_the_quarantine(done: tuple[DataFrame, Path], key_file: Path) -> None:
    table, folder = done
    (one,) = held(table).collect()
    assert one["note"] is None
    assert [reason["code"] for reason in one["reasons"]]
    assert CANARY not in str(one)
    quarantine = Quarantine(folder, Keyring.read(key_file))
    (item,) = quarantine.items()
    assert quarantine.open(item).data.decode() == FOREIGN
    assert all(CANARY.encode() not in path.read_bytes() for path in folder.iterdir())
    assert {reason.code for reason in item.reasons} == {reason["code"] for reason in one["reasons"]}


def test_each_row_says_what_made_it(done: tuple[DataFrame, Path], key_file: Path) -> None:
    keyring = Keyring.read(key_file)
    row = released(done[0]).filter("note is not null").collect()[0]
    manifest = row["manifest"].asDict()
    assert (manifest["key"], manifest["check"], manifest["policy"]) == (keyring.id, keyring.check, "strict")
    assert "detector:rules" in json.loads(manifest["versions"])
    assert manifest["replaced"] == sum(manifest["by_type"].values())


def test_the_counts_balance_with_the_source_or_the_job_fails(done: tuple[DataFrame, Path]) -> None:
    told = tally(done[0], read=len(ROWS))
    assert (told.outcomes["release"], told.held) == (len(ROWS) - 1, 1)
    assert told.replaced["DATE"] > 0
    assert told.labels["policy"]["name"] == "strict"
    with pytest.raises(AccountingError, match="10 records were read, but 9"):
        tally(done[0], read=len(ROWS) + 1)


def test_documents_come_from_binary_files(spark: SparkSession, words: dict[str, Any], key_file: Path, tmp_path: Path) -> None:
    names = ("letter.docx", "letter.rtf", "note.txt", "summary.xml")
    for name in names:
        (tmp_path / name).write_bytes((ROOT / "examples" / name).read_bytes())
    (tmp_path / "broken.docx").write_bytes(b"PK\x03\x04" + bytes(50))
    files = spark.read.format("binaryFile").load(str(tmp_path))
    made = deidentify(files, text="content", path="path", key_file=str(key_file), detectors=["rules"])
    outputs = {row["content"] and bytes(row["content"]): row["verdict"] for row in made.collect()}
    with Deidentifier(key_file=key_file, detectors=["rules"]) as single:
        results = [single.deidentify(tmp_path / name) for name in names]
    assert outputs == {**{result.data: "release" for result in results if result.verdict.released}, None: "quarantine"}
    assert sum(result.verdict.released for result in results) >= 3


def test_lines_of_json_give_what_the_command_gives(
    spark: SparkSession, key_file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = (ROOT / "examples" / "records.jsonl").read_text().splitlines()
    lines += ['{"id": "a1", "patient": "p", "text": "Seen by Dr. Carter on 03/16/2025."}', '{"torn": "Dr. Carter']
    (tmp_path / "lines.jsonl").write_text("\n".join(lines) + "\n")
    made = deidentify(spark.read.text(str(tmp_path / "lines.jsonl")), text="value", records=True, detectors=["rules"],
                      key_file=str(key_file))  # fmt: skip
    rows = made.collect()
    subprocess.run(
        [sys.executable, "-m", "incognote", "deid", tmp_path / "lines.jsonl", "--out", tmp_path / "out",
         "--detectors", "rules", "--key-file", key_file], check=False, capture_output=True,
    )  # fmt: skip
    (expected,) = (tmp_path / "out").glob("*.jsonl")
    assert [row["value"] for row in rows if row["value"] is not None] == expected.read_text().splitlines()
    assert rows[-1]["value"] is None
    assert [reason["code"] for reason in rows[-1]["reasons"]] == ["MalformedRecord"]


def test_a_stream_of_files_gives_what_a_table_gives(
    spark: SparkSession, rows: DataFrame, done: tuple[DataFrame, Path], words: dict[str, Any], tmp_path: Path
) -> None:
    rows.repartition(2).write.parquet(str(tmp_path / "in"))
    stream = spark.readStream.schema(rows.schema).option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
    made = deidentify(stream, keep="ward", **words)
    query = (
        made.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True).start(str(tmp_path / "out"))
    )  # fmt: skip
    query.awaitTermination(120)
    assert not query.isActive
    written = spark.read.schema(made.schema).parquet(str(tmp_path / "out"))
    names = ("n", "patient", "note", "verdict")
    assert sorted(str([row[name] for name in names]) for row in written.collect()) == sorted(
        str([row[name] for name in names]) for row in done[0].collect()
    )


def test_the_ledger_delivers_each_record_once_across_jobs(
    rows: DataFrame, words: dict[str, Any], tmp_path: Path
) -> None:
    place = {"destination": str(tmp_path / "lab"), "ledger": f"sqlite:///{tmp_path / 'ledger.db'}", "release": "r1",
             "quarantine": tmp_path / "held"}  # fmt: skip
    first = deliver(rows.filter("n < 4"), **place, **words)
    second = deliver(rows, **place, **words)
    assert first.outcomes == {"release": 4}
    assert second.outcomes == {"release": 7, **{k: v for k, v in second.outcomes.items() if k != "release"}}
    assert (second.read, second.held) == (8, 1)
    lines = [line for path in (tmp_path / "lab" / "r1").iterdir() for line in path.read_text().splitlines()]
    assert len(lines) == len(set(lines)) == 7


def test_surrogates_of_a_patient_are_the_same_in_all_notes_with_an_index_per_partition(
    spark: SparkSession, key_file: Path
) -> None:
    notes = [(f"p{number % 3}", f"{name} was seen. {name} is well.") for number, name in
             enumerate(["Mrs. Alice Sorensen", "Mr. Bob Whitfield", "Mrs. Carla Ferreira"] * 3)]  # fmt: skip
    df = spark.createDataFrame(notes, "patient string, note string")
    made = deidentify(df, text="note", patient="patient", policy="surrogate", index="partition", by_patient=2,
                      detectors=["rules"], key_file=str(key_file))  # fmt: skip
    by_patient: dict[str, set[str]] = {}
    for row in made.collect():
        assert row["verdict"] == "release", row["reasons"]
        by_patient.setdefault(row["patient"], set()).add(row["note"])
    assert sorted(map(len, by_patient.values())) == [1, 1, 1]
    assert not any(name in note for notes in by_patient.values() for note in notes for name in ("Sorensen", "Whitfield"))


def test_a_worker_without_a_key_fails_with_the_remedy_and_without_a_value(rows: DataFrame, words: dict[str, Any]) -> None:
    without = {name: value for name, value in words.items() if name != "key_file"}
    with pytest.raises(Exception, match="KeyMissing") as failed:
        deidentify(rows, **without).collect()
    assert "spark-env.sh" in str(failed.value)
    assert CANARY not in str(failed.value)


@pytest.mark.parametrize(
    ("changed", "kind", "said"),
    [
        ({"policy": "stricter"}, UnknownName, "no policy named 'stricter'"),
        ({"encoder_point": "best"}, SettingError, "encoder_point"),
        ({"key_file": "/no/such/key"}, SettingError, "key_file: the file does not exist"),
        ({"key": "AAAA"}, SettingError, "key: Spark sends"),
        ({"text": "nota"}, UsageError, "text: the table has no column"),
        ({"index": "partition"}, UsageError, "by_patient=True"),
        ({"by_patient": True, "patient": None}, UsageError, "by_patient: name the column"),
        ({"data_type": "note", "text": "content"}, UsageError, "text: the table has no column"),
    ],
)
def test_a_wrong_call_is_refused_before_a_job_starts(
    rows: DataFrame, words: dict[str, Any], changed: dict[str, Any], kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind) as refused:
        deidentify(rows, **{**words, **changed})
    assert said in str(refused.value)


def test_a_key_in_the_configuration_of_the_session_is_refused(rows: DataFrame, words: dict[str, Any]) -> None:
    rows.sparkSession.conf.set("spark.executorEnv.INCOGNOTE_KEY", "c2VjcmV0")
    try:
        with pytest.raises(SettingError, match=r"spark\.executorEnv\.INCOGNOTE_KEY: ") as refused:
            deidentify(rows, **words)
    finally:
        rows.sparkSession.conf.unset("spark.executorEnv.INCOGNOTE_KEY")
    assert "c2VjcmV0" not in str(refused.value)


def test_a_table_of_pandas_is_refused(words: dict[str, Any]) -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(UsageError, match="df must be a DataFrame of Spark"):
        deidentify(pandas.DataFrame({"note": []}), **words)
