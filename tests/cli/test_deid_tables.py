"""`incognote deid` on tables: columns, notes split across rows, and bad rows."""

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
    """Run `incognote deid a.csv --out b.csv` with more arguments."""
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


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three tables with different columns and delimiters, a note, and a description of the tables."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in" / "labs").mkdir(parents=True)
    rows = "mrn,surname,when,note\n778-21-9934,Zorn,2025,Zorn seen by Dr. Carter.\n"
    (tmp_path / "in" / "notes-2026.csv").write_text(rows)
    (tmp_path / "in" / "labs" / "a.csv").write_text("id|comment\n1|Called Emily Carter, RN; stable.\n")
    (tmp_path / "in" / "letter.txt").write_text("Dr. Emily Carter called.")
    (tmp_path / "tables.toml").write_text(
        '[[table]]\nfiles = "notes-*.csv"\ntext = ["note"]\npatient = "mrn"\nknown = { surname = "PATIENT" }\n'
        'keep = ["when"]\n\n[[table]]\nfiles = ["labs/*.csv"]\ntext = ["comment"]\nkeep = ["id"]\ndelimiter = "|"\n'
    )
    return tmp_path / "in"


def test_each_table_of_a_mixed_folder_is_read_by_its_own_entry(run: Run, folder: Path) -> None:
    done = run("deid", folder, "--out", "out", "--keep-names", "--tables", "tables.toml")
    assert done.code == 0, done.err
    notes = Path("out/notes-2026.csv").read_text()
    assert notes.startswith("mrn,surname,when,note\n")
    assert ",2025,[PERSON] seen by Dr. [PERSON]." in notes
    assert "778-21" not in notes
    assert Path("out/labs/a.csv").read_text().startswith("id|comment\n1|Called [PERSON]")
    assert run("deid", folder, "--out", "out", "--keep-names", "--tables", "tables.toml", "--resume").code == 0
    Path("tables.toml").write_text(Path("tables.toml").read_text().replace('keep = ["when"]', 'drop = ["when"]'))
    done = run("deid", folder, "--out", "out", "--keep-names", "--tables", "tables.toml", "--resume")
    assert "other settings (tables)" in done.err


def test_a_held_row_of_a_described_table_can_be_retried(run: Run, folder: Path, per_patient: Path) -> None:
    words = ("deid", folder / "labs", "--tables", "tables.toml", "--policy", per_patient)
    Path("tables.toml").write_text(Path("tables.toml").read_text().replace("labs/", ""))
    assert run(*words, "--out", "out").code == 3
    done = run("quarantine", "retry", "out-quarantine", "--out", "again", "--patient", "7")
    assert done.code == 0, done.err
    assert next(Path("again").glob("*.csv")).read_text().startswith("id|comment\n1|Called [PERSON]")


def test_a_table_without_an_entry_is_refused_by_its_path_and_columns_before_anything_is_written(
    run: Run, folder: Path
) -> None:
    (folder / "visits.csv").write_text("visit_id,note,Hollis Vane\n1,x,y\n")
    (folder / "notes-2027.csv").write_text("mrn,note\n1,x\n")
    done = run("deid", folder, "--out", "out", "--tables", "tables.toml")
    assert done.code == 2
    assert f"{folder}/visits.csv: no entry matches. Its columns: column 'visit_id', " in done.err
    assert "column 'note', column 3." in done.err
    assert f"{folder}/notes-2027.csv: " in done.err
    assert "Hollis" not in done.err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("", "must hold [[table]] entries"),
        ("[[table]", "is not valid TOML"),
        ('[[table]]\ntext = ["a"]', "table 1: files: Field required"),
        ('[[table]]\nfiles = "*"\ntext = "a"', 'table 1: text: Write a list, such as ["NAME"].'),
        ('[[table]]\nfiles = "*"\ntexts = ["a"]', "texts: Extra inputs are not permitted. Allowed keys: files, text"),
        ('[[table]]\nfiles = "*"\nkeep = ["a"]', "needs at least one text column"),
        ('[[table]]\nfiles = "*"\ntext = ["a"]\nkeep = ["a"]', "'a'"),
        ('[[table]]\nfiles = "*"\ntext = ["a"]\nknown = {b = "NOBODY"}', "no entity type 'NOBODY'"),
        ('[[table]]\nfiles = "*"\ntext = ["a"]\ndelimiter = "::"', "must be one character"),
        ('[[table]]\nfiles = "*"', "Set either `data_type` or columns"),
    ],
)
def test_a_wrong_entry_names_the_file_the_entry_and_the_key(run: Run, folder: Path, written: str, said: str) -> None:
    Path("tables.toml").write_text(written)
    done = run("deid", folder, "--out", "out", "--tables", "tables.toml")
    assert (done.code, done.out) == (2, "")
    assert "--tables: tables.toml" in done.err
    assert said in done.err


def test_the_file_of_tables_and_column_options_exclude_each_other(run: Run, folder: Path) -> None:
    done = run("deid", folder, "--out", "out", "--tables", "tables.toml", "--text-column", "note")
    assert (done.code, "Remove the other options for tables" in done.err) == (2, True)
    assert "cannot be read: No such file" in run("deid", folder, "--out", "out", "--tables", "absent.toml").err
