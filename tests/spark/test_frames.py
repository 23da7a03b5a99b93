"""Tables on a session of this machine: the same outputs as without Spark, and nothing of a held row."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from incognote import Deidentifier
from incognote.errors import AccountingError, SettingError, UnknownName, UsageError
from incognote.files.quarantine import Quarantine
from incognote.keys import Keyring
from incognote.service.drift import DriftStore
from incognote.spark import deidentify, deliver, drift, held, released, tally

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
def words(key_file: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The same settings for all jobs, so that each worker opens one Deidentifier."""
    return {"text": "note", "patient": "patient", "id": "n", "known": "mrn", "detectors": ["rules"],
            "key_file": str(key_file), "quarantine": tmp_path_factory.mktemp("quarantine") / "held"}  # fmt: skip


@pytest.fixture(scope="module")
def done(rows: DataFrame, words: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    """The rows, de-identified and written."""
    folder = tmp_path_factory.mktemp("done")
    made = deidentify(rows, keep="ward", **words)
    made.write.partitionBy("verdict").parquet(str(folder / "out"))
    return rows.sparkSession.read.schema(made.schema).parquet(str(folder / "out"))


def test_the_outputs_are_those_of_a_table_of_pandas(done: DataFrame, key_file: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(ROWS, columns=[one.split()[0] for one in SCHEMA.split(", ")]).astype({"mrn": "object"})
    with Deidentifier(key_file=key_file, detectors=["rules"]) as single:
        expected = single.deidentify_frame(table, text="note", patient="patient", known=["mrn", "n"], keep=[])
    names = ["n", "patient", "note", "mrn", "ward", "verdict"]
    mine = sorted(tuple(row[name] for name in names) for row in done.collect())
    its = sorted(tuple(None if v != v else v for v in row) for row in expected[names].itertuples(index=False))
    assert [row[:1] + row[2:] for row in mine] == [row[:1] + row[2:] for row in its]
    assert {row[1] for row in mine} == {row[1] for row in its}
    assert {row[5] for row in mine} >= {"release", "quarantine"} or {row[5] for row in mine} >= {"release", "review"}


def test_a_held_row_has_no_text_and_is_encrypted_in_the_quarantine(
    done: DataFrame, words: dict[str, Any], key_file: Path
) -> None:
    folder = Path(words["quarantine"])
    (one,) = held(done).collect()
    assert one["note"] is None
    assert [reason["code"] for reason in one["reasons"]]
    assert CANARY not in str(one)
    quarantine = Quarantine(folder, Keyring.read(key_file))
    (item,) = quarantine.items()
    assert quarantine.open(item).data.decode() == FOREIGN
    assert all(CANARY.encode() not in path.read_bytes() for path in folder.iterdir())
    assert {reason.code for reason in item.reasons} == {reason["code"] for reason in one["reasons"]}


def test_each_row_says_what_made_it(done: DataFrame, key_file: Path) -> None:
    keyring = Keyring.read(key_file)
    row = released(done).filter("note is not null").collect()[0]
    manifest = row["manifest"].asDict()
    assert (manifest["key"], manifest["check"], manifest["policy"]) == (keyring.id, keyring.check, "strict")
    assert "detector:rules" in json.loads(manifest["versions"])
    assert manifest["replaced"] == sum(manifest["by_type"].values())


def test_the_counts_balance_with_the_source_or_the_job_fails(done: DataFrame) -> None:
    told = tally(done, read=len(ROWS))
    assert (told.outcomes["release"], told.held) == (len(ROWS) - 1, 1)
    assert told.replaced["DATE"] > 0
    assert told.labels["policy"]["name"] == "strict"
    with pytest.raises(AccountingError, match="10 records were read, but 9"):
        tally(done, read=len(ROWS) + 1)


def test_the_counts_of_a_result_are_added_to_those_of_its_source(
    done: DataFrame, key_file: Path, tmp_path: Path
) -> None:
    pytest.importorskip("sqlalchemy", reason="the extra `service` is not installed")
    url = f"sqlite:///{tmp_path / 'service.db'}"
    assert drift(done, source="ward 3", key_file=key_file, service={"database": url}) == []
    with closing(DriftStore(url, Keyring.read(key_file))) as store:
        assert store._sides(store.source("ward 3"))[0].records == done.filter("manifest is not null").count() > 0


def test_a_stream_of_files_gives_what_a_table_gives(
    spark: SparkSession, rows: DataFrame, done: DataFrame, words: dict[str, Any], tmp_path: Path
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
        str([row[name] for name in names]) for row in done.collect()
    )


def test_the_ledger_delivers_each_record_once_across_jobs(
    rows: DataFrame, words: dict[str, Any], tmp_path: Path
) -> None:
    place = {"destination": str(tmp_path / "lab"), "ledger": f"sqlite:///{tmp_path / 'ledger.db'}", "release": "r1"}
    first = deliver(rows.filter("n < 4"), **place, **words)
    second = deliver(rows, **place, **words)
    assert first.outcomes == {"release": 4}
    assert second.outcomes == {"release": 7, **{k: v for k, v in second.outcomes.items() if k != "release"}}
    assert (second.read, second.held) == (8, 1)
    lines = [line for path in (tmp_path / "lab" / "r1").iterdir() for line in path.read_text().splitlines()]
    assert len(lines) == len(set(lines)) == 7


def test_a_worker_without_a_key_fails_with_the_remedy_and_without_a_value(
    rows: DataFrame, words: dict[str, Any]
) -> None:
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
