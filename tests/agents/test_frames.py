"""Polars frames and Hugging Face datasets give the same results as pandas frames, and no file is written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from incognote import Deidentifier, UsageError

pl = pytest.importorskip("polars", reason="needs the extra frames")
datasets = pytest.importorskip("datasets", reason="needs the extra frames")

ROWS = [
    {"note": "Zorrquill seen today, MRN 48213977.", "pat": "P-77812", "mrn": 48213977, "name": "Zorrquill", "age": 70},
    {"note": "Zorrquill is well.", "pat": "P-77812", "mrn": None, "name": "", "age": 71},
    {"note": None, "pat": None, "mrn": 48213977, "name": None, "age": 72},
    {"note": "Call 617-555-0142.", "pat": "P-9", "mrn": 5, "name": "Oyelowo", "age": 73},
]
ROLES: dict[str, Any] = {"text": "note", "patient": "pat", "known": ["mrn", "name"]}
PHI = ("48213977", "P-77812", "P-9", "Oyelowo", "617-555-0142")


def streamed(rows: list[dict[str, Any]]) -> Any:
    """An IterableDataset of the rows."""
    return datasets.Dataset.from_list(rows).to_iterable_dataset(num_shards=1)


KINDS: dict[str, tuple[Callable[[list[dict[str, Any]]], Any], Callable[[Any], Iterable[dict[str, Any]]]]] = {
    "pandas": (pd.DataFrame, lambda df: df.astype(object).where(df.notna(), None).to_dict("records")),
    "polars": (pl.DataFrame, lambda df: df.to_dicts()),
    "polars lazy": (pl.LazyFrame, lambda df: df.collect().to_dicts()),
    "polars streaming": (pl.LazyFrame, lambda df: df.collect(engine="streaming").to_dicts()),
    "datasets": (datasets.Dataset.from_list, lambda ds: ds.to_list()),
    "datasets iterable": (streamed, list),
}


@pytest.fixture(scope="module")
def deid() -> Deidentifier:
    """One instance for the module."""
    return Deidentifier(key="6b" * 32, detectors=("rules",))


@pytest.fixture(scope="module")
def expected(deid: Deidentifier) -> list[dict[str, Any]]:
    """The rows that the pandas path returns."""
    make, rows = KINDS["pandas"]
    return list(rows(deid.deidentify_frame(make(ROWS), **ROLES)))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_rows_and_columns(
    kind: str, deid: Deidentifier, expected: list[dict[str, Any]]
) -> None:
    make, rows = KINDS[kind]
    given = make(ROWS)
    result = deid.deidentify_frame(given, **ROLES)
    assert type(result) is type(given)
    assert list(rows(result)) == expected
    assert list(rows(given)) == ROWS


def test_the_rows_are_deidentified_linked_by_hash_and_keep_what_is_missing(expected: list[dict[str, Any]]) -> None:
    assert [row["note"] for row in expected] == [
        "[PERSON] seen today, MRN [MEDICAL_RECORD_NUMBER].", "Zorrquill is well.", None, "Call [TELEPHONE_NUMBER]."
    ]  # fmt: skip
    assert expected[0]["pat"] == expected[1]["pat"] != expected[3]["pat"]
    assert expected[0]["mrn"] == expected[2]["mrn"] != expected[3]["mrn"]
    assert [row["name"] for row in expected[1:3]] == ["", None]
    assert [row["verdict"] for row in expected] == ["release"] * 4
    assert [row["age"] for row in expected] == [70, 71, 72, 73]
    assert list(expected[0]) == ["note", "pat", "mrn", "name", "age", "verdict", "reasons"]
    assert not [phi for phi in PHI if phi in str(expected)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_text_of_a_held_row_is_missing_and_its_reason_is_given(kind: str, deid: Deidentifier) -> None:
    make, rows = KINDS[kind]
    first, second = rows(deid.deidentify_frame(make([{"note": 1}, {"note": None}]), text="note"))
    assert (first["note"], first["verdict"]) == (None, "quarantine")
    assert "has a value that is not text" in first["reasons"]
    assert (second["note"], second["verdict"], second["reasons"]) == (None, "release", "")


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_table_and_a_table_of_missing_notes_keep_their_columns(kind: str, deid: Deidentifier) -> None:
    make, rows = KINDS[kind]
    assert list(rows(deid.deidentify_frame(make([{"note": None}]), text="note"))) == [
        {"note": None, "verdict": "release", "reasons": ""}
    ]
    if kind.startswith("polars"):
        empty = deid.deidentify_frame(make(ROWS).filter(pl.col("age") > 99), **ROLES)
        assert empty.lazy().collect().columns == [*ROWS[0], "verdict", "reasons"]
        assert list(rows(empty)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_column_is_an_error_before_any_note_is_read(kind: str, deid: Deidentifier) -> None:
    make, _ = KINDS[kind]
    with pytest.raises(UsageError, match="no column 'text'"):
        deid.deidentify_frame(make(ROWS), text="text")
    with pytest.raises(UsageError, match="no column 'nam'"):
        deid.deidentify_frame(make(ROWS), text="note", known=["nam"])
    with pytest.raises(UsageError, match="already has a column 'verdict'"):
        deid.deidentify_frame(make([{"note": "a", "verdict": 1}]), text="note")


def test_something_that_is_not_a_table_is_an_error_that_names_the_kinds(deid: Deidentifier) -> None:
    notes = ["Seen by Dr. Abara"]
    for given, kind in ((notes, "list"), (pd.Series(notes), "Series"), (pl.Series(notes), "Series")):
        with pytest.raises(UsageError, match=rf"not {kind}\. For a list of notes, use batch") as caught:
            deid.deidentify_frame(given, text="note")
        assert "Abara" not in str(caught.value)


def test_two_columns_of_one_name_are_an_error(deid: Deidentifier) -> None:
    with pytest.raises(UsageError, match="several columns named 'note'"):
        deid.deidentify_frame(pd.DataFrame([["a", "b"]], columns=["note", "note"]), text="note")


def test_a_known_cell_may_be_a_list_in_every_library(deid: Deidentifier) -> None:
    rows = [{"note": "zorrquill and plughfoo are well", "names": ["Zorrquill", "Plughfoo"]}]
    for make in (pl.DataFrame, datasets.Dataset.from_list, lambda rows: pl.DataFrame(rows).to_pandas()):
        result = deid.deidentify_frame(make(rows), text="note", known=["names"])
        assert result["note"][0] == "[PERSON] and [PERSON] are well"
        assert "lughfoo" not in str(result["names"][0])


def test_a_filter_on_the_verdict_is_applied_after_the_notes_were_read(deid: Deidentifier) -> None:
    frame = deid.deidentify_frame(pl.LazyFrame(ROWS), **ROLES)
    kept = frame.filter(pl.col("note").str.contains("PERSON")).select("age", "note").collect()
    assert kept["age"].to_list() == [70]


def test_a_dataset_keeps_its_other_columns_features_split_and_format(deid: Deidentifier) -> None:
    features = datasets.Features(
        {"note": datasets.Value("large_string"), "label": datasets.ClassLabel(names=["no", "yes"])}
    )
    rows = [{"note": row["note"], "label": i % 2} for i, row in enumerate(ROWS)]
    given = datasets.Dataset.from_list(rows, features=features, split="train").with_format("numpy")
    result = deid.deidentify_frame(given, text="note")
    assert result.features["label"] == features["label"]
    assert (result.split, result.format["type"]) == ("train", "numpy")
    both = deid.deidentify_frame(datasets.DatasetDict({"train": given, "test": given}), text="note")
    assert both["test"].with_format(None).to_list() == result.with_format(None).to_list()


def test_no_note_lands_in_a_cache_or_another_file(
    deid: Deidentifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.Dataset.from_list(ROWS).save_to_disk(tmp_path / "source")
    source = datasets.load_from_disk(tmp_path / "source")  # on disk, where `map` would put its cache files
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    results = [
        deid.deidentify_frame(each, **ROLES)
        for each in (source, source.shuffle(seed=1, keep_in_memory=True), source.to_iterable_dataset())
    ]
    assert sorted(len(list(result)) for result in results) == [4, 4, 4]
    assert results[1][0]["age"] == source.shuffle(seed=1, keep_in_memory=True)[0]["age"]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()} == before
    for result in results[:2]:
        result.save_to_disk(tmp_path / "out")
        written = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
        assert not [phi for phi in PHI if phi.encode() in written]
    assert os.listdir(temporary) == []
