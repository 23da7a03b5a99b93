"""`incognote deid` over tables: columns, pieces of one note, bad rows."""

from __future__ import annotations

import gzip
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

TABLE = 'mrn,when,note\n778-21-9934,2025,"Dr. Emily Carter, called"\n99-1,2024,"Nothing ""new""."\n'


@pytest.fixture
def deid(run: Run, tmp_path: Path) -> Run:
    """`incognote deid a.csv --out b.csv` with more words."""
    return lambda *words: run("deid", tmp_path / "a.csv", "--out", tmp_path / "b.csv", *words)


def test_a_table_is_served_by_what_is_said_of_its_columns(deid: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TABLE)
    done = deid("--text-column", "note", "--patient-column", "mrn", "--pass-column", "when")
    assert done.code == 0
    head, first, second = (tmp_path / "b.csv").read_text().splitlines()
    assert head == "mrn,when,note"
    assert first.endswith(',2025,"Dr. [PERSON], called"')
    assert second.endswith(',2024,"Nothing ""new""."')
    assert "778-21" not in first


def test_a_table_of_one_row_goes_to_the_standard_output_with_its_header(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,note\n1,Seen on 03/16/2025.\n")
    done = run("deid", tmp_path / "a.csv", "--text-column", "note", "--pass-column", "id")
    assert (done.code, done.out) == (0, "id,note\n1,Seen on [DATE].\n")


def test_a_column_nobody_named_is_refused_before_anything_is_done(deid: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TABLE)
    for args in ((), ("--text-column", "note"), ("--text-column", "note", "--data-type", "csvNotes")):
        assert deid(*args).code == 2
    assert list(tmp_path.glob("b*")) == []


def test_pieces_of_one_note_are_joined_and_go_back_to_their_rows(deid: Run, tmp_path: Path) -> None:
    rows = [
        "note_id,patient_id,line,text",
        "n1,p1,2,Carter called.",
        "n2,p2,1,Nothing.",
        "n1,p1,1,Then Dr. Emily Carter",
    ]
    (tmp_path / "a.csv").write_text("\r\n".join(rows) + "\r\n")
    done = deid("--data-type", "csvNotes", "--group", "note_id", "--order", "line")
    assert done.code == 0
    out = (tmp_path / "b.csv").read_bytes().decode()
    assert out.count("\r\n") == 4
    assert [line.split(",")[2] for line in out.splitlines()] == ["line", "2", "1", "1"]
    assert "Carter" not in out
    assert "Emily" not in out


def test_a_bad_row_is_held_and_the_others_go_on(deid: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(TABLE.encode() + b"1,2\n\xff,2024,x\n5,2024,fine\n")
    done = deid("--text-column", "note", "--hash-column", "mrn", "--pass-column", "when", "--json")
    assert done.code == 3
    assert (done.data["records"], done.data["released"]) == (5, 3)
    assert (tmp_path / "b.csv").read_text().endswith(",2024,fine\n")


@pytest.mark.parametrize(
    ("rows", "remedy"), [("id,id\n1,2\n", "table is not valid"), ("id,note\n1\n", "wrong number of columns")]
)
def test_a_broken_table_gets_the_remedy_of_a_table(run: Run, tmp_path: Path, rows: str, remedy: str) -> None:
    (tmp_path / "a.csv").write_text(rows)
    columns = ("--text-column", "note", "--pass-column", "id")
    done = run("deid", tmp_path / "a.csv", *columns)
    assert done.code == 3
    assert remedy in done.err
    assert "JSON" not in done.err


def test_a_pipe_that_is_named_is_read_once(run: Run, tmp_path: Path) -> None:
    broken = gzip.compress(b"Seen by Dr. Emily Carter.")[:-4]
    columns = ("--text-column", "note", "--patient-column", "mrn", "--pass-column", "when")
    cases = (("a.txt", b"Dr. Emily Carter called.", (), 0), ("a.csv", TABLE.encode(), columns, 0),
             ("a.txt.gz", broken, (), 3))  # fmt: skip
    for name, content, words, code in cases:
        os.mkfifo(tmp_path / name)
        with subprocess.Popen(["sh", "-c", 'cat > "$0"', tmp_path / name], stdin=subprocess.PIPE) as writer:
            assert writer.stdin is not None
            writer.stdin.write(content)
            writer.stdin.close()
            assert run("deid", tmp_path / name, "--out", tmp_path / f"out-{name}", *words).code == code
            assert writer.wait() == 0


def test_a_pipe_in_a_folder_of_tables_is_not_opened(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text(TABLE)
    os.mkfifo(tmp_path / "in" / "pipe.csv")
    columns = ("--text-column", "note", "--patient-column", "mrn", "--pass-column", "when")
    done = run("deid", tmp_path / "in", "--out", tmp_path / "out", *columns, "--json")
    assert (done.code, done.data["released"], done.data["not_read"]) == (3, 2, 1)
