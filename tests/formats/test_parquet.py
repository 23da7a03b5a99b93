"""Parquet files through `deid`: columns and types stay, nothing of the original stays in dictionaries or metadata."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

from incognote.cli import app
from incognote.errors import AccountingError
from incognote.formats.parquet import ParquetRows
from incognote.keys import Keyring

COLUMNS = ("--text-column", "text", "--id-column", "id", "--patient-column", "mrn")
Deid = Callable[..., Any]


@pytest.fixture
def deid(tmp_path: Path) -> Deid:
    """Run `incognote deid`. Return its exit code, its words, and the output's path."""
    Keyring.write_new(tmp_path / "key")

    def run(file: Path, *options: str) -> tuple[int, str, Path | None]:
        out = tmp_path / "released"
        done = CliRunner().invoke(app, ["deid", str(file), "--out", str(out), "--detectors", "rules", "--key-file",
                                        str(tmp_path / "key"), "--keep-names", *options])  # fmt: skip
        return done.exit_code, done.output, out / file.name if (out / file.name).exists() else None

    return run


def _table(rows: int = 600) -> pa.Table:
    texts = [f"Dr. Emily Carter called, item {n}." for n in range(rows)]
    table = pa.table({
        "id": pa.array(range(rows), pa.int32()), "mrn": pa.array([f"MRN{n}" for n in range(rows)]).dictionary_encode(),
        "text": pa.array(texts, pa.large_string()), "day": pa.array([dt.date(2025, 3, 16)] * rows),
        "at": pa.array([1742119872123456789] * rows, pa.timestamp("ns")),
        "weight": pa.array([Decimal("71.50")] * rows, pa.decimal128(9, 2)),
        "ward": pa.array([f"Ward {n % 2}" for n in range(rows)]).dictionary_encode(),
    })  # fmt: skip
    return table.replace_schema_metadata({"pandas": '{"index_columns": ["Emily Carter"]}', "by": "Emily Carter"})


PASSED = ("--pass-column", "day", "--pass-column", "at", "--pass-column", "weight", "--pass-column", "ward")


def test_types_and_passed_values_stay_and_no_original_is_left_anywhere(deid: Deid, tmp_path: Path) -> None:
    parquet.write_table(_table(), tmp_path / "a.parquet", row_group_size=250, compression="zstd")
    code, said, out = deid(tmp_path / "a.parquet", *COLUMNS, *PASSED)
    assert code == 0, said
    assert out is not None
    table, before = parquet.read_table(out), _table()
    assert table.schema == before.schema.remove_metadata()
    assert table.select(["day", "at", "weight", "ward"]) == before.select(["day", "at", "weight", "ward"])
    assert table["text"][599].as_py() == "Dr. [PERSON] called, item 599."
    assert len(set(table["id"].to_pylist())) == 600
    metadata = parquet.read_metadata(out)
    assert metadata.row_group(0).column(0).compression == "ZSTD"
    assert metadata.metadata.keys() == {b"ARROW:schema"}
    plain = tmp_path / "plain.parquet"  # the same columns without compression
    parquet.write_table(parquet.read_table(out), plain, compression="none")
    assert not any(word in plain.read_bytes() for word in (b"Emily", b"Carter", b"MRN5"))


def test_the_dictionary_of_a_column_has_no_value_of_a_row_that_is_held(deid: Deid, tmp_path: Path) -> None:
    table = pa.table({"id": ["1", "2"], "text": ["Fine.", "%!PS-Adobe-3.0\n1 0 obj"],
                      "ward": pa.array(["A", "Secret"]).dictionary_encode()})  # fmt: skip
    parquet.write_table(table, tmp_path / "a.parquet")
    columns = ("--text-column", "text", "--id-column", "id", "--pass-column", "ward")
    code, said, out = deid(tmp_path / "a.parquet", *columns)
    assert code == 3, said
    assert out is not None
    assert parquet.read_table(out)["ward"].to_pylist() == ["A"]
    assert b"Secret" not in out.read_bytes()


@pytest.mark.parametrize(("table", "options", "says"), [
    (_table(1), COLUMNS, "no rule for"), (_table(1), (), "--data-type"),
    (pa.table({"text": ["a"], "scan": [b"x"]}), ("--text-column", "text", "--pass-column", "scan"), "binary or nested"),
    (pa.table({"text": [["a"]]}), ("--text-column", "text"), "binary or nested"),
])  # fmt: skip
def test_a_file_whose_columns_do_not_fit_is_refused(
    deid: Deid, tmp_path: Path, table: pa.Table, options: Any, says: str
) -> None:
    parquet.write_table(table, tmp_path / "a.parquet")
    code, said, out = deid(tmp_path / "a.parquet", *options)
    assert code == 2
    assert says in " ".join(said.split())
    assert out is None


def test_a_damaged_file_is_held(deid: Deid, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1" + bytes(40) + b"PAR1")
    code, said, out = deid(tmp_path / "a.parquet", "--text-column", "text")
    assert (code, out) == (3, None)
    assert "malformed-table" in said


def test_held_rows_are_retried_into_a_parquet_file(deid: Deid, tmp_path: Path) -> None:
    table = pa.table({"id": [1, 2], "text": ["Fine.", "Seen by Dr. Emily Carter."]})
    parquet.write_table(table, tmp_path / "a.parquet")
    held = tmp_path / "released-quarantine"
    code, said, _ = deid(tmp_path / "a.parquet", "--text-column", "text", "--id-column", "id", "--policy",
                         str(_needing_patient(tmp_path)))  # fmt: skip
    assert code == 3, said
    done = CliRunner().invoke(app, ["quarantine", "retry", str(held), "--out", str(tmp_path / "again"), "--detectors",
                                    "rules", "--key-file", str(tmp_path / "key")])  # fmt: skip
    assert done.exit_code == 0, done.output
    [out] = (tmp_path / "again").glob("*.parquet")
    assert parquet.read_table(out)["text"].to_pylist() == ["Fine.", "Seen by Dr. [PERSON]."]


def _needing_patient(folder: Path) -> Path:
    path = folder / "shifted.toml"
    path.write_text('name = "shifted"\nextends = "strict"\n[types.DATE]\noperator = "date-shift"\n')
    return path


def test_a_file_with_other_words_than_were_released_gets_no_name(tmp_path: Path) -> None:
    from incognote.formats.parquet import reader
    from incognote.formats.tables import Columns, Layout

    parquet.write_table(pa.table({"text": ["Fine."]}), tmp_path / "a.parquet")
    with (tmp_path / "a.parquet").open("rb") as stream:
        [row] = reader(Layout(Columns(("text",))))(stream, "")
    with (tmp_path / "b.parquet").open("wb") as out:
        rows = ParquetRows(out, row)  # type: ignore[arg-type]  # it could be opened
        rows.add(row, json.dumps({"text": "Good."}))  # type: ignore[arg-type]  # the same
        rows.close()
    rows.check(tmp_path / "b.parquet")
    with pytest.raises(AccountingError):
        rows.check(tmp_path / "a.parquet")
