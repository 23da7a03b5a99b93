"""`incognote deid` with archives: accounts, quarantine, retries, killed runs, and errors without names."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.files.quarantine import listed
from incognote.keys import Keyring

Run = Callable[..., Any]
Command = Callable[..., list[str]]
RULES = ("--detectors", "rules")
NOTE = "Seen by Dr. Emily Carter on 03/16/2025."
FILES = {
    "Jane Doe/note.txt": NOTE.encode(),
    "Jane Doe/letter.rtf": b"{\\rtf1\\ansi Seen by Dr. Emily Carter.\\par}",
    "Jane Doe/old.txt.gz": gzip.compress(NOTE.encode()),
    "calls.csv": b"note\nSeen by Dr. Emily Carter.\n",
    "all.jsonl": b'{"id": "1", "text": "Seen by Dr. Emily Carter."}\n{broken\n',
    "visita.txt": "Paciente de 66 a\u00f1os, ingresada por neumon\u00eda adquirida en la comunidad.".encode(),
    "Jane Doe.bin": bytes(range(256)) * 4,
    ".Jane Doe.swp": b"x",
}


@pytest.fixture(autouse=True)
def own_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use one key for all runs of a test."""
    Keyring.write_new(tmp_path / "a.key")
    monkeypatch.setenv("INCOGNOTE_KEY_FILE", str(tmp_path / "a.key"))


def _zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in files.items():
            file.writestr(name, data)
    return path


def _contents(path: Path) -> list[bytes]:
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        return [file.read(name) for name in file.namelist()]


def _tables(*words: str | Path) -> tuple[str | Path, ...]:
    return (*words, "--text-column", "note", *RULES)


def test_every_file_of_an_archive_is_accounted_for(tmp_path: Path, run: Run) -> None:
    source, out = _zip(tmp_path / "Jane Doe.zip", FILES), tmp_path / "out"
    done = run("deid", *_tables(source, "--out", out))
    assert done.code == 3
    manifest = json.loads((out / "manifest.json").read_text())
    assert [manifest[name] for name in ("records", "released", "review", "quarantined", "hidden")] == [8, 5, 1, 2, 1]
    [told] = manifest["outputs"]
    assert told["records"] == 5
    contents = _contents(out / told["name"])
    assert len(contents) == 5
    for content in contents:
        plain = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
        assert b"Carter" not in plain
        assert b"[PERSON]" in plain
    assert sorted((held.kind, held.position) for held in listed(tmp_path / "out-quarantine")) == [
        ("lines", 2), ("other", 1), ("text", 1)
    ]  # fmt: skip
    assert "Doe" not in (out / "manifest.json").read_text() + done.out.replace(str(tmp_path), "")
    assert f"skipped: {source}!/.Jane Doe.swp" in done.err  # for the user, as with files of a folder


def test_one_held_file_of_an_archive_can_be_retried(tmp_path: Path, run: Run) -> None:
    source, out, kept = _zip(tmp_path / "a.zip", FILES), tmp_path / "out", tmp_path / "out-quarantine"
    assert run("deid", *_tables(source, "--out", out, "--keep-names")).code == 3
    [item] = [held.name for held in listed(kept) if held.outcome == "review"]
    before = (out / "a.zip").read_bytes()
    done = run("quarantine", "retry", kept, item, "--out", out, "--keep-names", *RULES, "--json")
    assert (done.code, done.data["records"], done.data["review"]) == (3, 1, 1)  # the language is still not supported
    assert run("quarantine", "show", kept, item, "--show-anyway").out.startswith("Paciente de 66")
    assert (out / "a.zip").read_bytes() == before
    assert len(list(listed(kept))) == 3


def test_a_retried_file_is_released_beside_the_archive(tmp_path: Path, run: Run, per_patient: Path) -> None:
    record = b'{"id": "1", "patient": "7", "text": "No pain."}'  # the note names no patient
    source, out = _zip(tmp_path / "a.zip", {"ward/a.txt": NOTE.encode(), "b.jsonl": record}), tmp_path / "out"
    assert run("deid", source, "--out", out, "--keep-names", "--policy", per_patient, *RULES).code == 3
    [released] = _contents(out / "a.zip")
    assert b"No pain." in released
    assert run("quarantine", "retry", tmp_path / "out-quarantine", "--out", out, "--keep-names", *RULES).code == 0
    assert (out / "a.zip!" / "ward" / "a.retry-1.txt").read_text() == "Seen by Dr. [PERSON] on [DATE]."
    assert list(listed(tmp_path / "out-quarantine")) == []


def test_options_for_tables_are_for_those_in_archives_too(tmp_path: Path, run: Run) -> None:
    source = _zip(tmp_path / "a.zip", {"a.csv": b"note\nDr. Emily Carter called.\n", "b.csv": b"other\nx\n"})
    done = run("deid", *_tables(source, "--out", tmp_path / "out.zip", "--json"))
    assert (done.data["released"], done.data["reasons"]) == (1, {"review": {}, "quarantine": {"schema-violation": 1}})
    assert _contents(tmp_path / "out.zip") == [b"note\nDr. [PERSON] called.\n"]


def test_one_record_of_an_archive_is_printed_and_several_need_a_folder(tmp_path: Path, run: Run) -> None:
    one = run("deid", _zip(tmp_path / "a.zip", {"a.txt": NOTE.encode()}), *RULES)
    assert one.out.startswith("Seen by Dr. [PERSON]")
    two = run("deid", _zip(tmp_path / "b.zip", {"a.txt": b"x", "b.txt": b"y"}), *RULES)
    assert two.code == 2
    assert "Several records need an output folder" in two.err


def test_an_archive_on_standard_input_becomes_an_archive(tmp_path: Path, process: Run) -> None:
    data = _zip(tmp_path / "a.zip", {"a.txt": NOTE.encode(), "b.txt": b"No pain."}).read_bytes()
    assert process("deid", "-", "--out", tmp_path / "out", "--keep-names", *RULES, stdin=data).code == 0
    assert len(_contents(tmp_path / "out" / "stdin.zip")) == 2


def test_a_run_that_is_killed_in_an_archive_ends_with_the_output_of_one_that_is_not(
    tmp_path: Path, run: Run, command: Command
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    notes = {f"{number}.txt": f"{NOTE} Visit {number}.".encode() for number in range(150)}
    for number in range(3):
        _zip(folder / f"{number}.zip", {**notes, "broken.json": b"{", "visita.txt": FILES["visita.txt"]})
    words = ("deid", folder, *RULES, "--keep-names")
    assert run(*words, "--out", tmp_path / "whole").code == 3
    out, first = tmp_path / "out", tmp_path / "out" / "0.zip"
    process = subprocess.Popen(command(*words, "--out", out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(3000):
        if first.exists() and len(list(out.glob(".incognote-*.part"))) > 1:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    complete = os.stat(first).st_ino
    assert not (out / "2.zip").exists()
    assert run(*words, "--out", out, "--resume").code == 3
    assert os.stat(first).st_ino == complete  # it was not written again
    for number in range(3):
        assert (out / f"{number}.zip").read_bytes() == (tmp_path / "whole" / f"{number}.zip").read_bytes()
    assert not list(out.glob("*.part"))
    held = [[(one.source, one.position) for one in listed(tmp_path / name)] for name in
            ("out-quarantine", "whole-quarantine")]  # fmt: skip
    assert held[0] == held[1]
    assert len(held[0]) == 6


def test_a_bomb_is_held_and_the_run_goes_on(tmp_path: Path, run: Run) -> None:
    bomb = io.BytesIO()
    with tarfile.open(fileobj=bomb, mode="w:gz") as file:
        entry = tarfile.TarInfo("zeros.jsonl")
        entry.size = 100 * 2**20
        file.addfile(entry, io.BytesIO(bytes(entry.size)))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.tgz").write_bytes(bomb.getvalue())
    (tmp_path / "in" / "b.txt").write_text("No pain.")
    done = run("deid", tmp_path / "in", "--out", tmp_path / "out", "--json", *RULES)
    assert (done.code, done.data["released"]) == (3, 1)
    assert "too-large" in done.data["reasons"]["quarantine"]
