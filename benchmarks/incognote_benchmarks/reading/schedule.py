"""Measure the schedule: many notes, a slow model, through real HTTP; wall time over the ideal time.

Two fixed passes are used, unless a run says otherwise. With passes by need there are half as many calls, and so half of
the ideal time, for nearly the same work of the processor.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

from incognote.errors import UsageError
from incognote.llm.retry import Limited
from incognote.sdk import Deidentifier
from incognote.testing import ScriptedLLM, text_of
from incognote_benchmarks.reading.material import Heard, Note, findings, names_once
from incognote_benchmarks.script import Script

SLOTS = 32
WARM = 256  # texts before the timed ones: all of the material, once per process on average
PASSES = 2


@dataclass(frozen=True, slots=True)
class Run:
    """A run to be timed.

    Args:
        detectors: rules and llm, or llm alone.
        latency: of each reply, in seconds.
        http: use HTTP to another process; otherwise the scripted model sleeps in this process.
        processes: that serve the notes; 0 for this one alone.
        finds: only detect, without replacement and audit.
        times: how often the notes are repeated. Filling and emptying the slots costs the same in a long run.
        need: use passes by need instead of two.
    """

    detectors: tuple[str, ...]
    latency: float = 0.2
    http: bool = True
    processes: int = 0
    finds: bool = False
    times: int = 1
    need: bool = False


RUNS = (
    Run(("llm",), http=False),
    Run(("llm",)),
    Run(("rules", "llm")),
    Run(("rules", "llm"), latency=1.0),
    Run(("llm",), processes=2, finds=True),
    Run(("rules", "llm"), processes=2, finds=True),
    Run(("rules", "llm"), processes=2),
    Run(("rules", "llm"), processes=2, times=4),
    Run(("rules", "llm"), latency=1.0, processes=2),
    Run(("rules", "llm"), processes=2, times=4, need=True),
    Run(("rules", "llm"), latency=1.0, processes=2, need=True),
)


def ideal(calls: int, latency: float, slots: int = SLOTS, passes: int = PASSES) -> float:
    """The seconds for these calls if every slot is always busy and nothing else takes time.

    The passes of a note run one after the other, so there are at least that many waves.
    """
    return max(math.ceil(calls / slots), passes if calls else 0) * latency


def schedule(material: Sequence[Note], notes: int, runs: Sequence[Run] = RUNS, rounds: int = 3) -> list[dict[str, Any]]:
    """Time the runs over notes.

    Args:
        material: notes that fit in one chunk, repeated up to `notes`.
        rounds: the number of rounds. Other work only adds time, so the fastest is reported; `walls` has all of them.

    Returns:
        For each run: calls and the most at once; `ideal` and `wall` seconds and their quotient `over`; `cpu` of this
        process and `server_cpu` in seconds; `bound`, the minimum seconds if one core does all of the work (the ideal
        time if there are several processes); and `load`, the machine's load average before the run, which shows other
        activity.
    """
    replies = _replies(material)
    texts = [note.text for note in islice(cycle(material), notes)]
    with _server(replies) as server:
        return [_quickest(run, texts * run.times, replies, server, rounds) for run in runs]


def _replies(material: Sequence[Note]) -> dict[str, str]:
    """The reply to each text shown, in both passes."""
    model = Heard(ScriptedLLM(Script({note.text: findings(note) for note in material}, write=names_once)))
    with Deidentifier(model=model, detectors=("llm",), passes=PASSES) as deidentifier:
        list(deidentifier.batch(note.text for note in material))
    return {text_of(request): reply for request, reply in model.said}


def _quickest(
    run: Run, texts: Sequence[str], replies: Mapping[str, str], server: _Server, rounds: int
) -> dict[str, Any]:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    timed = [_timed(run, texts, replies, server) for _ in range(rounds)]
    best = min(timed, key=lambda one: float(one["wall"]))
    due = ideal(best["calls"], run.latency, passes=1 if run.need else PASSES)
    return {
        "detectors": list(run.detectors),
        "http": run.http,
        "latency": run.latency,
        "processes": run.processes,
        "finds": run.finds,
        "need": run.need,
        "slots": SLOTS,
        "notes": len(texts),
        **best,
        "ideal": due,
        "over": best["wall"] / due,
        "bound": max(due, best["cpu"]) if not run.processes else due,
        "walls": [one["wall"] for one in timed],
        "load": load,
    }


def _timed(run: Run, texts: Sequence[str], replies: Mapping[str, str], server: _Server) -> dict[str, Any]:
    settings: dict[str, Any] = {"detectors": run.detectors, "model_slots": SLOTS, "processes": run.processes}
    settings |= {"passes": "need" if run.need else PASSES}
    model = None
    if run.http:
        server.set(run.latency)
        settings |= {"model": "openai/scripted", "api_base": server.url, "api_key": server.key}
    else:
        model = ScriptedLLM(lambda request: replies.get(text_of(request), "{}"), latency=run.latency)
        settings |= {"model": Limited(model, SLOTS)}
    with Deidentifier(**settings) as deidentifier:
        list(deidentifier.batch(texts[:WARM]))  # open connections, load tables and the language library
        before = server.told()
        calls, served = (model.calls if model else before["calls"]), before["cpu"]
        began, worked = time.perf_counter(), time.process_time()
        _serve(deidentifier, texts, run)
        wall, cpu = time.perf_counter() - began, time.process_time() - worked
        after = server.told()
    return {
        "calls": (model.calls if model else after["calls"]) - calls,
        "peak": model.peak if model else after["peak"],
        "wall": wall,
        "cpu": cpu,
        "server_cpu": after["cpu"] - served if run.http else 0.0,
    }


def _serve(deidentifier: Deidentifier, texts: Sequence[str], run: Run) -> None:
    if run.finds:
        deidentifier.detect(texts)
        return
    for result in deidentifier.batch(texts):
        if result.verdict.outcome == "quarantine":
            raise UsageError(f"a note was quarantined: {result.verdict.reasons[0].code}")


class _Server:
    """The client of the server's process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.url, self.key = self._line().split()

    def set(self, latency: float) -> None:
        """Set the latency of all further replies, and reset the peak count."""
        self._ask({"latency": latency})

    def told(self) -> dict[str, Any]:
        """Calls, the most at once, and seconds of processor time so far."""
        counts: dict[str, Any] = json.loads(self._ask({}))
        return counts

    def _ask(self, asked: Mapping[str, Any]) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise UsageError("the local server's process ended early")
        return line


@contextmanager
def _server(replies: Mapping[str, str]) -> Iterator[_Server]:
    """Run a server until the block ends. The replies go through a pipe, never through arguments or files."""
    command = [sys.executable, "-m", "incognote_benchmarks.reading.server"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 -- our own module
        assert process.stdin is not None
        process.stdin.write(json.dumps(replies) + "\n")
        process.stdin.flush()
        yield _Server(process)
        process.stdin.close()
