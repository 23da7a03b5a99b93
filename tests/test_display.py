"""The progress bar appears on a terminal for long work only, and is silent in pipes."""

from __future__ import annotations

import contextlib
import os
import pty

import pytest

from incognote.display import MANY, ProgressBar


def work(total: int | None, show: bool | None, count: int) -> None:
    """Read and finish `count` records."""
    bar = ProgressBar(total, show)
    assert list(bar.done(list(bar.read(range(count))))) == list(range(count))
    bar.close()


def on_terminal(total: int | None, show: bool | None, count: int) -> str:
    """What `work` writes to a standard error that is a terminal."""
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    with os.fdopen(slave, "w") as stream, contextlib.redirect_stderr(stream):
        work(total, show, count)
        try:
            return os.read(master, 1_000_000).decode()
        except BlockingIOError:
            return ""
        finally:
            os.close(master)


@pytest.mark.parametrize("total", [None, MANY])
def test_a_bar_appears_from_a_hundred_records_on_whether_or_not_their_number_is_known(
    total: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert on_terminal(total and total - 1, None, MANY - 1) == ""
    assert "De-identifying" in on_terminal(total, None, MANY)


def test_a_bar_is_shown_or_not_as_the_caller_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert on_terminal(10 * MANY, False, 10 * MANY) == ""
    assert "De-identifying" in on_terminal(1, True, 1)


def test_nothing_is_written_into_a_pipe(capfd: pytest.CaptureFixture[str]) -> None:
    work(10 * MANY, None, 10 * MANY)
    assert capfd.readouterr() == ("", "")
