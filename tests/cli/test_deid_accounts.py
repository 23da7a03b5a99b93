"""`incognote deid`: every input is released, in review, quarantined, or listed as unread. None stops the others."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.files.quarantine import listed

Run = Callable[..., Any]
PS = b"%!PS-Adobe-3.0\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Filter /ASCII85Decode >>\nendobj\n%%EOF\n"
NOTE = "Seen by Dr. Emily Carter on 03/16/2025.\n"
COLUMNS = ("--text-column", "note", "--pass-column", "id")


def _odt() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        made.writestr("content.xml", "<text:p>Emily Carter</text:p>")
    return out.getvalue()


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A folder with a note, a PostScript file, and an ODT file."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "note.txt").write_text(NOTE)
    (folder / "scan.ps").write_bytes(PS)
    (folder / "letter.odt").write_bytes(_odt())
    return folder


def test_a_postscript_and_an_odt_beside_a_note_go_to_quarantine_by_what_they_are(
    run: Run, mixed: Path, tmp_path: Path
) -> None:
    done = run("deid", mixed, "--out", tmp_path / "out")
    assert done.code == 3
    lines = [line.split() for line in done.out.splitlines()]
    assert ["ODT", "1"] in lines
    assert ["PostScript", "1"] in lines
    assert "--format text" not in done.out + done.err
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    told = {name: manifest[name] for name in ("records", "released", "review", "quarantined", "not_read")}
    assert told == {"records": 3, "released": 1, "review": 0, "quarantined": 2, "not_read": 0}
    assert manifest["unsupported"] == {"ODT": 1, "PostScript": 1}
    assert [held.reasons[0].code for held in listed(tmp_path / "out-quarantine")] == ["unsupported-format"] * 2


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (PS, "PostScript"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"><text>Emily Carter</text></svg>', "SVG"),
    ],
)
def test_a_format_in_a_txt_is_not_taken_for_text_at_any_entrance(
    run: Run, process: Run, tmp_path: Path, content: bytes, what: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    (tmp_path / "a.ps").write_bytes(content)
    for done in (
        run("deid", path),
        run("deid", tmp_path / "a.ps"),
        run("deid", tmp_path / "a.ps", "--format", "text"),
        process("deid", "-", stdin=content),
        process("deid", "-", "--format", "text", stdin=content),
    ):
        assert (done.code, done.out) == (3, "")
        assert f"unsupported-format: {what}, a format without a reader" in done.err
        assert "--format" not in done.err


def test_a_document_with_another_suffix_is_read_as_what_it_is_at_every_entrance(
    run: Run, process: Run, tmp_path: Path
) -> None:
    content = b"{\\rtf1\\ansi Dr. Emily Carter{\\v 4471902}\\par}"
    for name in ("a.txt", "a.ps"):
        (tmp_path / name).write_bytes(content)
    for done in (
        run("deid", tmp_path / "a.txt"),
        run("deid", tmp_path / "a.ps"),
        run("deid", tmp_path / "a.ps", "--format", "text"),
        process("deid", "-", stdin=content),
        process("deid", "-", "--format", "text", stdin=content),
    ):
        assert (done.code, done.out) == (0, "{\\rtf1\\ansi Dr. [PERSON]{\\v }\\par}")


def test_one_odd_file_never_stops_its_neighbours(run: Run, mixed: Path, tmp_path: Path) -> None:
    (mixed / "a.csv").write_text("id,note\n1,Seen by Dr. Emily Carter.\n")
    (mixed / "bad.csv").write_text("who,what\n1,Seen by Dr. Emily Carter.\n")
    (mixed / "nowhere.txt").symlink_to("gone")
    done = run("deid", mixed, "--out", tmp_path / "one", "--json")
    told = done.data
    assert (told["records"], told["released"], told["quarantined"], told["not_read"]) == (5, 1, 4, 1)
    assert told["reasons"]["quarantine"] == {"unknown-data-type": 2, "unsupported-format": 2}
    done = run("deid", mixed, "--out", tmp_path / "two", *COLUMNS, "--json")
    told = done.data
    assert (told["records"], told["released"], told["quarantined"], told["not_read"]) == (5, 2, 3, 1)
    assert told["reasons"]["quarantine"] == {"schema-violation": 1, "unsupported-format": 2}


def test_a_table_that_nothing_fits_is_refused_by_its_path_where_there_is_nothing_else(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a.csv", "b.csv"):
        (tmp_path / "in" / name).write_text("who,what\n1,x\n")
    done = run("deid", tmp_path / "in", "--out", tmp_path / "out", *COLUMNS)
    assert done.code == 2
    assert f"{tmp_path}/in/a.csv: " in done.err
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_read_is_named_as_it_was_typed_and_counted(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    Path("in/note.txt").write_text(NOTE)
    Path("in/gone.txt").symlink_to("nothing")
    Path("elsewhere.txt").write_text(NOTE)
    Path("in/out.txt").symlink_to("../elsewhere.txt")
    os.mkfifo("in/pipe.txt")
    done = run("deid", "./in", "--out", "out")
    assert done.code == 3
    assert "incognote: not read: ./in/gone.txt: a broken link\n" in done.err
    assert "incognote: not read: ./in/pipe.txt: a pipe, a socket, or a device\n" in done.err
    assert "incognote: not read: ./in/out.txt: a link to a file outside the folder. Name the link" in done.err
    assert "3 inputs not read" in done.out
    assert not Path("out-quarantine").exists()
    manifest = json.loads(Path("out/manifest.json").read_text())
    assert (manifest["records"], manifest["released"], manifest["not_read"]) == (1, 1, 3)
    assert "gone" not in Path("out/manifest.json").read_text()
    ignoring = run("deid", "./in", "--out", "again", "--ignore-unreadable")
    assert ignoring.code == 0
    assert "not read: ./in/gone.txt" in ignoring.err


def test_a_file_without_the_right_to_read_it_is_not_read(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text(NOTE)
    (tmp_path / "a.txt").chmod(0)
    if os.geteuid() == 0:  # root can read every file

        def refused(path: Path, *rest: Any, **more: Any) -> Any:
            if path.name == "a.txt":
                raise PermissionError(13, "Permission denied")
            return real(path, *rest, **more)

        real = Path.open
        monkeypatch.setattr(Path, "open", refused)
    done = run("deid", tmp_path / "a.txt")
    assert (done.code, done.out) == (3, "")
    assert f"not read: {tmp_path}/a.txt: permission denied" in done.err


def test_a_file_that_breaks_off_under_the_reader_is_not_read_to_its_end(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulates a failing disk: records read before the failure are processed, and the rest is reported."""
    from incognote.files import inputs

    (tmp_path / "a.jsonl").write_text('{"id": "1", "text": "Stable."}\n{"id": "2", "text": "Home."}\n')
    (tmp_path / "b.jsonl").write_text('{"id": "3", "text": "Well."}\n')
    real, reads = inputs.at, [0]

    def at(disk: Any) -> int:
        reads[0] += 1
        if reads[0] == 2:
            raise OSError(5, "Input/output error")
        return real(disk)

    monkeypatch.setattr(inputs, "at", at)
    paths = (tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    done = run("deid", *paths, "--out", tmp_path / "out", "--json")
    assert done.code == 3
    assert (done.data["released"], done.data["not_read"]) == (2, 1)
    assert f"not read: {tmp_path}/a.jsonl: input/output error, from record" in done.err


def test_hidden_files_are_left_out_and_named(run: Run, mixed: Path, tmp_path: Path) -> None:
    for name in ("scan.ps", "letter.odt"):
        (mixed / name).unlink()
    (mixed / ".secret.txt").write_text(NOTE)
    done = run("deid", mixed, "--out", tmp_path / "out")
    assert done.code == 0
    assert f"skipped: {mixed}/.secret.txt: its name is that of a hidden file or system file" in done.err
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["hidden"] == 1


def test_a_name_steers_no_terminal(run: Run, mixed: Path, tmp_path: Path) -> None:
    (mixed / "a\x1b[2J.txt").symlink_to("nothing")
    assert "\x1b" not in run("deid", mixed, "--out", tmp_path / "out").err


def test_a_path_that_is_not_there_is_not_read_and_the_others_are(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(NOTE)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "b.txt").write_text(NOTE)
    paths = (tmp_path / "a.txt", tmp_path / "gone.csv", tmp_path / "in")
    done = run("deid", *paths, "--out", tmp_path / "out", "--json")
    assert (done.code, done.data["released"], done.data["not_read"]) == (3, 2, 1)
    assert f"not read: {tmp_path}/gone.csv: no such file or directory\n" in done.err
    assert run("deid", *paths, "--out", tmp_path / "again", "--ignore-unreadable").code == 0


def test_paths_none_of_which_is_there_are_refused_before_anything_is_done(run: Run, tmp_path: Path) -> None:
    one, two = tmp_path / "one.txt", tmp_path / "two"
    done = run("deid", one, two, "--out", tmp_path / "out")
    assert (done.code, done.err) == (2, f"incognote: {one}, {two}: no such file or folder.\n")
    assert not (tmp_path / "out").exists()


def test_known_values_that_nothing_seeks_are_told_once_in_numbers(run: Run, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "in" / name).write_text(NOTE)
    (tmp_path / "known.csv").write_text("name,mrn\nAl,A-12\nEmily Carter,007\n")
    done = run("deid", tmp_path / "in", "--out", tmp_path / "out", "--known", tmp_path / "known.csv")
    assert done.code == 0
    said = "too short to search for, or that do not fit their type: 2 MEDICAL_RECORD_NUMBER, 1 PERSON\n"
    assert done.err.count(said) == 1
    assert "A-12" not in done.out + done.err
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["unsought"] == {"MEDICAL_RECORD_NUMBER": 2, "PERSON": 1}
    assert "unsought" in run("deid", tmp_path / "in" / "a.txt", "--json").data


def test_lines_on_the_standard_input_are_records(process: Run, tmp_path: Path) -> None:
    lines = b'{"id": "1", "text": "Dr. Emily Carter called."}\n{"id": "2", "text": "Home."}\n'
    done = process("deid", "-", "--out", tmp_path / "out", "--json", stdin=lines)
    assert (done.code, done.data["released"]) == (0, 2)


def test_a_single_pdf_goes_to_quarantine_whatever_the_output_is_called(run: Run, mixed: Path, tmp_path: Path) -> None:
    done = run("deid", mixed / "scan.ps", "--out", tmp_path / "clean.txt")
    assert done.code == 3
    assert not (tmp_path / "clean.txt").exists()
    (held,) = listed(tmp_path / "clean.txt-quarantine")
    assert (held.kind, held.kept) == ("other", True)
    shown = run("quarantine", "show", tmp_path / "clean.txt-quarantine", held.name, "--show-anyway")
    assert "unsupported-format: PostScript" in shown.err
    assert run("quarantine", "retry", tmp_path / "clean.txt-quarantine", "--out", tmp_path / "r").code == 3
