"""A run ends when its model fails in the same way again and again, and goes on when the model works again."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from incognote import Deidentifier, Result
from incognote.agents import breaker as breakers
from incognote.agents.breaker import IN_A_ROW, SHARE, WINDOW, Breaker
from incognote.errors import EgressRefused, ModelRejected, ModelStopped, ModelUnavailable
from incognote.llm.base import Reply, Request
from incognote.testing import LocalServer, Misbehaviour, ScriptedLLM, text_of

NOTE = "the patient quill was brought in and reports a dry cough."
ANSWER = '{"PERSON": ["<<quill>>"]}'


def raising(error: Exception) -> Callable[[Request], str]:
    def answer(request: Request) -> str:
        raise error

    return answer


def codes(result: Result) -> set[str]:
    return {reason.code for reason in result.verdict.reasons}


def run(model: ScriptedLLM, notes: list[str], **settings: Any) -> list[Result]:
    words: dict[str, Any] = {"detectors": ("rules", "llm"), "passes": 1, "concurrency": 1, "model_slots": 1, **settings}
    with Deidentifier(model=model, **words) as deid:
        return list(deid.batch(notes))


FAILURES: dict[str, tuple[Callable[[Request], str | Reply], str, int]] = {
    "a wrong key": (raising(ModelRejected("401")), "model-rejected", 1),
    "a refused address": (raising(EgressRefused("not allowed")), "egress-refused", 1),
    "a server that is down": (raising(ModelUnavailable("503")), "model-unavailable", 1),
    "refusals in the field for it": (lambda _: Reply("", finish="refusal"), "model-declined", 1),
    "refusals in words": (lambda _: "As an AI, I can't help with that. {}", "model-declined", 2),
    "replies in prose": (lambda _: "A note about a cough.", "model-reply-unusable", 2),
    "empty replies": (lambda _: "", "model-reply-unusable", 2),
    "cut replies": (lambda _: Reply('{"PERSON": [', finish="length"), "model-reply-cut", 1),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_equal_failures_end_the_run_and_leave_every_other_record_for_a_retry(failure: str) -> None:
    answer, code, calls = FAILURES[failure]
    model = ScriptedLLM(answer)
    results = run(model, [NOTE] * 30)
    first, rest = results[:IN_A_ROW], results[IN_A_ROW + 2 :]  # at most 2 records are in work at once
    assert all(codes(result) == {code} for result in first)
    assert all(codes(result) == {"model-stopped"} for result in rest)
    assert {result.verdict.outcome for result in rest} == {"quarantine"}
    assert model.calls <= (IN_A_ROW + 2) * calls
    (message,) = {reason.detail for result in rest for reason in result.verdict.reasons}
    assert code in message
    assert "quill" not in message


def test_one_bad_note_among_good_ones_never_ends_a_run() -> None:
    long = "".join(f"word{i} " for i in range(600))  # many chunks, all refused

    def answer(request: Request) -> str | Reply:
        return Reply("", finish="refusal") if "word" in text_of(request) else ANSWER

    notes = [NOTE, *[long] * (IN_A_ROW - 1), NOTE] * 2
    results = run(ScriptedLLM(answer), notes, chunk_words=16)
    assert [codes(result) for result in results] == [set() if n == NOTE else {"model-declined"} for n in notes]


def test_different_failures_do_not_end_a_run() -> None:
    turns = iter(["", Reply("", finish="refusal")] * 60)
    model = ScriptedLLM(lambda request: next(turns) if len(request.messages) == 2 else "")
    results = run(model, [NOTE] * 30)
    assert not any("model-stopped" in codes(result) for result in results)


def test_a_failure_of_every_second_record_ends_the_run_after_forty() -> None:
    turns = iter([ANSWER, Reply("", finish="refusal")] * 60)
    results = run(ScriptedLLM(lambda request: next(turns)), [NOTE] * 60)
    stopped = ["model-stopped" in codes(result) for result in results]
    assert stopped == [False] * stopped.index(True) + [True] * (60 - stopped.index(True))
    assert WINDOW <= stopped.index(True) <= WINDOW + 2


@pytest.mark.parametrize("reply", ["{}", json.dumps({"PERSON": ["<<Seen by Dr. Emily Carter. The wound is dry.>>"]})])
def test_a_model_that_is_silent_or_marks_everything_ends_the_run_on_short_texts(reply: str) -> None:
    notes = ["Seen by Dr. Emily Carter. The wound is dry."] * 80
    model = ScriptedLLM(lambda request: reply)
    with Deidentifier(model=model, detectors=("rules", "llm"), passes=1, concurrency=1, model_slots=1) as deid:
        results = list(deid.batch(notes))
    met = Counter(code for result in results for code in codes(result))
    assert met["model-stopped"] >= 40
    assert model.calls == 80 - met["model-stopped"]
    alarm = "model-silent" if reply == "{}" else "model-overmarks"
    assert met[alarm] >= 10
    assert sum(result.verdict.released for result in results) <= 12


@pytest.fixture
def rest(monkeypatch: pytest.MonkeyPatch) -> float:
    monkeypatch.setattr(breakers, "REST", 0.2)
    return 0.2


def test_after_a_rest_calls_are_allowed_again_until_the_next_failure(rest: float) -> None:
    broken = [True]
    model = ScriptedLLM(lambda request: Reply("", finish="refusal") if broken else ANSWER)
    with Deidentifier(model=model, detectors=("rules", "llm"), passes=1) as deid:
        for _ in range(IN_A_ROW):
            deid.deidentify(NOTE)
        assert codes(deid.deidentify(NOTE)) == {"model-stopped"}
        time.sleep(rest)
        assert codes(deid.deidentify(NOTE)) == {"model-declined"}
        assert codes(deid.deidentify(NOTE)) == {"model-stopped"}
        broken.clear()
        assert codes(deid.deidentify(NOTE)) == {"model-stopped"}
        time.sleep(rest)
        assert [deid.deidentify(NOTE).verdict.outcome for _ in range(3)] == ["release"] * 3
        broken.append(True)
        assert codes(deid.deidentify(NOTE)) == {"model-declined"}


def test_a_silent_model_must_name_something_after_the_rest(rest: float) -> None:
    breaker = Breaker()
    for _ in range(6):
        breaker.silent(4)
    with pytest.raises(ModelStopped, match="model-silent"):
        breaker.permit()
    time.sleep(rest)
    breaker.permit()
    breaker.answered(())  # a silent model answers, too
    breaker.silent(4)
    with pytest.raises(ModelStopped):
        breaker.permit()
    time.sleep(rest)
    breaker.silent(0)
    assert not breaker.stopped


@pytest.fixture
def refusing() -> Iterator[LocalServer]:
    with LocalServer(lambda request: "{}", misbehaviour=Misbehaviour("refusal", 1.0), latency=0.02) as server:
        yield server


@pytest.mark.parametrize("processes", [0, 2])
def test_no_call_is_made_after_the_end_even_by_requests_that_wait_for_a_slot(
    refusing: LocalServer, processes: int
) -> None:
    slots, width, chunks = 8, 16, 4
    with Deidentifier(
        model="openai/x", api_base=refusing.url, api_key=refusing.api_key, detectors=("rules", "llm"),
        model_slots=slots, chunk_words=16, processes=processes,
    ) as deid:  # fmt: skip
        notes = ["".join(f"word{i} " for i in range(40))] * 120  # 4 chunks each
        assert deid.width == width
        results = list(deid.batch(notes))
    met = Counter(code for result in results for code in codes(result))
    assert met["model-stopped"] >= 70
    assert refusing.calls <= (max(1, processes) * IN_A_ROW + width) * chunks


def test_the_share_that_ends_a_run_needs_a_full_window() -> None:
    breaker = Breaker()
    for i in range(WINDOW - 1):
        breaker.answered(("model-declined",) if i % 2 else ())
    assert not breaker.stopped
    breaker.answered(("model-declined",))
    assert breaker.stopped == "model-declined"
    assert 0.3 < SHARE < 0.7  # three failures in ten are no reason to stop
