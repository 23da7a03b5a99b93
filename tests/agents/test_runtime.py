"""Waiting for work on the loop's thread."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any

import pytest

from incognote.agents import runtime
from incognote.agents.runtime import awaited


def later(do: Any) -> None:
    threading.Timer(0.05, do).start()


def test_who_waits_wakes_until_the_work_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    woke: list[float] = []
    real = runtime.wait
    monkeypatch.setattr(runtime, "_WAKES", 0.005)
    monkeypatch.setattr(runtime, "wait", lambda some, timeout: woke.append(timeout) or real(some, timeout=timeout))
    future: Future[int] = Future()
    later(lambda: future.set_result(7))
    assert awaited(future) == 7
    assert len(woke) > 1
    assert set(woke) == {0.005}


def test_a_timeout_of_the_work_itself_is_no_reason_to_wait_on() -> None:
    future: Future[int] = Future()
    later(lambda: future.set_exception(TimeoutError("the work's")))
    with pytest.raises(TimeoutError, match="the work's"):
        awaited(future)
