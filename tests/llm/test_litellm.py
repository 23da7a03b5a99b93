"""Behavior specific to litellm. test_conformance.py tests the contract that it shares with the other models."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from incognote.errors import EgressRefused, SettingError
from incognote.llm.base import LanguageModel, Message, Request
from incognote.llm.egress import Egress
from incognote.llm.opening import ModelSpec, open_model
from incognote.llm.prices import Priced, Prices
from incognote.prompts.loader import asked, load
from incognote.schemas.policy import load_policy
from incognote.settings import PROMPT

if not find_spec("litellm"):
    pytest.skip("the extra `llm` is not installed", allow_module_level=True)

SCHEMA = {
    "type": "object",
    "properties": {"PERSON": {"type": "array", "items": {"type": "string"}}},
    "required": ["PERSON"],
    "additionalProperties": False,
}
ASK = Request((Message("system", "Find names."), Message("user", "Seen: Ms. Abara.")), SCHEMA, strict=True)
Opened = Callable[..., LanguageModel]


@pytest.fixture
async def opened(endpoint: Any) -> AsyncIterator[Opened]:
    from incognote.llm.vendors.litellm_sdk import LiteLLMModel

    made: list[LanguageModel] = []

    def make(name: str, key: str | None = "k") -> LanguageModel:
        base = endpoint.url.removesuffix("/v1")
        made.append(LiteLLMModel(name, api_base=base, api_key=key, timeout=10, egress=Egress([base])))
        return made[-1]

    yield make
    for model in made:
        await model.aclose()


async def test_anthropic_is_asked_in_its_own_words(opened: Opened, endpoint: Any, raw: Any) -> None:
    said = {
        "id": "m1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "stop_reason": "max_tokens",
        "content": [{"type": "text", "text": "part"}],
        "usage": {"input_tokens": 30, "output_tokens": 7, "cache_read_input_tokens": 20},
    }  # fmt: skip
    endpoint.answer(raw(body=said))
    reply = await opened("anthropic/claude-haiku-4-5").complete(Request(ASK.messages, max_tokens=9))
    assert (reply.text, reply.finish) == ("part", "length")
    assert (reply.usage.input, reply.usage.cached, reply.usage.output) == (50, 20, 7)
    assert endpoint.bodies[0]["system"][0]["text"] == "Find names."
    assert endpoint.bodies[0]["max_tokens"] == 9
    assert "store" not in endpoint.bodies[0]


def message(text: str = "{}") -> dict[str, Any]:
    return {
        "id": "m1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": text}],
        "usage": {"input_tokens": 300, "output_tokens": 7, "cache_read_input_tokens": 0,
                  "cache_creation_input_tokens": 2000},
    }  # fmt: skip


@pytest.mark.parametrize(("name", "schema"), [("claude-sonnet-4-0", "tools"), ("claude-haiku-4-5", "output_format")])
async def test_claude_may_cache_the_system_message_of_the_default_prompt_and_what_precedes_it(
    opened: Opened, endpoint: Any, raw: Any, name: str, schema: str
) -> None:
    endpoint.answer(raw(body=message()))
    rendered = load(PROMPT).render(["Seen by Dr. Abara."], asked(load_policy("strict")))
    messages = Message("system", rendered.system), Message("user", rendered.user)
    reply = await opened(f"anthropic/{name}").complete(Request(messages, rendered.schema, rendered.strict))
    body = endpoint.bodies[0]
    assert body["system"][-1] == {"type": "text", "text": rendered.system, "cache_control": {"type": "ephemeral"}}
    assert "cache_control" not in json.dumps(body["messages"])
    assert (len(json.dumps(body[schema])) + len(rendered.system)) / 4 >= 1024
    assert (reply.usage.input, reply.usage.cached) == (2300, 0)


async def test_cached_tokens_cost_the_cached_price(tmp_path: Path, endpoint: Any, raw: Any) -> None:
    body = {**message(), "usage": {"input_tokens": 500, "output_tokens": 100, "cache_read_input_tokens": 2000}}
    endpoint.answer(raw(body=body))
    from incognote.llm.vendors.litellm_sdk import LiteLLMModel

    base = endpoint.url.removesuffix("/v1")
    name = "anthropic/claude-haiku-4-5"
    model = Priced(
        LiteLLMModel(name, api_base=base, api_key="k", timeout=10, egress=Egress([base])), Prices.load().of(name)
    )
    usage = (await model.complete(ASK)).usage
    await model.aclose()
    assert (usage.input, usage.cached, usage.output) == (2500, 2000, 100)
    assert usage.usd == pytest.approx((500 * 1.0 + 2000 * 0.1 + 100 * 5.0) / 1e6)


@pytest.mark.parametrize("vendor", ["ollama", "ollama_chat"])
async def test_ollama_is_told_how_long_its_context_must_be(
    tmp_path: Path, endpoint: Any, raw: Any, vendor: str
) -> None:
    said = {"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": True, "done_reason": "stop",
            "message": {"role": "assistant", "content": "{}"}, "response": "{}",
            "prompt_eval_count": 20, "eval_count": 3}  # fmt: skip
    endpoint.answer(raw(body=said))
    base = endpoint.url.removesuffix("/v1")
    model = open_model(ModelSpec(f"{vendor}/m", home=tmp_path, api_base=base, attempts=1, context=6000))
    reply = await model.complete(ASK)
    await model.aclose()
    assert (reply.text, reply.usage.input) == ("{}", 20)
    chat = next(body for body in endpoint.bodies if "options" in body)
    assert chat["options"]["num_ctx"] == 6000
    assert chat["options"]["num_predict"] == ASK.max_tokens
    assert chat["format"] == SCHEMA


async def test_gemini_is_asked_in_its_own_words(opened: Opened, endpoint: Any, raw: Any) -> None:
    said = {
        "candidates": [{"content": {"parts": [{"text": '{"PERSON": []}'}], "role": "model"}, "finishReason": "SAFETY"}],
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 3, "thoughtsTokenCount": 5,
                          "totalTokenCount": 19},
    }  # fmt: skip
    endpoint.answer(raw(body=said))
    reply = await opened("gemini/gemini-2.5-flash").complete(ASK)
    assert reply.finish == "filter"
    assert (reply.usage.input, reply.usage.output) == (11, 8)


async def test_azure_is_asked_at_its_deployment_and_its_filter_is_a_reply(
    opened: Opened, endpoint: Any, raw: Any
) -> None:
    error = {"error": {"code": "content_filter", "param": "prompt", "message": "Seen: Ms. Abara.", "status": 400}}
    endpoint.answer(raw(400, error), raw())
    model = opened("azure/gpt-4o")
    assert (await model.complete(ASK)).finish == "filter"
    assert (await model.complete(ASK)).text == "yes"
    assert "/openai/deployments/gpt-4o/chat/completions?api-version=" in endpoint.paths[0]
    assert endpoint.headers[0]["api-key"] == "k"
    assert endpoint.bodies[1]["store"] is False


@pytest.mark.parametrize("vendor", ["maritalk", "oobabooga", "petals"])
async def test_a_vendor_whose_connections_cannot_be_guarded_is_refused(
    opened: Opened, endpoint: Any, vendor: str
) -> None:
    with pytest.raises(EgressRefused, match="OpenAI-compatible") as caught:
        await opened(f"{vendor}/m").complete(ASK)
    assert caught.value.__cause__ is None
    assert endpoint.bodies == []


async def test_litellms_callbacks_would_get_the_notes_so_nothing_is_sent(
    opened: Opened, endpoint: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = opened("hosted_vllm/m")
    import litellm

    monkeypatch.setattr(litellm, "success_callback", [lambda *_: None])
    with pytest.raises(EgressRefused, match="callbacks"):
        await model.complete(ASK)
    assert endpoint.bodies == []


def test_an_unknown_vendor_is_a_setting_error(opened: Opened) -> None:
    with pytest.raises(SettingError, match="vendor"):
        opened("nobody-knows/m")
