"""`incognote deid --resume` continues a killed run, with the same output as an uninterrupted run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incognote.files.quarantine import listed
from incognote.keys import Keyring
from incognote.runs.journal import JOURNAL

Run = Callable[..., Any]
Command = Callable[..., list[str]]
RULES = ("--detectors", "rules")
RECORD = '{"id": "1", "text": "Dr. Emily Carter called on 03/16/2025."}\n'


@pytest.fixture(autouse=True)
def own_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use one key for all runs of a test."""
    Keyring.write_new(tmp_path / "a.key")
    monkeypatch.setenv("INCOGNOTE_KEY_FILE", str(tmp_path / "a.key"))


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Eight files of records, each with one record that is held, and a PostScript file."""
    folder = tmp_path / "in"
    (folder / "deep").mkdir(parents=True)
    for number in range(8):
        place = folder / "deep" if number % 2 else folder
        (place / f"{number}.jsonl").write_text(RECORD * 25 + "{broken\n" + RECORD * 25)
    (folder / "scan.ps").write_bytes(b"%!PS-Adobe-3.0\n")
    return folder


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("manifest.json", ".incognote.journal")
    }


def _manifest(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return {name: value for name, value in told.items() if name not in ("started", "finished")}


def _held(folder: Path) -> list[tuple[Any, ...]]:
    return [(held.source, held.position, held.outcome, held.reasons) for held in listed(folder)]


def test_a_run_that_is_killed_again_and_again_ends_with_the_output_of_one_that_is_not(
    tmp_path: Path, inputs: Path, run: Run, command: Command
) -> None:
    words = ("deid", inputs, *RULES, "--keep-names")
    assert run(*words, "--out", tmp_path / "whole").code == 3
    out, kept = tmp_path / "out", dict[Path, int]()
    for number in (1, 3, 6):
        args = command(*words, "--out", out, *(["--resume"] if number > 1 else []))
        process = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while len(list(out.rglob("*.jsonl"))) < number:
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
        journal = (out / ".incognote.journal").read_text()
        kept = {path: path.stat().st_mtime_ns for path in out.rglob("*.jsonl") if f"{path.name}" in journal}
        assert not (out / "manifest.json").exists()
    assert len(kept) >= 5
    done = run(*words, "--out", out, "--resume", "--json")
    assert done.code == 3
    assert done.data["already_complete"] >= 5
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    assert _files(out) == _files(tmp_path / "whole")
    assert _manifest(out) == _manifest(tmp_path / "whole")
    assert sorted(_held(tmp_path / "out-quarantine")) == sorted(_held(tmp_path / "whole-quarantine"))
    journal = (out / ".incognote.journal").read_text()
    assert "Carter" not in journal
    assert str(inputs) not in journal


def test_what_changed_is_done_again_and_what_was_tampered_with_too(tmp_path: Path, run: Run) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "in" / f"{name}.txt").write_text(f"Dr. Emily Carter called, {name}.")
    out = tmp_path / "out"
    words = ("deid", tmp_path / "in", *RULES, "--keep-names", "--out", out, "--json")
    assert run(*words).code == 0
    assert run(*words, "--resume").data["already_complete"] == 3
    (tmp_path / "in" / "a.txt").write_text("Well.")
    (out / "b.txt").write_text("Dr. Emily Carter called.")
    (tmp_path / "in" / "d.txt").write_text("New.")
    done = run(*words, "--resume")
    assert (done.code, done.data["already_complete"], done.data["records"], done.data["released"]) == (0, 1, 4, 4)
    assert (out / "a.txt").read_text() == "Well."
    assert "Carter" not in (out / "b.txt").read_text()
    assert [each["name"] for each in _manifest(out)["outputs"]] == ["a.txt", "b.txt", "c.txt", "d.txt"]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("--policy", "paper"), "policy"),
        (("--patient", "7"), "patient"),
        (("--quarantine", "elsewhere"), "quarantine"),
        (("--encoder-point", "recall"), "encoder_point"),
        (("--known", "known.csv"), "known"),
    ],
)
def test_a_run_with_other_settings_is_refused_and_says_which(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a").mkdir()
    Path("a/a.txt").write_text("Dr. Emily Carter called.")
    Path("known.csv").write_text("name\nZuleika Dobson\n")
    assert run("deid", "a", *RULES, "--out", "out").code == 0
    before = _files(Path("out"))
    done = run("deid", "a", *RULES, "--out", "out", "--resume", *words)
    assert done.code == 2
    assert "the earlier run had other settings (" in done.err
    assert name in done.err
    assert "--overwrite" in done.err
    assert _files(Path("out")) == before


def test_an_input_that_is_gone_and_a_run_that_is_not_resumed_are_refused(tmp_path: Path, run: Run) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a.txt", "b.txt"):
        (tmp_path / "in" / name).write_text("Well.")
    words = ("deid", tmp_path / "in", *RULES, "--out", tmp_path / "out")
    assert run(*words).code == 0
    assert "Add --resume to continue it, or --overwrite" in run(*words).err
    assert "needs an output folder" in run("deid", tmp_path / "in" / "a.txt", "--resume").err
    assert "Use one of the two" in run(*words, "--resume", "--overwrite").err
    (tmp_path / "in" / "b.txt").unlink()
    done = run(*words, "--resume")
    assert (done.code, "some inputs of the earlier run (1)" in done.err) == (2, True)
    assert run(*words, "--overwrite").code == 0


@pytest.mark.parametrize("head", ["", "{", "[]", "7", "{}"])
def test_a_damaged_journal_is_named_and_overwrite_gets_rid_of_it(tmp_path: Path, run: Run, head: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("Well.")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".incognote.journal").write_text(head)
    words = ("deid", tmp_path / "in", *RULES, "--out", tmp_path / "out")
    done = run(*words, "--resume")
    assert (done.code, f"the journal {tmp_path / 'out' / JOURNAL} is damaged" in done.err) == (2, True)
    assert run(*words, "--overwrite").code == 0


def test_a_journal_that_cannot_be_read_and_an_output_that_is_a_link_are_named(tmp_path: Path, run: Run) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("Well.")
    out = tmp_path / "out"
    (out / JOURNAL).mkdir(parents=True)
    words = ("deid", tmp_path / "in", *RULES, "--keep-names", "--out", out)
    done = run(*words, "--resume")
    assert (done.code, f"--out: {out / JOURNAL} cannot be read" in done.err) == (2, True)
    (out / JOURNAL).rmdir()
    (out / "a.txt").symlink_to(tmp_path / "in" / "a.txt")
    done = run(*words, "--resume")
    assert (done.code, f"--out: {out / 'a.txt'} is a symbolic link" in done.err) == (2, True)


def test_outputs_of_other_inputs_that_stay_beside_those_of_an_overwriting_run_are_counted(
    tmp_path: Path, run: Run
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text("Well.")
    out = ("--out", tmp_path / "out")
    assert run("deid", tmp_path / "a", *RULES, *out, "--policy", "paper").code == 0
    done = run("deid", tmp_path / "b", *RULES, *out, "--overwrite")
    assert f"{tmp_path / 'out'} also holds files of earlier runs (1)" in done.err
    assert "also holds" not in run("deid", tmp_path / "a", tmp_path / "b", *RULES, *out, "--overwrite").err


@pytest.mark.parametrize("more", [[], ["--keep-names"]])
def test_files_that_are_recognized_by_their_content_are_not_done_again(
    tmp_path: Path, run: Run, more: list[str]
) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for name in ("letter", "letter.doc", "letter.txt"):
        (folder / name).write_bytes(b"{\\rtf1 Dr. Emily Carter called.}")
    words = ("deid", folder, *RULES, *more, "--out", out, "--json")
    assert run(*words).code == 0
    before = _files(out), _manifest(out)
    assert run(*words, "--resume").data["already_complete"] == 3
    assert (_files(out), _manifest(out)) == before
    assert len(before[0]) == 3
