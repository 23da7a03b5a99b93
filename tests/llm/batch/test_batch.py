"""Batch mode: one batch for each pass; wherever it is killed, nothing is paid for twice or left at the provider."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import (
    EgressRefused,
    ModelProblem,
    ModelRejected,
    ModelUnavailable,
    PolicyProblem,
    SettingError,
)
from incognote.llm.base import Reply
from incognote.llm.batchapi import Unwanted
from incognote.llm.egress import Egress
from incognote.llm.prices import Price
from incognote.llm.recording import Recording, Replayed
from incognote.llm.vendors.openai_batch import OpenAIBatch
from incognote.testing import BatchPlan, LocalServer, Trouble
from incognote.testing.store import parts

from .conftest import (
    KEYS,
    NAME,
    WORDS,
    Script,
    answers,
    at_rest,
    created,
    is_right,
    looked_at,
    made,
    note,
    opened,
    until,
)

pytest.importorskip("openai")


def api() -> OpenAIBatch:
    return OpenAIBatch(NAME, api_base="http://127.0.0.1:9/v1", api_key="k", egress=Egress(["http://127.0.0.1:9/v1"]))


@pytest.mark.parametrize("consent", [False, None, "yes", 1])
def test_without_the_policys_consent_it_is_not_built(server: LocalServer, recording: Recording, consent: Any) -> None:
    with pytest.raises(PolicyProblem, match="allow_provider_storage = true"):
        made(server, recording, allow_provider_storage=consent)


def test_it_needs_an_allowed_address_and_an_encrypted_recording(
    server: LocalServer, recording: Recording, tmp_path: Path
) -> None:
    with pytest.raises(EgressRefused):
        OpenAIBatch(NAME, api_base="https://elsewhere.example/v1", api_key="k", egress=Egress([server.url]))
    with pytest.raises(SettingError, match="encrypted"):
        made(server, Recording(tmp_path / "plain.jsonl", plain=True))


async def test_each_pass_is_one_batch_at_half_the_price(
    server: LocalServer, recording: Recording, script: Script
) -> None:
    async with opened(server, recording, price=Price(2.0, 8.0, 1.0)) as model:
        for numbers in (range(30), range(30, 60)):
            replies = await answers(model, *numbers)
            for n, reply in zip(numbers, replies, strict=True):
                assert isinstance(reply, Reply)
                assert is_right(reply, n)
                tokens = reply.usage
                assert (tokens.calls, reply.model, reply.finish) == (1, NAME, "stop")
                assert tokens.input > 0
                assert tokens.usd == pytest.approx((tokens.input * 2 + tokens.output * 8) / 2e6)
    assert (created(server), model.batches) == (2, 2)
    assert (len(script.paid), max(script.paid.values())) == (60, 1)
    assert server.files == {}
    assert recording.sealed.jobs() == {}


async def test_requests_that_come_while_the_processor_is_busy_share_a_batch(
    server: LocalServer, recording: Recording
) -> None:
    async def second() -> Reply:
        await asyncio.sleep(0.2)
        return await model.complete(note(2))

    async with opened(server, recording, settle_seconds=0.1) as model:
        asking = asyncio.gather(model.complete(note(1)), second())
        await asyncio.sleep(0.05)
        time.sleep(0.2)  # noqa: ASYNC251 -- as detection, which blocks the event loop
        assert all(is_right(reply, n) for n, reply in enumerate(await asking, 1))
    assert created(server) == 1


async def test_equal_requests_share_a_line_and_its_price(
    server: LocalServer, recording: Recording, script: Script
) -> None:
    async with opened(server, recording) as model:
        replies = await answers(model, 1, 1, 1)
    assert all(is_right(reply, 1) for reply in replies)
    assert sorted(r.usage.calls for r in replies if isinstance(r, Reply)) == [0, 0, 1]
    assert script.paid.total() == 1


async def test_what_is_recorded_is_not_sent(server: LocalServer, recording: Recording) -> None:
    async with opened(server, recording) as model:
        await answers(model, 1, 2)
    before = len(server.log)
    async with opened(server, recording) as again:
        assert all(is_right(r, n) for n, r in enumerate(await answers(again, 1, 2), 1))
        assert again.hits == 2
    assert len(server.log) == before
    assert is_right(await Replayed(NAME, recording).complete(note(1)), 1)


async def test_a_request_nobody_waits_for_any_more_is_not_sent(
    server: LocalServer, recording: Recording, script: Script
) -> None:
    async with opened(server, recording) as model:
        leaving = asyncio.create_task(model.complete(note(1)))
        staying = asyncio.create_task(model.complete(note(2)))
        await asyncio.sleep(0)  # lets both tasks start
        leaving.cancel()
        assert is_right(await staying, 2)
    assert len(script.paid) == 1


async def test_a_closed_run_is_collected_by_the_next(server: LocalServer, recording: Recording, script: Script) -> None:
    server.batch_plan = BatchPlan(polls=5)
    first = made(server, recording, poll_seconds=60)
    waiting = asyncio.gather(*(first.complete(note(n)) for n in range(5)), return_exceptions=True)
    await until(lambda: created(server) and first.batches)
    await first.aclose()
    assert all(isinstance(reply, ModelUnavailable) for reply in await waiting)
    async with opened(server, recording) as second:
        replies = await answers(second, *range(7))
    assert all(is_right(reply, n) for n, reply in enumerate(replies))
    assert (created(server), second.batches) == (2, 1)  # five were collected, two are new
    assert max(script.paid.values()) == 1
    assert server.files == {}


async def test_what_nobody_asks_for_again_is_collected_too(server: LocalServer, recording: Recording) -> None:
    server.batch_plan = BatchPlan(polls=2)
    first = made(server, recording, poll_seconds=60)
    waiting = asyncio.gather(first.complete(note(1)), return_exceptions=True)
    await until(lambda: looked_at(server))
    for task in first._tasks:
        task.cancel()  # simulates a kill: aclose would poll once more
    await made(server, recording).aclose()
    assert (server.files, recording.sealed.jobs()) == ({}, {})
    assert is_right(await Replayed(NAME, recording).complete(note(1)), 1)
    await first.aclose()
    await waiting


async def test_two_runs_over_one_recording_pay_once(server: LocalServer, recording: Recording, script: Script) -> None:
    other = Recording(recording.sealed.path, KEYS)
    async with opened(server, recording) as one, opened(server, other) as two:
        first, second = await asyncio.gather(answers(one, *range(6)), answers(two, *range(6)))
    assert all(is_right(reply, n) for replies in (first, second) for n, reply in enumerate(replies))
    assert (created(server), script.paid.total()) == (1, 6)
    assert server.files == {}
    other.close()


async def test_names_metadata_logs_exceptions_and_files_hold_no_word_of_a_note(
    server: LocalServer, recording: Recording, script: Script, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    script.troubles = {"#1": Trouble("status", 500), "#2": Trouble("status", 400, "invalid_value")}
    server.echo = True
    server.batch_plan = BatchPlan(polls=3)
    async with opened(server, recording) as model:
        asking = asyncio.ensure_future(answers(model, 1, 2, 3))
        await until(lambda: looked_at(server))
        lying = at_rest(recording.sealed.path)
        replies = await asking
        lying += at_rest(recording.sealed.path)
    assert [type(reply) for reply in replies] == [ModelUnavailable, ModelRejected, Reply]
    upload = next(c for c in server.log if (c.method, c.path) == ("POST", "/v1/files"))
    filename, content = parts(upload.body, upload.headers["content-type"])["file"]
    ids = [json.loads(line)["custom_id"] for line in content.splitlines()]
    assert sorted(ids) == sorted(note(n).address(NAME) for n in (1, 2, 3))
    others = b"".join(c.body + c.path.encode() for c in server.log if c.path != "/v1/files")
    told = " ".join([caplog.text, *map(str, replies[:2]), *map(repr, replies), repr(model)])
    for searched in (filename.encode(), others, lying, told.encode(), " ".join(ids).encode()):
        assert not [word for word in WORDS if word.encode() in searched.lower()]
    assert not [n for n in (1, 2, 3) if note(n).address(NAME).encode() in lying]


def test_a_batch_stays_within_the_providers_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [(str(n), b"x" * 10) for n in range(7)]
    pieces = api().pieces
    monkeypatch.setattr(OpenAIBatch, "most_requests", 3)
    assert [addresses for addresses, _ in pieces(lines)] == [["0", "1", "2"], ["3", "4", "5"], ["6"]]
    monkeypatch.setattr(OpenAIBatch, "most_requests", 99)
    monkeypatch.setattr(OpenAIBatch, "most_bytes", 20)
    made = list(pieces(lines))
    assert [addresses for addresses, _ in made] == [["0", "1"], ["2", "3"], ["4", "5"], ["6"]]
    assert max(len(content) for _, content in made) == 20
    assert list(pieces([])) == []


async def test_more_than_fits_goes_out_in_several_batches(
    server: LocalServer, recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenAIBatch, "most_requests", 4)
    async with opened(server, recording) as model:
        assert all(is_right(reply, n) for n, reply in enumerate(await answers(model, *range(10))))
    assert (created(server), server.files) == (3, {})


def test_lines_that_are_not_whole_say_nothing() -> None:
    def row(**more: Any) -> bytes:
        return json.dumps({"id": "x", "custom_id": "a", "response": None, "error": None, **more}).encode()

    ok = {"status_code": 200, "body": {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}}
    silent = [
        b"",
        b"\xff{",
        b"[]",
        b'"a"',
        row(custom_id=None),
        row(custom_id=["a"]),
        row(custom_id="b", response=ok),
        row(response={"status_code": 200, "body": {}}),
        row(response={"status_code": 200, "body": None}),
        row(response={"status_code": 200, "body": "Quackenbosh"}),
        row(response=ok)[:-9],
        row(error={"code": "batch_expired"}),
    ]
    assert [api().outcomes(line, ["a"]) for line in silent] == [{}] * len(silent)
    (reply,) = api().outcomes(row(response=ok), ["a"]).values()
    assert isinstance(reply, Reply)
    assert (reply.text, reply.finish) == ("yes", "stop")
    for error in (row(error={"code": "server_error", "message": "Quackenbosh"}), row(response={"status_code": 503})):
        (problem,) = api().outcomes(error, ["a"]).values()
        assert isinstance(problem, ModelUnavailable)
        assert "Quackenbosh" not in str(problem)
    body = {"error": {"message": "temperature is not supported", "param": "temperature"}}
    (unwanted,) = api().outcomes(row(response={"status_code": 400, "body": body}), ["a"]).values()
    assert isinstance(unwanted, Unwanted)
    assert (unwanted.parameter, unwanted.sure) == ("temperature", True)
    assert all(not isinstance(o, ModelProblem) for o in api().outcomes(b"\n".join(silent), ["a"]).values())
