"""Commands overwrite files only on request, never replace links or devices, and can write to pipes."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from incognote.cli.shell import write_list
from incognote.errors import UsageError

from .conftest import Run

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links, devices and pipes are those of POSIX")

GOLD = {"id": "n", "text": "Seen by Dr. Abara.", "spans": [{"start": 12, "end": 17, "type": "PERSON"}]}
RULES = ("--detectors", "rules")
MINE = "mine\n"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.jsonl"
    path.write_text(json.dumps(GOLD) + "\n")
    return path


def asked(name: str, notes: Path, out: Path) -> list[str | Path]:
    """A command that writes to `out`."""
    return {
        "detect": ["detect", notes, "--out", out, *RULES],
        "evaluate": ["evaluate", notes, "--html", out, "--resamples", "9", *RULES],
        "relex": ["relex", notes, "--out", out, "--index", f"sqlite:///{notes.parent}/index.db"],
        "convert": ["convert", notes, out, "--to", "incognote"],
        "draft": ["schema", "draft", notes, "--name", "visit", "--out", out],
    }[name]


WRITERS = ("detect", "evaluate", "convert", "draft")


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_that_exists_is_replaced_only_where_it_is_asked(name: str, notes: Path, run: Run) -> None:
    out = notes.parent / "out.jsonl"
    out.write_text(MINE)
    done = run(*asked(name, notes, out))
    assert done.code == 2
    assert "--overwrite" in done.err
    assert out.read_text() == MINE
    assert run(*asked(name, notes, out), "--overwrite").code == 0
    assert out.read_text() != MINE


@pytest.mark.parametrize("name", [*WRITERS, "relex"])
@pytest.mark.parametrize("dangling", [False, True])
def test_a_link_is_neither_followed_nor_replaced(name: str, dangling: bool, notes: Path, run: Run) -> None:
    out, kept = notes.parent / "out.jsonl", notes.parent / "kept.jsonl"
    if not dangling:
        kept.write_text(MINE)
    out.symlink_to(kept)
    done = run(*asked(name, notes, out), "--overwrite")
    assert done.code == 2
    assert "symbolic link" in done.err
    assert out.is_symlink()
    assert kept.exists() is not dangling
    assert dangling or kept.read_text() == MINE


@pytest.mark.parametrize("name", WRITERS)
def test_a_pipe_is_written_to_and_stays_a_pipe(name: str, notes: Path, run: Run) -> None:
    out = notes.parent / "out.jsonl"
    os.mkfifo(out)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(out.read_bytes()), daemon=True)
    reader.start()
    assert run(*asked(name, notes, out)).code == 0
    reader.join(60)
    assert read[0]
    assert out.is_fifo()


@pytest.mark.parametrize("name", WRITERS)
def test_the_null_device_stays_a_device(name: str, notes: Path, run: Run) -> None:
    before = os.stat("/dev/null")
    assert run(*asked(name, notes, Path("/dev/null"))).code == 0
    after = os.stat("/dev/null")
    assert (before.st_ino, before.st_mode, before.st_rdev) == (after.st_ino, after.st_mode, after.st_rdev)
    assert not list(Path("/dev").glob(".incognote*"))


@pytest.mark.parametrize("name", ["detect", "convert"])
def test_the_standard_output_may_be_named_as_a_file(name: str, notes: Path, process: Run) -> None:
    lines = process(*asked(name, notes, Path("/dev/stdout"))).out.splitlines()
    assert json.loads(lines[0])["id"] == "n"


def test_relex_writes_into_a_device_and_holds_in_a_folder_of_its_own(
    notes: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes.parent)
    (notes.parent / "key").write_text("6b" * 32)
    notes.write_text('{"id": "n", "text": 3}\n')
    command = asked("relex", notes, Path("/dev/null"))
    assert run("index", "create", *command[-2:], "--key-file", notes.parent / "key").code == 0
    done = run(*command, "--key-file", notes.parent / "key")
    assert done.code == 3, done.err
    assert os.path.exists("/dev/null")
    assert not os.path.exists("/dev/null-quarantine")
    assert list(notes.parent.glob("*quarantine*/*"))


def test_deid_refuses_what_it_could_not_vouch_for(notes: Path, run: Run) -> None:
    note, out = notes.parent / "note.txt", notes.parent / "out.txt"
    note.write_text("Seen by Dr. Abara.")
    (notes.parent / "key").write_text("6b" * 32)
    ask = ("deid", note, "--out", out, "--overwrite", "--key-file", notes.parent / "key", *RULES)
    os.mkfifo(out)
    assert run(*ask).code == 2
    assert out.is_fifo()
    out.unlink()
    out.symlink_to(notes.parent / "elsewhere.txt")
    assert run(*ask).code == 2
    assert out.is_symlink()


def test_a_list_is_a_new_file(tmp_path: Path) -> None:
    place = tmp_path / "ids"
    write_list(str(place), ["a", "b"], "--outdated")
    assert place.read_text() == "a\nb\n"
    assert place.stat().st_mode & 0o077 == 0
    with pytest.raises(UsageError, match="--outdated cannot be written: it already exists"):
        write_list(str(place), ["c"], "--outdated")
    assert place.read_text() == "a\nb\n"
    write_list("/dev/null", ["a"], "--outdated")
