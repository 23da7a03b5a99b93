"""Reading shards again, whatever they are packed in; matching words as people write them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from incognote.errors import IncognoteError, UsageError
from incognote.service.recall.finding import _folded, _leaves, with_words
from incognote.service.recall.shards import records, shard_bytes
from incognote.service.sinks.packing import Shape, packed, suffix
from incognote.service.sinks.place import place

LINES = [
    json.dumps({"note": f"note {n}: Sé\u00f1or", "n": n, "deep": [{"a": None}]}).encode() + b"\n" for n in range(3)
]


@pytest.mark.parametrize("packing", ["none", "gzip", "zstd"])
def test_lines_of_json_come_back_as_the_text_of_their_values(packing: str) -> None:
    shape = Shape()
    data = packed(shape, LINES, "lines", packing)  # type: ignore[arg-type]  # one of three words
    found = records("x" + suffix(shape, "lines", packing), data)  # type: ignore[arg-type]  # one of three words
    assert len(found) == 3
    assert "note 1: Sé\u00f1or" in found[1]


def test_rows_of_a_table_come_back_without_their_head() -> None:
    shape = Shape("csv", "id,note\n")
    data = packed(shape, [b'1,"two\nlines"\n', b"2,x\n"], "lines", "none")
    assert records("x.csv", data) == ["1 two\nlines", "2 x"]


def test_rows_of_parquet_come_back() -> None:
    pytest.importorskip("pyarrow")
    found = records("x.parquet", packed(Shape(), LINES, "parquet", "zstd"))
    assert ["note 2" in text for text in found] == [False, False, True]


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.csv"])
def test_a_damaged_shard_is_told_without_a_word_of_it(name: str) -> None:
    with pytest.raises(IncognoteError, match="not as it was written") as told:
        records(name, b"\xff\xfe Zebulon")
    assert "Zebulon" not in str(told.value)


def test_a_shard_that_the_lab_deleted_is_nothing(tmp_path: Path) -> None:
    assert shard_bytes(place(str(tmp_path)), "r1/gone.jsonl") is None


def test_words_are_found_whatever_their_case_width_and_blanks() -> None:
    assert _folded("  Tulip\n KESTREL\u00a0forty ") == "tulip kestrel forty"


def test_too_few_characters_recall_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least 3"):
        next(with_words(None, place(str(tmp_path)), " a "))  # type: ignore[arg-type]  # refused before it is asked


def test_versions_are_sought_among_values_and_names_of_what_was_frozen() -> None:
    frozen = {"policy": {"name": "strict", "version": "ab12"}, "models": None, "schemas": {"note": "cd34"}}
    assert {"strict", "ab12", "cd34", "note"} <= _leaves(frozen)
    assert not {"None", "policy", "models", "version"} & _leaves(frozen)
