"""Every provider of batches, in its own wire format: one batch, half the price, and nothing left at the provider."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from incognote import Deidentifier
from incognote.errors import ContextTooLong, ModelRejected, ModelUnavailable, SettingError
from incognote.llm.base import Message, Reply, Request
from incognote.llm.batch import BatchModel
from incognote.llm.batchapi import BatchApi
from incognote.llm.batchjobs import BatchJobs
from incognote.llm.opening import ModelSpec, open_batch
from incognote.llm.recording import Recording
from incognote.llm.vendors import openai_batch
from incognote.llm.vendors.anthropic_batch import AnthropicBatch
from incognote.testing import BatchPlan, LocalServer, Trouble

from .conftest import Script, answers, is_right, note

pytest.importorskip("openai")

PATHS = {
    "openai/m": "/v1/batches",
    "groq/m": "/v1/batches",
    "azure/m": "/openai/batches",
    "mistral/m": "/v1/batch/jobs",
    "anthropic/m": "/v1/messages/batches",
    "gemini/m": "/v1beta/models/m:batchGenerateContent",
}
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
vendors = pytest.mark.parametrize("name", PATHS)


@pytest.fixture(autouse=True)
def checks_files_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_batch, "_FILE_SECONDS", 0.01)


@asynccontextmanager
async def opened(name: str, server: LocalServer, recording: Recording) -> AsyncIterator[BatchModel]:
    base = server.url if name.split("/")[0] in ("openai", "groq", "mistral") else server.url.removesuffix("/v1")
    spec = ModelSpec(name, home=recording.sealed.path.parent, api_base=base, api_key=server.api_key)
    model = open_batch(spec, recording, allow_provider_storage=True)
    assert isinstance(model, BatchModel)
    model._poll, model._settle = 0.01, 0.05
    try:
        yield model
    finally:
        await model.aclose()


def created(name: str, server: LocalServer) -> int:
    return sum((c.method, c.path, c.status) == ("POST", PATHS[name], 200) for c in server.log)


@vendors
async def test_a_run_is_one_batch_and_leaves_nothing(
    name: str, server: LocalServer, recording: Recording, script: Script
) -> None:
    async with opened(name, server, recording) as model:
        asking = (model.complete(replace(note(n), schema=SCHEMA, strict=True, sample=n)) for n in range(12))
        replies = await asyncio.gather(*asking)
    assert all(is_right(reply, n) for n, reply in enumerate(replies))
    assert all(reply.usage.input > 0 and reply.finish == "stop" for reply in replies)
    assert (created(name, server), max(script.paid.values()), server.files) == (1, 1, {})
    assert recording.sealed.jobs() == {}
    header = {"azure/m": "api-key", "anthropic/m": "x-api-key", "gemini/m": "x-goog-api-key"}.get(name, "authorization")
    assert all(server.api_key in call.headers[header] for call in server.log)


@vendors
async def test_each_error_of_a_line_is_its_requests_error(
    name: str, server: LocalServer, recording: Recording, script: Script
) -> None:
    script.troubles = {
        "#1": Trouble("status", 500),
        "#2": Trouble("status", 400, "invalid_value"),
        "#3": Reply("", "refusal"),
        "#4": Reply("cut", "length"),
    }
    async with opened(name, server, recording) as model:
        replies = await answers(model, *range(5))
    assert is_right(replies[0], 0)
    assert [type(reply) for reply in replies[1:3]] == [ModelUnavailable, ModelRejected]
    refused = "filter" if name == "gemini/m" else "refusal"
    assert [r.finish for r in replies[3:] if isinstance(r, Reply)] == [refused, "length"]
    assert (created(name, server), server.files) == (1, {})


@vendors
@pytest.mark.parametrize("dialect", ["sglang", "unknown-400"])
async def test_a_long_request_and_a_rejected_schema_are_recognized_in_batches(
    name: str, dialect: str, recording: Recording, script: Script
) -> None:
    with LocalServer(script, dialect=dialect, context=400) as server:
        async with opened(name, server, recording) as model:
            long = Request((Message("system", "Find names."), Message("user", "word " * 500)), SCHEMA)
            asking = (model.complete(each) for each in (replace(note(1), schema=SCHEMA), long))
            replies = await asyncio.gather(*asking, return_exceptions=True)
        assert is_right(replies[0], 1)
        assert isinstance(replies[1], ContextTooLong)
        assert isinstance(recording.problem(long.address(name)), ContextTooLong), "so a replay divides it, too"
        assert server.files == {}


@vendors
async def test_what_expired_is_sent_once_more(
    name: str, server: LocalServer, recording: Recording, script: Script
) -> None:
    server.batch_plan = BatchPlan(outcome="expired", share=0.5)
    async with opened(name, server, recording) as model:
        model._poll = 0.1
        asking = asyncio.ensure_future(answers(model, *range(4)))
        async with asyncio.timeout(30):
            while not created(name, server):  # noqa: ASYNC110 -- the server runs in another thread
                await asyncio.sleep(0.005)
        server.batch_plan = BatchPlan()
        assert all(is_right(reply, n) for n, reply in enumerate(await asking))
    assert (created(name, server), max(script.paid.values()), server.files) == (2, 1, {})


@vendors
async def test_a_batch_whose_confirmation_was_lost_is_found(
    name: str, server: LocalServer, recording: Recording, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(name, server, recording) as model:
        real, calls = model._api.send, list[int]()

        async def lost(token: str, content: bytes) -> str:
            done = await real(token, content)
            calls.append(1)
            if len(calls) == 1:
                raise ModelUnavailable("cut off", retry_after=0.01)
            return done

        monkeypatch.setattr(model._api, "send", lost)
        assert all(is_right(reply, n) for n, reply in enumerate(await answers(model, 1, 2), 1))
    assert (created(name, server), script.paid.total(), server.files) == (1, 2, {})


@pytest.mark.parametrize("polls", [1, 3])
async def test_a_batch_of_somebody_else_is_neither_used_nor_deleted(
    server: LocalServer, recording: Recording, script: Script, polls: int
) -> None:
    server.batch_plan = BatchPlan(polls=polls)
    async with opened("anthropic/m", server, recording) as model:
        api = model._api
        foreign = await api.send("", b"".join(api.line(f"other-{n}", note(n), ()) for n in (7, 8)))
        if polls == 1:
            assert await api.state(foreign) is not None  # it has ended
        jobs = BatchJobs(recording.sealed, api.name, api.base)
        jobs.intend([note(n).address(api.name) for n in (1, 2)], 1, ())  # killed before the batch was created
        assert all(is_right(reply, n) for n, reply in enumerate(await answers(model, 1, 2), 1))
        assert await api.state(foreign) is not None
    assert recording.sealed.jobs() == {}
    assert script.paid[note(1).messages[-1].content] == 1


async def test_azure_waits_until_its_file_is_checked(server: LocalServer, recording: Recording) -> None:
    async with opened("azure/m", server, recording) as model:
        await answers(model, 1)
    calls = [f"{c.method} {c.path}" for c in server.log]
    (file,) = {call for call in calls if call.startswith("GET /openai/files/") and "content" not in call}
    assert calls.count(file) == 2
    assert calls.index("POST /openai/batches") == calls.index(file) + 2
    upload = next(json.loads(line) for c in server.log if c.path == "/openai/files" for line in c.body.split(b"\r\n")
                  if line.startswith(b"{"))  # fmt: skip
    assert (upload["url"], upload["body"]["model"]) == ("/chat/completions", "m")


def test_mistral_gets_its_own_names_of_parameters(server: LocalServer, recording: Recording) -> None:
    api = _api("mistral/m", server, recording)
    line = json.loads(api.line("a", replace(note(1), schema=SCHEMA, sample=3), {"temperature"}))
    assert set(line) == {"custom_id", "body"}
    assert set(line["body"]) == {"messages", "max_tokens", "random_seed", "response_format"}


def test_anthropic_gets_the_schema_as_a_tool_whose_arguments_are_the_reply(
    server: LocalServer, recording: Recording
) -> None:
    api = _api("anthropic/m", server, recording)
    request = Request((Message("system", "s" * 5000), Message("user", "note")), SCHEMA, sample=2)
    params = json.loads(api.line("a", request, ()))["params"]
    assert set(params) == {"model", "max_tokens", "temperature", "messages", "system", "tools", "tool_choice"}
    assert params["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert params["tool_choice"] == {"type": "tool", "name": params["tools"][0]["name"]}
    assert "tools" not in json.loads(api.line("a", request, {"json_schema"}))["params"]
    usage = {"input_tokens": 5, "cache_read_input_tokens": 1200, "output_tokens": 7}
    block = {"type": "tool_use", "id": "t", "name": "json_reply", "input": {"PERSON": ["Ås <<Abara>>"]}}
    message = {"content": [block], "stop_reason": "tool_use", "usage": usage}
    row = {"custom_id": "a", "result": {"type": "succeeded", "message": message}}
    (reply,) = api.outcomes(json.dumps(row).encode(), ["a"]).values()
    assert isinstance(reply, Reply)
    assert (reply.text, reply.finish) == ('{"PERSON": ["Ås <<Abara>>"]}', "stop")
    assert (reply.usage.input, reply.usage.cached, reply.usage.output) == (1205, 1200, 7)
    for broken in ("{}", '{"custom_id": "a", "result": {"type": "succeeded"}}', '{"custom_id": "a", "result": 3}'):
        assert api.outcomes(broken.encode(), ["a"]) == {}
    assert isinstance(api, AnthropicBatch)


def test_gemini_gets_the_schema_and_the_conversation_in_its_own_names(
    server: LocalServer, recording: Recording
) -> None:
    api = _api("gemini/m", server, recording)
    turns = [("system", "Find names."), ("user", "note"), ("assistant", "what?"), ("user", "again")]
    request = Request(tuple(Message(role, text) for role, text in turns), SCHEMA, sample=2)  # type: ignore[arg-type]  # literals
    body = json.loads(api.line("a", request, ()))["request"]
    assert [turn["role"] for turn in body["contents"]] == ["user", "model", "user"]
    assert body["systemInstruction"] == {"parts": [{"text": "Find names."}]}
    assert body["generationConfig"]["responseJsonSchema"] == SCHEMA
    config = json.loads(api.line("a", request, {"json_schema", "temperature"}))["request"]["generationConfig"]
    assert config == {"maxOutputTokens": 4096, "seed": 2, "responseMimeType": "application/json"}
    counts = {"promptTokenCount": 9, "candidatesTokenCount": 3, "thoughtsTokenCount": 4, "cachedContentTokenCount": 5}
    parts = [{"text": "hm", "thought": True}, {"text": "{}"}]
    response = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}], "usageMetadata": counts}
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}}
    for said, expected in ((response, ("{}", "stop", 7, 5)), (blocked, ("", "filter", 0, 0))):
        (reply,) = api.outcomes(json.dumps({"custom_id": "a", "response": said}).encode(), ["a"]).values()
        assert isinstance(reply, Reply)
        assert (reply.text, reply.finish, reply.usage.output, reply.usage.cached) == expected
    assert api.outcomes(b'{"custom_id": "a", "response": {"candidates": []}}', ["a"]) == {}


def test_a_vendor_without_batches_is_a_setting_error(recording: Recording, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"openai/NAME, azure/NAME, anthropic/NAME, gemini/NAME"):
        open_batch(ModelSpec("xai/m", home=tmp_path), recording, allow_provider_storage=True)


def test_requests_that_are_repeated_share_one_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve notes, of which three get an unusable reply: one batch for all first requests, one for the repeated."""
    key, policy = tmp_path / "key", tmp_path / "policy.toml"
    key.write_text("07" * 32, encoding="utf-8")
    terms = 'name = "batches"\nextends = "strict"\n[models]\nallow_provider_storage = true\n'
    policy.write_text(terms, encoding="utf-8")

    def reply(request: Request) -> str:
        first = len(request.messages) == 2
        return "I see." if first and any(f"Room {n}0 " in request.messages[1].content for n in range(3)) else "{}"

    real = BatchModel.__init__

    def quick(self: BatchModel, *args: Any, **more: Any) -> None:
        real(self, *args, **{**more, "poll_seconds": 0.05, "settle_seconds": 0.5})

    monkeypatch.setattr(BatchModel, "__init__", quick)
    with LocalServer(reply) as server:
        settings = {"api_base": server.url, "api_key": server.api_key, "recording": tmp_path / "r.db", "passes": 1,
                    "detectors": ("rules", "llm")}  # fmt: skip
        with Deidentifier(str(policy), model="openai/m", batch=True, key_file=key, **settings) as deid:
            results = list(deid.batch([f"Seen in Room {n}0 today, and doing well." for n in range(12)]))
        assert len(results) == 12
        assert created("openai/m", server) == 2


def _api(name: str, server: LocalServer, recording: Recording) -> BatchApi:
    spec = ModelSpec(name, home=recording.sealed.path.parent, api_base=server.url, api_key=server.api_key)
    model = open_batch(spec, recording, allow_provider_storage=True)
    assert isinstance(model, BatchModel)
    return model._api
