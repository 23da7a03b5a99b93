"""Reading shards again in every packing, and matching words as people write them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from incognote.errors import IncognoteError, UsageError
from incognote.ledger import LedgerEntry, Release, Shard
from incognote.nouns import subject_form
from incognote.runs.location import open_location
from incognote.runs.shards import Shape, packed, suffix
from incognote.service.recall.finding import _holds, _leaves, records, shard_bytes, with_words

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
    with pytest.raises(IncognoteError, match="changed after it was written") as told:
        records(name, b"\xff\xfe Zebulon")
    assert "Zebulon" not in str(told.value)


def test_a_shard_that_the_lab_deleted_is_nothing(tmp_path: Path) -> None:
    assert shard_bytes(open_location(str(tmp_path)), "r1/gone.jsonl") is None


def test_words_are_found_whatever_their_case_width_and_blanks() -> None:
    assert subject_form("  Tulip\n KESTREL\u00a0forty ") == "tulip kestrel forty"


@pytest.mark.parametrize(
    "text",
    ["mr zebulon quack-\nenbosh came", "zebulon\r\nquackenbosh", "Zebulon\u00ad Quacken\u00adbosh",
     "zebulon quack\u200benbosh", "ZEBULON\t\tQUACKEN-  \r\n   BOSH", "\ufeffzebulon quackenbosh"],
)  # fmt: skip
def test_words_are_found_where_a_line_ends_within_them(text: str) -> None:
    assert _holds(text, subject_form("Zebulon Quackenbosh"))
    assert _holds("tulip-\n  kestrel-forty", "tulip-kestrel-forty")
    assert not _holds(text, "zebulon quackenbush")


def test_a_name_in_two_fields_stands_together(tmp_path: Path) -> None:
    line = json.dumps({"name": [{"given": "Zebulon", "family": "Quackenbosh"}], "Haverstock": 1}).encode() + b"\n"
    (found,) = records("x.jsonl", line)
    assert _holds(found, "zebulon quackenbosh")
    assert _holds(found, "haverstock")


class Book:
    """A ledger with one shard of two records."""

    def __init__(self, rows: int) -> None:
        self.shard = Shard("r1/x.csv", 2, 9, "00")
        told = ("r1", "k" * 64, "released", 0, "r1/x.csv")
        self.rows = [LedgerEntry(n, *told, n, (), None, 0.0, "f") for n in range(1, rows + 1)]  # type: ignore[arg-type]  # a state

    def releases(self) -> list[Release]:
        return [Release(1, "r1", "0" * 16, {}, 0.0)]

    def shards(self, release: int) -> list[Shard]:
        return [self.shard]

    def entries(self, **_: object) -> Iterator[LedgerEntry]:
        return iter(self.rows)


def test_words_that_lie_in_two_rows_of_a_note_are_found(tmp_path: Path) -> None:
    (tmp_path / "r1").mkdir()
    (tmp_path / "r1" / "x.csv").write_text("note\nMr Zebulon\nQuackenbosh came\nwell\n")
    assert len(list(with_words(Book(2), open_location(str(tmp_path)), "zebulon quackenbosh"))) == 2  # type: ignore[arg-type]  # a ledger by its methods


def test_a_shard_that_is_not_there_is_told_since_nobody_knows_what_it_holds(tmp_path: Path) -> None:
    absent: list[str] = []
    assert list(with_words(Book(2), open_location(str(tmp_path)), "zebulon", absent.append)) == []  # type: ignore[arg-type]  # as above
    assert list(with_words(Book(0), open_location(str(tmp_path)), "zebulon", absent.append)) == []  # type: ignore[arg-type]  # as above
    assert absent == ["r1/x.csv"]


def test_too_few_characters_recall_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least 3"):
        next(with_words(None, open_location(str(tmp_path)), " a "))  # type: ignore[arg-type]  # refused before the ledger is used


def test_versions_are_sought_among_values_and_names_of_what_was_frozen() -> None:
    frozen = {"policy": {"name": "strict", "version": "ab12"}, "models": None, "schemas": {"note": "cd34"}}
    assert {"strict", "ab12", "cd34", "note"} <= _leaves(frozen)
    assert not {"None", "policy", "models", "version"} & _leaves(frozen)
