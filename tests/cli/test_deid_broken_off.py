"""`incognote deid` leaves no half-written file if it is killed, is interrupted, or cannot write."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

Run = Callable[..., Any]
Command = Callable[..., list[str]]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_a_full_standard_output_is_one_line_and_exit_1(
    tmp_path: Path, command: Command, as_json: tuple[str, ...]
) -> None:
    (tmp_path / "a.txt").write_text("Well.")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command("deid", tmp_path / "a.txt", *as_json), stdout=full, stderr=subprocess.PIPE, timeout=300, check=False
        )
    assert done.returncode == 1
    assert done.stderr == b"incognote: the output cannot be written: No space left on device\n"


def _many(path: Path, n: int) -> None:
    path.write_text("".join(f'{{"id": "{i}", "text": "Dr. Emily Carter called on 03/16/2025."}}\n' for i in range(n)))


def _heeding() -> None:
    """Restore SIGINT: a shell's background jobs ignore it and pass that on, but a run at a terminal does not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _started(tmp_path: Path, command: Command) -> subprocess.Popen[bytes]:
    """Start a run and wait until it is processing its second file."""
    (tmp_path / "in").mkdir()
    _many(tmp_path / "in" / "a.jsonl", 3)
    _many(tmp_path / "in" / "b.jsonl", 200_000)
    process = subprocess.Popen(
        command("deid", tmp_path / "in", "--out", tmp_path / "out", "--keep-names"),
        stderr=subprocess.PIPE,
        preexec_fn=_heeding,
    )
    guard = Timer(600, process.kill)  # only prevents a hang: the wait ends with the process, even on a slow machine
    guard.start()
    try:
        while not list((tmp_path / "out").glob(".incognote-*")) or not (tmp_path / "out" / "a.jsonl").exists():
            assert process.poll() is None, "it ended before it could be stopped"
            time.sleep(0.02)
    finally:
        guard.cancel()
    return process


def test_a_killed_run_leaves_whole_files_and_no_half_one(tmp_path: Path, run: Run, command: Command) -> None:
    process = _started(tmp_path, command)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    out = tmp_path / "out"
    assert [path.name for path in out.iterdir() if not path.name.startswith(".")] == ["a.jsonl"]
    assert len((out / "a.jsonl").read_text().splitlines()) == 3
    _many(tmp_path / "in" / "b.jsonl", 2)
    assert run("deid", tmp_path / "in", "--out", out, "--keep-names", "--overwrite").code == 0
    assert sorted(path.name for path in out.iterdir()) == [
        ".incognote.journal", "a.jsonl", "b.jsonl", "manifest.json"
    ]  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing_half_written(
    tmp_path: Path, number: signal.Signals, command: Command
) -> None:
    process = _started(tmp_path, command)
    process.send_signal(number)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130
    assert err.decode().splitlines()[-1] == (
        "incognote: Interrupted. No output is left half-written. To continue a run with --out FOLDER, repeat the "
        "command with --resume."
    )
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [".incognote.journal", "a.jsonl"]
