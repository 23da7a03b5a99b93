"""Both adapters satisfy the same contract, over real HTTP on the loopback."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import ContextTooLong, EgressRefused, ModelProblem, ModelRejected, ModelUnavailable
from incognote.llm.base import LanguageModel, Message, Reply, Request
from incognote.llm.egress import Egress
from incognote.llm.opening import ModelSpec, open_model
from incognote.testing.server import LocalServer
from incognote.testing.trouble import Trouble

if not find_spec("openai") or not find_spec("litellm"):  # not imported: the adapter must first set what litellm reads
    pytest.skip("the extra `llm` is not installed", allow_module_level=True)

CANARY = "Ottoline Featherstonehaugh"
SCHEMA = {
    "type": "object",
    "properties": {"PERSON": {"type": "array", "items": {"type": "string"}}},
    "required": ["PERSON"],
    "additionalProperties": False,
}
ASK = Request(
    (Message("system", "Find names."), Message("user", f"Seen: {CANARY}.")), SCHEMA, strict=True, max_tokens=77
)
Adapted = Callable[..., LanguageModel]


@pytest.fixture(params=["openai", "litellm"])
async def adapted(request: pytest.FixtureRequest, endpoint: Any) -> AsyncIterator[Adapted]:
    """Make the bare adapter for the endpoint, and close all adapters at the end."""
    made: list[LanguageModel] = []

    def make(*, allowed: str | None = None, timeout: float = 10.0) -> LanguageModel:
        egress = Egress([allowed or endpoint.url])
        if request.param == "openai":
            from incognote.llm.vendors.chat import OpenAIModel

            made.append(
                OpenAIModel("openai/m", api_base=endpoint.url, api_key="sk-test", timeout=timeout, egress=egress)
            )
        else:
            from incognote.llm.vendors.litellm_sdk import LiteLLMModel

            made.append(
                LiteLLMModel(
                    "hosted_vllm/m", api_base=endpoint.url, api_key="sk-test", timeout=timeout, egress=egress
                )
            )
        return made[-1]

    yield make
    for model in made:
        await model.aclose()


@pytest.fixture(autouse=True)
def nothing_is_said(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """With all loggers at DEBUG, no test logs or prints a prompt, a reply, or an error body."""
    caplog.set_level(logging.DEBUG)
    for name in ("LiteLLM", "litellm", "openai", "openai._base_client", "httpx", "httpcore", "aiohttp"):
        caplog.set_level(logging.DEBUG, logger=name)
    yield
    said = "".join(r.getMessage() + str(r.exc_text or "") + str(r.__dict__) for r in caplog.records)
    said += "".join(capfd.readouterr())
    assert CANARY not in said
    assert "sk-test" not in said


async def failed(model: LanguageModel, kind: type[ModelProblem], request: Request = ASK) -> ModelProblem:
    """Return the problem of a failing call. Its message, exception chain, and frames contain nothing that was sent."""
    with pytest.raises(kind) as caught:
        await model.complete(request)
    assert type(caught.value) is kind
    told = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert CANARY not in told
    assert "sk-test" not in told
    assert caught.value.__cause__ is None
    return caught.value


async def test_a_reply_comes_with_text_usage_and_name(adapted: Adapted, endpoint: Any) -> None:
    model = adapted()
    reply = await model.complete(ASK)
    assert (reply.text, reply.finish, reply.model) == ("yes", "stop", model.name)
    assert (reply.usage.input, reply.usage.output, reply.usage.cached, reply.usage.calls) == (100, 20, 60, 1)
    assert reply.usage.usd is None
    assert reply.seconds > 0
    assert endpoint.headers[0]["authorization"] == "Bearer sk-test"


async def test_a_reply_is_not_logged(adapted: Adapted, endpoint: Any, raw: Any, chat: Any) -> None:
    endpoint.answer(raw(body=chat(f'{{"PERSON": ["{CANARY}"]}}')))
    reply = await adapted().complete(ASK)
    assert CANARY in reply.text
    assert CANARY not in repr(reply)


async def test_the_request_arrives_whole_and_asks_for_no_storage(adapted: Adapted, endpoint: Any) -> None:
    await adapted().complete(ASK)
    (body,) = endpoint.bodies
    assert body["model"] == "m"
    assert body["messages"] == [{"role": m.role, "content": m.content} for m in ASK.messages]
    assert body["temperature"] == 0.0
    assert body["max_tokens"] == 77
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert body["response_format"]["json_schema"]["strict"] is True
    assert body.get("store") in (False, None)
    assert "seed" not in body


async def test_a_request_without_a_schema_asks_for_text(adapted: Adapted, endpoint: Any) -> None:
    await adapted().complete(Request(ASK.messages, sample=3))
    assert "response_format" not in endpoint.bodies[0]
    assert endpoint.bodies[0]["seed"] == 3


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "filter"), ("unheard_of", "length")],
)
async def test_why_a_reply_ended_is_kept(
    adapted: Adapted, endpoint: Any, raw: Any, chat: Any, reason: str, finish: str
) -> None:
    endpoint.answer(raw(body=chat("part", reason)))
    reply = await adapted().complete(ASK)
    if reason == "unheard_of":  # litellm does not know this reason and reports a stop
        assert reply.finish in (finish, "stop")
    else:
        assert reply.finish == finish


async def test_a_refusal_is_told_apart(adapted: Adapted, endpoint: Any, raw: Any, chat: Any) -> None:
    endpoint.answer(raw(body=chat(None, "stop", refusal="I cannot help with that.")))
    reply = await adapted().complete(ASK)
    assert (reply.text, reply.finish) == ("", "refusal")


async def test_hidden_tokens_count_as_written(adapted: Adapted, endpoint: Any, raw: Any, chat: Any) -> None:
    endpoint.answer(raw(body={**chat(), "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 45}}))
    assert (await adapted().complete(ASK)).usage.output == 35


@pytest.mark.parametrize(
    ("status", "kind", "remedy"),
    [
        (400, ModelRejected, "model's name"),
        (401, ModelRejected, "key"),
        (403, ModelRejected, "permissions"),
        (404, ModelRejected, "api_base"),
        (408, ModelUnavailable, "later"),
        (409, ModelUnavailable, "later"),
        (413, ContextTooLong, "chunk_words"),
        (429, ModelUnavailable, "later"),
        (500, ModelUnavailable, "later"),
        (529, ModelUnavailable, "later"),
    ],
)
async def test_a_status_becomes_an_error_of_ours_without_the_servers_words(
    adapted: Adapted, endpoint: Any, raw: Any, status: int, kind: type[ModelProblem], remedy: str
) -> None:
    endpoint.answer(raw(status, {"error": {"message": f"Bad: {CANARY} sk-test", "code": CANARY}}))
    problem = await failed(adapted(), kind, replace(ASK, schema=None))
    assert str(status) in str(problem)
    assert remedy in str(problem)
    assert len(endpoint.bodies) == 1, "an SDK asked again by itself"


async def test_retry_after_is_read(adapted: Adapted, endpoint: Any, raw: Any) -> None:
    endpoint.answer(raw(429, {"error": {"message": "slow down"}}, {"Retry-After": "7"}))
    problem = await failed(adapted(), ModelUnavailable)
    assert isinstance(problem, ModelUnavailable)
    assert problem.retry_after == 7.0


async def test_a_context_complaint_is_told_apart(adapted: Adapted, endpoint: Any, raw: Any) -> None:
    said = f"This model's maximum context length is 4096 tokens. {CANARY}"
    endpoint.answer(raw(400, {"error": {"message": said, "code": "context_length_exceeded"}}))
    await failed(adapted(), ContextTooLong)


async def test_a_filtered_prompt_is_a_reply_that_was_filtered(adapted: Adapted, endpoint: Any, raw: Any) -> None:
    endpoint.answer(raw(400, {"error": {"message": CANARY, "code": "content_filter", "status": 400}}))
    reply = await adapted().complete(ASK)
    assert (reply.text, reply.finish, reply.usage.calls) == ("", "filter", 1)


async def test_an_unsupported_parameter_is_left_out_once_and_for_all(adapted: Adapted, endpoint: Any, raw: Any) -> None:
    def complaint(parameter: str) -> Any:
        return raw(400, {"error": {"message": "Unsupported", "param": parameter, "code": "unsupported_parameter"}})

    endpoint.answer(complaint("max_tokens"), complaint("temperature"), raw())
    model = adapted()
    assert (await model.complete(ASK)).text == "yes"
    assert len(endpoint.bodies) == 3
    await model.complete(ASK)
    assert len(endpoint.bodies) == 4, "it forgot what the endpoint does not take"
    assert "temperature" not in endpoint.bodies[-1]
    assert "max_tokens" not in endpoint.bodies[-1]
    assert endpoint.bodies[-1]["max_completion_tokens"] == 77
    assert "response_format" in endpoint.bodies[-1]


async def test_a_server_without_schemas_is_asked_for_plain_text(adapted: Adapted, endpoint: Any, raw: Any) -> None:
    rejected = raw(400, {"error": "response_format is not supported by this server"})
    endpoint.answer(rejected, rejected, raw())
    assert (await adapted().complete(ASK)).text == "yes"
    assert "response_format" not in endpoint.bodies[-1]


async def test_a_complaint_that_goes_on_ends(adapted: Adapted, endpoint: Any, raw: Any) -> None:
    endpoint.answer(raw(400, {"error": {"message": "Unsupported", "param": "temperature"}}))
    model = adapted()
    await failed(model, ModelRejected)
    assert len(endpoint.bodies) == 2
    endpoint.answer(raw())
    await model.complete(ASK)
    assert "temperature" in endpoint.bodies[-1], "leaving it out did not help, so it is not remembered"


async def test_silence_ends_with_the_timeout(adapted: Adapted, endpoint: Any, raw: Any) -> None:
    endpoint.answer(raw(delay=1.5))
    problem = await failed(adapted(timeout=0.3), ModelUnavailable)
    assert "0.3 s" in str(problem) or "before the timeout" in str(problem)


async def test_nobody_there_is_unavailable(adapted: Adapted, endpoint: Any) -> None:
    model = adapted()
    endpoint.close()
    problem = await failed(model, ModelUnavailable)
    assert "api_base" in str(problem)


@pytest.mark.parametrize(
    "body",
    [
        f"<html>Welcome {CANARY}</html>".encode(),
        b"",
        b'{"choices": []}',
        f'{{"choices": [{{"message": "{CANARY}'.encode(),
        f'{{"choices": [{{"message": "{CANARY}"}}]}}'.encode(),
        b"null",
        b"\xff\xfe",
    ],
)
async def test_something_else_than_a_completion_is_no_reply(
    adapted: Adapted, endpoint: Any, raw: Any, body: bytes
) -> None:
    endpoint.answer(raw(body=body))
    problem = await failed(adapted(), ModelUnavailable)
    assert "200" in str(problem)


async def test_a_redirect_is_not_followed(adapted: Adapted, endpoint: Any, other: Any, raw: Any) -> None:
    for status in (301, 302, 303, 307, 308):
        endpoint.answer(raw(status, b"", {"Location": f"{other.url}/chat/completions?{CANARY.split()[0]}"}))
        problem = await failed(adapted(), EgressRefused)
        assert str(status) in str(problem)
    assert other.bodies == []


async def test_another_address_is_refused_before_a_byte_is_sent(adapted: Adapted, endpoint: Any, other: Any) -> None:
    await failed(adapted(allowed=other.url), EgressRefused)
    await failed(adapted(allowed="https://models.example.org/v1"), EgressRefused)
    assert endpoint.bodies == []
    assert other.bodies == []


async def test_many_calls_share_one_object(adapted: Adapted, endpoint: Any) -> None:
    model = adapted()
    replies = await asyncio.gather(*(model.complete(ASK) for _ in range(40)))
    assert [r.text for r in replies] == ["yes"] * 40


async def test_the_environments_proxies_and_netrc_are_not_heeded(
    adapted: Adapted, endpoint: Any, other: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, other.url.removesuffix("/v1"))
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setenv("no_proxy", "")
    assert (await adapted().complete(ASK)).text == "yes"
    assert other.bodies == []


@pytest.fixture(params=["openai/m", "hosted_vllm/m"])
def spec(request: pytest.FixtureRequest, endpoint: Any, tmp_path: Path) -> ModelSpec:
    return ModelSpec(request.param, home=tmp_path, api_base=endpoint.url, api_key="sk-test", timeout=10)


async def test_429_with_retry_after_then_success(spec: ModelSpec, endpoint: Any, raw: Any) -> None:
    endpoint.answer(raw(429, {"error": {"message": CANARY}}, {"Retry-After": "0.3"}), raw())
    model = open_model(spec)
    reply = await model.complete(ASK)
    await model.aclose()
    assert reply.text == "yes"
    assert reply.seconds >= 0.3
    assert reply.usage.usd == 0.0, "the loopback costs nothing"
    assert len(endpoint.bodies) == 2


async def test_500s_then_success(spec: ModelSpec, endpoint: Any, raw: Any) -> None:
    endpoint.answer(raw(500, {"error": {"message": CANARY}}), raw(503, b"overloaded"), raw())
    model = open_model(spec)
    assert (await model.complete(ASK)).text == "yes"
    await model.aclose()
    assert len(endpoint.bodies) == 3


@pytest.mark.parametrize("kind", ["hang", "drop", "cut", "slow"])
@pytest.mark.parametrize("name", ["openai/m", "hosted_vllm/m"])
async def test_a_line_that_fails_is_tried_again_by_us_alone(tmp_path: Path, name: str, kind: Any) -> None:
    """Against the public test server: silence, a connection closed before or during the answer, an endless trickle."""
    first = [Trouble(kind, seconds=5.0, reply=Reply("yes " * 20))]
    with LocalServer(lambda _: first.pop() if first else "yes") as server:
        model = open_model(
            ModelSpec(name, home=tmp_path, api_base=server.url, api_key=server.api_key, timeout=0.8, attempts=2)
        )
        reply = await model.complete(ASK)
        await model.aclose()
        assert reply.text == "yes"
        assert server.calls == 2
        assert server.requests[0].schema == SCHEMA
        assert reply.usage.calls == 1


@pytest.mark.parametrize("name", ["openai/m", "hosted_vllm/m"])
async def test_a_server_that_repeats_the_request_in_its_error_tells_nobody(tmp_path: Path, name: str) -> None:
    with LocalServer({}, echo=True, context=3) as server:
        spec = ModelSpec(name, home=tmp_path, api_base=server.url, api_key=server.api_key, timeout=5)
        model = open_model(spec)
        await failed(model, ContextTooLong)
        await model.aclose()
