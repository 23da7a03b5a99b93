"""`incognote deid`: what is released and what is held. No record is lost, and no file is half-written."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.files import outputs
from incognote.files.atomic import exclusive
from incognote.files.quarantine import listed
from incognote.files.sources import find

Run = Callable[..., Any]
Command = Callable[..., list[str]]

NOTE = "Seen by Dr. Emily Carter on 03/16/2025.\r\nNo acute distress.\r\n"
LETTER = Path(__file__).parents[2] / "examples" / "letter.pdf"
CANARIES = ("Emily", "Carter", "03/16/2025", "778-21-9934")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with valid and invalid files of every kind: 12 records, 5 of which can be released."""
    folder = tmp_path / "notes"
    (folder / "Carter").mkdir(parents=True)
    (folder / "Carter" / "Emily.txt").write_bytes(NOTE.encode())
    (folder / "empty.txt").write_bytes(b"")
    (folder / "empty.jsonl").write_bytes(b"")
    lines = [
        b'{"id": "778-21-9934", "text": "Dr. Emily Carter called."}',
        b'{"id": "2", "text": broken',
        b'{"id": "3", "text": "Jos\xe9"}',
        b'"a bare string"',
        b'{"id": "5",   "text": "Nothing here.", "note_type": "Progress note"}',
    ]
    (folder / "lines.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    (folder / "more.jsonl.gz").write_bytes(gzip.compress(lines[0] + b"\n"))
    (folder / "binary.txt").write_bytes(b"\x89PNG\r\n" + bytes(range(256)) * 50)
    (folder / "broken.json").write_bytes(b'{"dataType": "note", "text": ')
    (folder / "latin.txt").write_bytes(("Visit of Jos\u00e9 " * 9).encode("latin-1"))
    (folder / "scan.ps").write_bytes(b"%!PS")
    return folder


def test_one_text_goes_to_the_standard_output_with_its_line_ends(tmp_path: Path, process: Run) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(NOTE.encode())
    done = process("deid", path)
    assert done == (0, "Seen by Dr. [PERSON] on [DATE].\r\nNo acute distress.\r\n", "")


def test_the_standard_input_is_a_text_or_one_record(process: Run) -> None:
    assert process("deid", "-", stdin=NOTE.encode()).out.startswith("Seen by Dr. [PERSON] on [DATE].")
    record = b'{"dataType": "note", "id": "1", "text":   "Dr. Emily Carter called."}'
    done = process("deid", "-", stdin=record)
    assert done.code == 0
    assert '"text":   "Dr. [PERSON] called."}' in done.out
    assert "No key is configured" in done.err


def test_an_empty_note_is_released_as_an_empty_note(process: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"")
    assert process("deid", tmp_path / "a.txt") == (0, "", "")


def test_a_file_without_records_says_so(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"")
    done = run("deid", tmp_path / "a.jsonl")
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith("incognote: The input holds no record.\n")


def test_what_is_not_released_is_not_printed(run: Run, tmp_path: Path, per_patient: Path) -> None:
    (tmp_path / "a.txt").write_bytes(NOTE.encode())
    done = run("deid", tmp_path / "a.txt", "--policy", per_patient)
    assert done.code == 3
    assert done.out == ""
    assert "not released (review): no-subject" in done.err
    assert "was not kept" in done.err
    assert run("deid", tmp_path / "a.txt", "--policy", per_patient, "--patient", "p1").code == 0


def test_several_records_need_a_place_and_none_is_processed_without(run: Run, notes: Path) -> None:
    done = run("deid", notes)
    assert (done.code, done.out) == (2, "")
    assert "Add --out FOLDER" in done.err


def test_a_folder_of_everything_is_accounted_for_to_the_last_record(run: Run, notes: Path, tmp_path: Path) -> None:
    done = run("deid", notes, "--out", tmp_path / "out", "--json")
    assert done.code == 3
    data = done.data
    assert (data["records"], data["released"], data["review"], data["quarantined"]) == (12, 5, 0, 7)
    assert data["reasons"]["quarantine"] == {
        "binary": 1,
        "encoding": 2,
        "malformed": 2,
        "schema-violation": 1,
        "unsupported-format": 1,
    }
    assert (data["unsupported"], data["not_read"], data["hidden"]) == ({"PostScript": 1}, 0, 0)
    assert len(list(listed(tmp_path / "out-quarantine"))) == 7
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["policy"]["name"] == "strict"
    assert manifest["records"] == 12
    written = {entry["name"]: entry["records"] for entry in manifest["outputs"]}
    assert sorted(written.values()) == [1, 1, 1, 2]
    assert {path.name for path in (tmp_path / "out").iterdir()} == {*written, "manifest.json", ".incognote.journal"}


def test_released_lines_keep_their_order_and_their_bytes(run: Run, notes: Path, tmp_path: Path) -> None:
    run("deid", notes, "--out", tmp_path / "out", "--keep-names")
    first, second = (tmp_path / "out" / "lines.jsonl").read_text().splitlines()
    assert json.loads(first)["text"] == "Dr. [PERSON] called."
    assert second.endswith(',   "text": "Nothing here.", "note_type": "Progress note"}')
    assert (tmp_path / "out" / "Carter" / "Emily.txt").read_bytes().startswith(b"Seen by Dr. [PERSON] on [DATE].\r\n")
    assert gzip.decompress((tmp_path / "out" / "more.jsonl.gz").read_bytes()).decode() == first + "\n"


def test_no_name_no_output_and_no_message_tells_of_a_patient(run: Run, notes: Path, tmp_path: Path) -> None:
    done = run("deid", notes, "--out", tmp_path / "out")
    told = done.out + done.err
    for place in (tmp_path / "out", tmp_path / "out-quarantine"):
        for path in place.rglob("*"):
            told += str(path.relative_to(tmp_path)) + path.read_bytes().decode("latin-1")
    assert not [word for word in CANARIES if word in told]


def test_a_key_is_made_once_for_its_owner_alone_and_said(run: Run, notes: Path, tmp_path: Path) -> None:
    key = Path(os.environ["INCOGNOTE_HOME"]) / "master.key"
    first = run("deid", notes, "--out", tmp_path / "one")
    assert "Created key " in first.err
    assert str(key) in first.err
    assert key.stat().st_mode & 0o077 == 0
    second = run("deid", notes, "--out", tmp_path / "two")
    assert second.err == ""
    names = [sorted(path.name for path in (tmp_path / out).iterdir()) for out in ("one", "two")]
    assert names[0] == names[1]


def test_another_key_than_the_quarantines_is_refused_before_the_first_record(
    run: Run, notes: Path, tmp_path: Path
) -> None:
    run("deid", notes, "--out", tmp_path / "out")
    run("key", "new", tmp_path / "other.key")
    done = run(
        "deid",
        notes,
        "--out",
        tmp_path / "two",
        "--quarantine",
        tmp_path / "out-quarantine",
        "--key-file",
        tmp_path / "other.key",
    )
    assert done.code == 1
    assert "This was made under key" in done.err
    assert not (tmp_path / "two").exists()


def test_places_that_would_mix_originals_and_outputs_are_refused(run: Run, notes: Path, tmp_path: Path) -> None:
    for args in (
        ("--out", notes / "out"),
        ("--out", tmp_path / "out", "--quarantine", tmp_path / "out" / "q"),
        ("--out", tmp_path / "out", "--quarantine", notes / "q"),
        ("--out", tmp_path / "q" / "out", "--quarantine", tmp_path / "q"),
    ):
        assert run("deid", notes, *args).code == 2
    assert not (tmp_path / "out").exists()


def test_outputs_are_replaced_only_when_told(run: Run, notes: Path, tmp_path: Path) -> None:
    run("deid", notes, "--out", tmp_path / "out")
    again = run("deid", notes, "--out", tmp_path / "out")
    assert again.code == 2
    assert "--overwrite" in again.err
    assert run("deid", notes, "--out", tmp_path / "out", "--overwrite").code == 3
    assert len(list(listed(tmp_path / "out-quarantine"))) == 7  # a record that is held twice is stored once


def test_one_file_goes_to_one_file_with_its_manifest_beside(run: Run, notes: Path, tmp_path: Path) -> None:
    done = run("deid", notes / "more.jsonl.gz", "--out", tmp_path / "clean" / "more.jsonl")
    assert done.code == 0
    assert sorted(path.name for path in (tmp_path / "clean").iterdir()) == ["more.jsonl", "more.jsonl.manifest.json"]
    assert not (tmp_path / "clean" / "more.jsonl-quarantine").exists()


def test_the_summary_says_what_became_of_all_and_what_to_do(run: Run, notes: Path, tmp_path: Path) -> None:
    out = run("deid", notes, "--out", tmp_path / "out").out
    lines = [line.split()[:5] for line in out.splitlines()]
    assert ["released", "5", "41.7%", str(tmp_path / "out")] in lines
    assert ["for", "review", "0", "0.0%"] in lines
    assert ["quarantined", "7", "58.3%", str(tmp_path / "out-quarantine")] in lines
    assert "Convert it to UTF-8" in out
    assert ["PostScript", "1"] in lines


def test_the_summary_of_json_holds_the_released_text_where_there_is_no_place(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Dr. Emily Carter called.")
    assert run("deid", tmp_path / "a.txt", "--json").data["output"] == "Dr. [PERSON] called."


def test_show_needs_a_terminal_unless_somebody_insists(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Dr. Emily Carter called.\x1b[2J")
    refused = run("deid", tmp_path / "a.txt", "--show")
    assert (refused.code, refused.out) == (2, "")
    shown = run("deid", tmp_path / "a.txt", "--show-anyway")
    assert "What follows shows PHI" in shown.out
    assert "Dr. [-Emily Carter-] called." in shown.out
    assert "Dr. {+[PERSON]+} called." in shown.out
    assert "\x1b[2J" not in shown.out


def test_a_record_without_a_data_type_is_served_by_the_one_that_is_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"patient_name": "Emily Carter", "medical_history": "Emily is well."}')
    refused = run("deid", tmp_path / "a.json")
    assert refused.code == 3
    assert "unknown-data-type" in refused.err
    done = run("deid", tmp_path / "a.json", "--data-type", "workflow")
    assert done.code == 0
    assert "Emily" not in done.out
    assert run("deid", tmp_path / "a.json", "--data-type", "nope").code == 2


def test_known_identifiers_come_from_a_file_and_never_from_an_argument(run: Run, tmp_path: Path) -> None:
    (tmp_path / "known.csv").write_text("name,mrn\nZzyzx,\n")
    (tmp_path / "a.txt").write_text("then Zzyzx went home")
    assert run("deid", tmp_path / "a.txt", "--known", tmp_path / "known.csv").out == "then [PERSON] went home"
    done = run("deid", tmp_path / "a.txt", "--ask-known", stdin="name\nZzyzx\n\n")
    assert done.out.endswith("then [PERSON] went home")
    assert "Zzyzx" not in done.out + done.err


def test_asking_and_reading_do_not_share_the_standard_input(run: Run) -> None:
    assert run("deid", "-", "--ask-known").code == 2


def _on_terminal(args: list[str]) -> tuple[int, bytes]:
    """Return the exit code of a command, and what it writes to a terminal."""
    ours, theirs = os.openpty()
    env = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLORTERM")}
    env["TERM"] = "xterm-256color"
    process = subprocess.Popen(args, stdout=theirs, stderr=theirs, env=env)
    os.close(theirs)
    pieces = []
    with open(ours, "rb", buffering=0) as terminal:
        while True:
            try:
                piece = terminal.read(65536)
            except OSError:  # how Linux reports that the other end is closed
                break
            if not piece:
                break
            pieces.append(piece)
    return process.wait(), b"".join(pieces)


def test_on_a_terminal_the_change_is_shown_in_colour_and_controls_as_pictures(tmp_path: Path, command: Command) -> None:
    (tmp_path / "a.txt").write_bytes(b"Dr. Emily Carter called.\x1b[2J")
    code, data = _on_terminal(command("deid", tmp_path / "a.txt", "--show"))
    assert code == 0
    seen = data.decode()
    assert "\x1b[7;31mEmily Carter\x1b[0m" in seen
    assert "\x1b[1;31m[PERSON]\x1b[0m" in seen
    assert "\u241b[2J" in seen
    assert "\x1b[2J" not in seen


def test_a_binary_file_is_not_written_to_a_terminal_and_a_text_in_utf_16_is(tmp_path: Path, command: Command) -> None:
    code, data = _on_terminal(command("deid", LETTER, "--detectors", "rules"))
    assert code == 2
    assert b"a binary file" in data
    assert b"%PDF" not in data
    (tmp_path / "a.txt").write_text("Dr. Emily Carter called.", encoding="utf-16")
    code, data = _on_terminal(command("deid", tmp_path / "a.txt", "--detectors", "rules"))
    assert code == 0
    assert b"Dr. [PERSON] called." in data


def test_an_unapproved_schema_folder_holds_its_records(run: Run, tmp_path: Path) -> None:
    own = tmp_path / "schemas"
    own.mkdir()
    field = {"type": "string", "autoDeId": True}
    (own / "visit.json").write_text(json.dumps({"type": "object", "dataType": "visit", "properties": {"note": field}}))
    (tmp_path / "a.json").write_text('{"dataType": "visit", "note": "fine"}')
    held = run("deid", tmp_path / "a.json", "--schemas", own)
    assert held.code == 3
    assert "UnapprovedSchema" in held.err
    assert run("deid", tmp_path / "a.json", "--schemas", own, "--data-type", "visit").code == 1
    run("schema", "approve", own / "visit.json", "--by", "Officer")
    assert run("deid", tmp_path / "a.json", "--schemas", own).out == '{"dataType": "visit", "note": "fine"}'


def test_a_second_run_into_one_output_is_refused(run: Run, notes: Path, tmp_path: Path) -> None:
    for target, busy in ((tmp_path / "out", tmp_path / "out"), (tmp_path / "o", tmp_path / "o-quarantine")):
        with exclusive(busy):
            done = run("deid", notes, "--out", target)
        assert (done.code, done.out) == (1, "")
        assert done.err.splitlines()[-1].startswith("incognote: Another run is writing to this folder")
    with outputs.place(str(tmp_path / "o.txt"), find([str(notes / "empty.txt")])).exclusive():
        assert run("deid", notes / "empty.txt", "--out", tmp_path / "o.txt").code == 1
        assert run("deid", notes / "empty.txt", "--out", tmp_path / "p.txt").code == 0
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_the_subject_may_come_from_a_file_that_no_list_of_processes_shows(
    run: Run, tmp_path: Path, per_patient: Path
) -> None:
    (tmp_path / "a.txt").write_text("Seen on 03/16/2025.")
    (tmp_path / "who").write_text("Jane Doe\n")
    args = ("deid", tmp_path / "a.txt", "--policy", per_patient, "--key-file", tmp_path / "k")
    run("key", "new", tmp_path / "k")
    named = run(*args, "--patient", "Jane Doe")
    from_file = run(*args, "--patient-file", tmp_path / "who")
    assert (named.code, from_file.code) == (0, 0)
    assert from_file.out == named.out
    assert run(*args, "--patient", "x", "--patient-file", tmp_path / "who").code == 2
    for bad in (b"", b"Jane\nDoe\n", b"\xff"):
        (tmp_path / "who").write_bytes(bad)
        done = run(*args, "--patient-file", tmp_path / "who")
        assert done.code == 2
        assert "Jane" not in done.err
