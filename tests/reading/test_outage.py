"""Failures other than bad answers: chunks that fail at the same time, a server that is down, callers that leave."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from incognote import Deidentifier, Result
from incognote.errors import ModelRejected
from incognote.llm.base import Reply, Request, Usage
from incognote.testing import LocalServer, Misbehaviour, ScriptedLLM, Trouble, text_of


@pytest.mark.parametrize("failing", [1, 2, 40])
def test_of_forty_chunks_in_flight_some_fail(failing: int) -> None:
    """LangGraph accepts one value for a key in each step: two failures at once used to end the whole batch."""
    note = "".join(f"chunk{i} " + "word " * 20 for i in range(40))

    def answer(request: Request) -> str | Trouble:
        bad = any(f"chunk{i} " in text_of(request) for i in range(failing))
        return Trouble("status", 503) if bad else "{}"

    with Deidentifier(model=[ScriptedLLM(answer, latency=0.01)], chunk_words=21, chunk_overlap=0) as made:
        broken, whole = made.batch([note, "nothing here but a plain sentence"])
        assert [r.code for r in broken.verdict.reasons] == ["model-unavailable"]
        assert broken._output is None
        assert whole.verdict.released
        assert broken.manifest["models"]["chunks"] >= 40


def test_failures_of_several_kinds_are_all_told() -> None:
    def answer(request: Request) -> str | Trouble:
        if "chunk1 " in text_of(request):
            raise ModelRejected("no")
        return Trouble("status", 503)

    with Deidentifier(model=[ScriptedLLM(answer)], chunk_words=16, chunk_overlap=0) as made:
        result = made.deidentify("chunk0 " + "word " * 15 + "chunk1 " + "word " * 15)
    assert result.verdict.outcome == "quarantine"
    assert {r.code for r in result.verdict.reasons} <= {"model-unavailable", "model-rejected"}


def test_an_answer_that_raises_anything_quarantines_one_record() -> None:
    def answer(request: Request) -> str:
        if "bad" in text_of(request):
            raise RuntimeError(text_of(request))
        return "{}"

    with Deidentifier(model=[ScriptedLLM(answer)]) as made:
        one, other = made.batch(["a bad note about tashkin", "a plain note"])
    assert one.verdict.outcome == "quarantine"
    assert "tashkin" not in repr(one) + str(one.verdict) + json.dumps(dict(one.manifest))
    assert other.verdict.released


def test_a_server_that_comes_back_serves_the_same_deidentifier(
    notes: Any, served: Any, asking: Any, sound: Any
) -> None:
    known = notes(6)
    server = served(known)
    made = asking(server, model_attempts=1)
    assert made.deidentify(known[0].text).verdict.released
    server.stop()
    down = list(made.batch(one.text for one in known))
    assert {r.code for result in down for r in result.verdict.reasons} == {"model-unavailable"}
    server.start()
    for one, result in zip(known, made.batch(one.text for one in known), strict=True):
        sound(one, result)
        assert result.verdict.released


def test_retries_ride_over_a_restart(notes: Any, served: Any, asking: Any) -> None:
    known = notes(12)
    server = served(known, latency=0.2)
    made = asking(server, model_attempts=6, model_slots=2, model_timeout=20.0)
    results: list[Result] = []
    work = threading.Thread(target=lambda: results.extend(made.batch(one.text for one in known)))
    work.start()
    for _ in range(2):
        asked(server, server.calls + 1)
        server.stop()
        time.sleep(0.2)  # the length of the outage
        server.start()
    work.join(60)
    assert [result.verdict.outcome for result in results] == ["release"] * 12


# ---- sync, async, threads, loops ----


def told(results: Any) -> list[tuple[Any, ...]]:
    return [(r._output, r.verdict, r.replacements, r.manifest["models"]["unanswered"]) for r in results]


async def test_sync_and_async_give_the_same(notes: Any, served: Any) -> None:
    known = notes(12)
    texts = [one.text for one in known]
    bad = ["code_fence", "typos", "refusal", "unknown_types", "wrong_case", "truncated_json", "hallucinated_phrases"]

    def fresh() -> Deidentifier:
        """Each gets its own server because misbehavior depends on the count of attempts."""
        server = served(known, misbehaviour=Misbehaviour(bad, 0.4, seed=2))
        return Deidentifier(model="openai/x", api_base=server.url, api_key=server.api_key, votes=2)

    with fresh() as one, fresh() as two, fresh() as three, fresh() as four:
        singly = told(one.deidentify(text) for text in texts)
        assert len({verdict.outcome for _, verdict, *_ in singly}) > 1
        assert told(two.batch(texts)) == singly
        assert told([await three.adeidentify(text) for text in texts]) == singly
        assert told([result async for result in four.abatch(texts)]) == singly


async def test_the_sync_face_works_inside_a_running_loop(notes: Any, served: Any, asking: Any) -> None:
    (one,) = notes(1)
    made = asking(served([one]))
    assert made.deidentify(one.text).verdict.released
    assert (await made.adeidentify(one.text)).verdict.released
    assert [r.verdict.released for r in made.batch([one.text] * 3)] == [True] * 3


def test_one_deidentifier_serves_several_threads_and_loops(notes: Any, served: Any, asking: Any, sound: Any) -> None:
    known = notes(16)
    made = asking(served(known, latency=0.05), model_timeout=20.0)
    got: dict[int, list[Result]] = {}

    def sync(place: int) -> None:
        got[place] = list(made.batch(one.text for one in known))

    def async_(place: int) -> None:
        async def every() -> list[Result]:
            return [result async for result in made.abatch(one.text for one in known)]

        got[place] = asyncio.run(every())

    threads = [threading.Thread(target=way, args=(i,)) for i, way in enumerate((sync, async_, sync, async_))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(got) == [0, 1, 2, 3]
    for results in got.values():
        for one, result in zip(known, results, strict=True):
            sound(one, result)
            assert result.verdict.released


# ---- callers that leave ----


def asked(server: LocalServer, times: int = 1) -> None:
    """Wait until the server has received the given number of calls."""
    until = time.monotonic() + 60
    while server.calls < times and time.monotonic() < until:
        time.sleep(0.02)
    assert server.calls >= times


@pytest.fixture
def slow(notes: Any) -> Iterator[tuple[LocalServer, list[str]]]:
    """A server that does not answer for an hour."""
    with LocalServer(lambda request: "{}", latency=3600) as server:
        yield server, [one.text for one in notes(50)]


def test_a_batch_that_is_left_midway_leaves_nothing_behind(notes: Any, served: Any, asking: Any) -> None:
    known = notes(60)
    server = served(known, latency=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = asking(server, model_slots=4, model_timeout=20.0)
        running = made.batch(one.text for one in known)
        assert next(running).verdict.released
        running.close()
        time.sleep(0.3)
        calls = server.calls
        time.sleep(0.3)
        assert server.calls <= calls + 4
        assert calls < 2 * len(known)
        assert made.deidentify(known[-1].text).verdict.released
        made.close()
        gc.collect()


async def test_an_async_batch_that_is_cancelled_ends_at_once(slow: tuple[LocalServer, list[str]]) -> None:
    server, texts = slow
    with Deidentifier(model="openai/x", api_base=server.url, api_key=server.api_key) as made:

        async def all_() -> list[Result]:
            return [result async for result in made.abatch(texts)]

        task = asyncio.create_task(all_())
        await asyncio.to_thread(asked, server)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        calls = server.calls
        one = asyncio.create_task(made.adeidentify(texts[0]))
        await asyncio.to_thread(asked, server, calls + 1)
        one.cancel()
        with pytest.raises(asyncio.CancelledError):
            await one
    gc.collect()


@pytest.mark.parametrize("ending", ["made.close()", "interrupted"])
def test_a_process_that_leaves_midway_ends_without_a_hang_or_a_warning(
    ending: str, slow: tuple[LocalServer, list[str]]
) -> None:
    server, texts = slow
    waits = "next(running)" if ending == "interrupted" else f"begin(); sys.stdin.readline(); {ending}"
    code = (
        "import sys, json, signal, threading\n"
        "from incognote import Deidentifier\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background process ignores it
        f"made = Deidentifier(model='openai/x', api_base='{server.url}', api_key='{server.api_key}')\n"
        "running = made.batch(json.loads(sys.stdin.readline()))\n"
        "begin = threading.Thread(target=lambda: next(running), daemon=True).start\n"
        f"{waits}\n"
    )
    child = subprocess.Popen(
        [sys.executable, "-W", "always::ResourceWarning", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    child.stdin.write(json.dumps(texts) + "\n")
    child.stdin.flush()
    asked(server)
    if ending == "interrupted":
        child.send_signal(signal.SIGINT)
    _, said = child.communicate("go\n", timeout=60)
    assert not [word for word in ("Warning", "never awaited", "was destroyed") if word in said], said
    assert ("KeyboardInterrupt" in said) == (ending == "interrupted"), said


def test_a_forked_child_asks_over_connections_of_its_own() -> None:
    """If they shared connections, parent and child would read each other's answers."""

    def answer(request: Request) -> str:
        word = re.search(r"zq\w+", text_of(request))
        return json.dumps({"PERSON": [f"<<{word.group()}>>"]}) if word else "{}"

    with LocalServer(answer, latency=0.02) as server:
        code = (
            "import os\n"
            "from incognote import Deidentifier\n"
            f"made = Deidentifier(model='openai/x', api_base='{server.url}', api_key='{server.api_key}',\n"
            "    model_attempts=1, model_timeout=20)\n"
            "list(made.batch(f'hello zq{i}before there' for i in range(9)))\n"
            "child = os.fork()\n"
            "who = 'parent' if child else 'child'\n"
            "found = list(made.batch(f'hello zq{i}{who} there' for i in range(20)))\n"
            "print(who, *{r._output for r in found}, sep='|', flush=True)\n"
            "made.close()\n"
            "os.waitpid(child, 0) if child else os._exit(0)\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"{who}|hello [PERSON] there" for who in ("child", "parent")]


@pytest.mark.parametrize("each", [4000, 100])
def test_a_budget_is_exceeded_by_no_more_than_the_calls_in_flight(each: int) -> None:
    """Many more calls wait for a slot than there are slots. Each checks the budget again when it gets one.

    A server that reports only 100 tokens has cut the prompt. Its replies are not used, but they are paid.
    """
    slots = 32

    def answer(request: Request) -> Reply:
        return Reply("{}", usage=Usage(each - 1, 1, 0, 1, 0.0))

    notes = ["".join(f"word{i} " for i in range(200))] * 20  # 13 chunks each
    settings: dict[str, Any] = {"detectors": ("rules", "llm"), "chunk_words": 16}
    with LocalServer(answer, latency=0.05) as server, Deidentifier(
        model="openai/x", api_base=server.url, api_key=server.api_key, model_slots=slots, budget_tokens=10 * each,
        **settings,
    ) as made:  # fmt: skip
        results = list(made.batch(notes))
        assert server.calls <= 10 + slots
        assert made.engine.models is not None
        assert made.engine.models.budget.spent.calls == server.calls
    codes = {reason.code for result in results for reason in result.verdict.reasons}
    assert codes - {"model-prompt-cut", "model-calls"} == {"budget-exhausted"}
