"""JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote.errors import SettingError, UsageError
from incognote.jsonlines import read_rows, rows


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=6))
def test_a_value_is_read_as_it_was_written_whatever_signs_it_holds(words: list[str]) -> None:
    text = "".join(json.dumps(word, ensure_ascii=False) + "\n" for word in words)
    assert list(rows(text, "x")) == list(enumerate(words, 1))


def test_a_file_reads_as_its_text_does(tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    text = '\ufeff"a\u2028b\x85"\r\n\n  \n[1]'
    path.write_bytes(text.encode())
    assert list(read_rows(path)) == list(rows(text, "x")) == [(1, "a\u2028b\x85"), (4, [1])]


@pytest.mark.parametrize("bad", ['{"a": ', "[" * 100_000, "Quartermain"])
def test_a_line_that_is_not_json_is_named_by_its_number_alone(bad: str) -> None:
    with pytest.raises(SettingError, match=r"\Athe roster, line 3: not JSON\Z"):
        list(rows('{"name": "Quartermain"}\n\n' + bad, "the roster", SettingError))


def test_a_file_that_cannot_be_read_says_what_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "latin.jsonl").write_bytes(b'"Zo\xeb"')
    for name in ("latin.jsonl", "none.jsonl", "."):
        with pytest.raises(UsageError, match=r"GOLD cannot be read \(\w+\)\. It must be a file of JSON lines in UTF-8"):
            list(read_rows(tmp_path / name, "GOLD"))
