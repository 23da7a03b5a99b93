"""Short texts of several records of one patient share requests, and each record takes its own answers."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incognote import Deidentifier, Result
from incognote.agents.composites import divided
from incognote.llm.base import Reply, Request, Usage
from incognote.testing import LocalServer, ScriptedLLM
from incognote.testing.trouble import Trouble

NAMES = "velmira tashkin okoro dunsany brimley halvik".split()
"""Names that no rule and no encoder finds."""
_FENCED = re.compile(r"^(=== [0-9a-f]{16} ===)\n(.*?)\n\1$", re.DOTALL | re.MULTILINE)


def observation(number: int, patient: str | None = "p1", text: str | None = None) -> dict[str, Any]:
    record = {
        "resourceType": "Observation",
        "id": f"o{number}",
        "status": "final",
        "code": {"coding": [{"system": "http://loinc.org", "code": "18842-5"}]},
        "note": [{"text": text or f"Dose {number} was taken, as {NAMES[number % len(NAMES)]} said."}],
    }
    return record if patient is None else {**record, "subject": {"reference": f"Patient/{patient}"}}


def named(request: Request) -> str:
    """Return the names in each text, by its number if there are several."""
    shown = [found.group(2) for found in _FENCED.finditer(request.messages[1].content)]
    said = [{"PERSON": [f"<<{name}>>" for name in NAMES if name in text]} for text in shown]
    return json.dumps(said[0] if len(said) == 1 else {str(n): each for n, each in enumerate(said, 1)})


SIX = [observation(number) for number in range(6)]


def notes(results: Sequence[Result]) -> list[str]:
    return [str(result.record["note"][0]["text"]) for result in results]


def shared(results: Sequence[Result]) -> list[tuple[int, int]]:
    return [(r.manifest["models"]["requests"], r.manifest["models"]["shared"]) for r in results]


async def test_six_observations_of_one_patient_take_one_call() -> None:
    model = ScriptedLLM(named)
    with Deidentifier(model=model, passes=1, detectors=("rules", "llm")) as deid:
        results = list(deid.batch(SIX))
        assert model.calls == 1
        assert shared(results) == [(1, 5)] * 6
        assert notes(results) == [f"Dose {number} was taken, as [PERSON] said." for number in range(6)]
        again = [result async for result in deid.abatch(SIX)]
        assert (notes(again), model.calls) == (notes(results), 2)
        assert model.requests[0] == model.requests[1]


def test_requests_are_the_same_with_processes_and_whatever_answers_first() -> None:
    records = [observation(n, f"p{n % 3}") for n in range(12)] + [observation(12, None), observation(13, "p9")]
    asked: list[Counter[str]] = []
    outputs = []
    for seed, processes in ((1, 0), (2, 0), (3, 2)):
        chance = Random(seed)

        def answer(request: Request, chance: Random = chance) -> Any:
            return Trouble("slow", seconds=chance.random() / 10, reply=Reply(named(request)))

        with LocalServer(answer) as server, Deidentifier(
            model="openai/x", api_base=server.url, api_key=server.api_key, passes=1, detectors=("rules", "llm"),
            processes=processes,
        ) as deid:  # fmt: skip
            outputs.append(notes(list(deid.batch(records))))
            asked.append(Counter(call.request.address("x") for call in server.log if call.request is not None))
    assert asked[0] == asked[1] == asked[2]
    assert asked[0].total() == 5
    assert outputs[0] == outputs[1] == outputs[2]
    assert not set(NAMES) & set(" ".join(outputs[0]).split())


@pytest.mark.parametrize(
    ("records", "settings", "calls"),
    [
        ([observation(0, "p1"), observation(1, "p2")], {}, 2),
        ([observation(0, None), observation(1, None)], {}, 2),
        ([observation(0), observation(1)], {"composite": False}, 2),
        ([observation(0), observation(1)], {}, 1),
    ],
)
def test_requests_are_never_shared_across_patients_or_without_one(
    records: list[Any], settings: dict[str, Any], calls: int
) -> None:
    model = ScriptedLLM(named)
    with Deidentifier(model=model, passes=1, detectors=("rules", "llm"), **settings) as deid:
        assert [result.verdict.outcome for result in deid.batch(records)] == ["release"] * 2
    assert model.calls == calls


def test_usage_of_records_adds_up_to_that_of_the_run() -> None:
    usage = Usage(1000, 101, 7, 1, 0.5)
    with Deidentifier(model=ScriptedLLM(lambda r: Reply(named(r), usage=usage)), passes=1, detectors=("llm",)) as deid:
        each = [Usage(**result.manifest["models"]["usage"]) for result in deid.batch(SIX)]
        assert deid.engine.models is not None
        spent = deid.engine.models.budget.spent
    total = sum(each, Usage())
    assert (total.input, total.output, total.cached, total.calls) == (1000, 101, 7, 1)
    assert total.usd == pytest.approx(spent.usd)
    assert [one.calls for one in each] == [1, 0, 0, 0, 0, 0]
    assert all(150 <= one.input <= 185 for one in each)


@given(st.integers(0, 10**6), st.lists(st.integers(1, 500), min_size=1, max_size=30))
def test_parts_of_usage_add_up_and_none_is_negative(whole: int, weights: list[int]) -> None:
    parts = list(divided(Usage(whole, 1, 0, 3, None), weights))
    assert sum(parts, Usage()) == Usage(whole, 1, 0, 3, None)
    assert all(part.input >= 0 and part.calls >= 0 for part in parts)


def test_a_record_that_fails_before_it_is_planned_does_not_stop_the_others() -> None:
    broken = {**observation(9), "status": 7, "note": [{"text": "Seen by okoro."}], "unknown": {"deep": 1}}
    model = ScriptedLLM(named)
    with Deidentifier(model=model, passes=1, detectors=("rules", "llm")) as deid:
        results = list(deid.batch([SIX[0], broken, SIX[1]]))
    assert [result.verdict.outcome for result in results] == ["release", "quarantine", "release"]
    assert shared(results[::2]) == [(1, 1)] * 2


def test_a_failure_between_opening_and_planning_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from incognote.agents import steps

    real = steps.detect

    def failing(opened: Any, *rest: Any) -> Any:
        if "Dose 1" in opened.texts[0].content:
            raise LookupError("a bug")
        return real(opened, *rest)

    monkeypatch.setattr(steps, "detect", failing)
    model = ScriptedLLM(named)
    with Deidentifier(model=model, passes=1, detectors=("rules", "llm")) as deid:
        results = list(deid.batch(SIX))
    assert [result.verdict.outcome for result in results] == ["release", "quarantine", *["release"] * 4]
    assert model.calls == 1


@pytest.mark.parametrize(("status", "code"), [(400, "model-rejected"), (503, "model-unavailable")])
def test_one_text_that_the_endpoint_does_not_answer_fails_its_own_record_only(status: int, code: str) -> None:
    def answer(request: Request) -> Any:
        return Trouble("status", status) if "Dose 2" in request.messages[1].content else named(request)

    with Deidentifier(model=ScriptedLLM(answer), passes=1, detectors=("rules", "llm")) as deid:
        results = list(deid.batch(SIX))
    assert [result.verdict.outcome for result in results] == ["release"] * 2 + ["quarantine"] + ["release"] * 3
    assert results[2].verdict.reasons[0].code == code


def test_texts_of_a_shared_request_without_an_answer_are_asked_about_alone() -> None:
    def answer(request: Request) -> Any:
        several = len(_FENCED.findall(request.messages[1].content)) > 1
        return Reply("", finish="refusal") if several else named(request)

    model = ScriptedLLM(answer)
    with Deidentifier(model=model, passes=1, detectors=("rules", "llm")) as deid:
        results = list(deid.batch(SIX))
    assert [result.verdict.outcome for result in results] == ["release"] * 6
    assert model.calls == 7


@pytest.mark.parametrize("act", ["nonsense", Trouble("status", 400), Trouble("status", 503), Reply("", "length")])
def test_a_text_in_a_shared_request_costs_at_most_eight_calls(act: Any) -> None:
    model = ScriptedLLM(lambda request: act)
    with Deidentifier(model=model, passes=2, detectors=("rules", "llm")) as deid:
        results = list(deid.batch(SIX))
    assert all(not result.verdict.released for result in results)
    asked = [sum(f"Dose {n} " in request.messages[1].content for request in model.requests) for n in range(6)]
    assert max(asked) <= 8
    assert min(asked) > 1


def test_an_outage_leaves_every_record_retryable() -> None:
    with Deidentifier(model=ScriptedLLM(lambda request: Trouble("status", 503)), detectors=("rules", "llm")) as deid:
        results = list(deid.batch(SIX))
    assert [{reason.code for reason in result.verdict.reasons} for result in results] == [{"model-unavailable"}] * 6


async def test_a_batch_that_is_left_early_leaves_no_call_running() -> None:
    began, ended = threading.Event(), threading.Event()

    class Hanging(ScriptedLLM):
        async def complete(self, request: Request) -> Reply:
            began.set()
            try:
                return await super().complete(request)
            finally:
                ended.set()

    with Deidentifier(model=Hanging(named, latency=60), detectors=("rules", "llm")) as deid:
        taking = asyncio.ensure_future(anext(deid.abatch(SIX)))
        assert await asyncio.to_thread(began.wait, 30)
        taking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await taking
        assert await asyncio.to_thread(ended.wait, 30)
