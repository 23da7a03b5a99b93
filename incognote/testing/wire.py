"""Convert chat completions to and from the wire format: requests, replies, and errors in OpenAI's form."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from incognote.llm.base import Message, Reply, Request, Role

Json = dict[str, Any]
CHAT = "/v1/chat/completions"
_ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_FINISH = {"stop": "stop", "length": "length", "filter": "content_filter", "refusal": "stop"}
REFUSAL = "I'm sorry, but I can't assist with that request."
_TYPES = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}


class ApiError(Exception):
    """An error response.

    Args:
        status: the HTTP status.
        message: for the caller; it contains nothing of the request.
        code: a stable word.
        param: the field with the error.
        retry_after: seconds for the header of that name.
    """

    def __init__(
        self,
        status: int,
        message: str,
        code: str | None = None,
        param: str | None = None,
        *,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.code, self.param = status, message, code, param
        self.retry_after = retry_after

    def body(self, echo: str = "") -> Json:
        """Return the error as JSON. `echo` is repeated in its message, as some servers do with what they were sent."""
        kind = _TYPES.get(self.status, "server_error" if self.status >= 500 else "invalid_request_error")
        message = f"{self.message} The request was: {echo}" if echo else self.message
        return {"error": {"message": message, "type": kind, "param": self.param, "code": self.code}}


def request_of(body: Any) -> tuple[Request, str]:
    """Return the request and the model's name from a body. `seed` is the sample.

    Raises:
        ApiError: 400, as OpenAI would: no model, no messages, an unknown role, n > 1, or a schema that is not strict
            although it claims to be; also a stream.
    """
    if not isinstance(body, dict) or not isinstance(body.get("model"), str):
        raise ApiError(400, "you must provide a model parameter", param="model")
    said = body.get("messages")
    if not isinstance(said, list) or not said:
        raise ApiError(400, "messages: a list of at least one message is required", param="messages")
    if body.get("stream"):
        raise ApiError(400, "stream: this server sends replies whole", param="stream")
    if body.get("n", 1) != 1:
        raise ApiError(400, "n: this server gives one choice", param="n")
    schema, strict = _schema(body.get("response_format"))
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    try:
        request = Request(
            messages=tuple(_message(m) for m in said),
            schema=schema,
            strict=strict,
            temperature=float(body.get("temperature") or 0.0),
            sample=int(body.get("seed") or 0),
        )
        return (replace(request, max_tokens=int(limit)) if limit else request), body["model"]
    except (TypeError, ValueError):
        raise ApiError(400, "temperature, max_tokens and seed are numbers") from None


def _message(said: Any) -> Message:
    role = _ROLES.get(said.get("role", "")) if isinstance(said, dict) else None
    if role is None:
        raise ApiError(400, "messages: a message has a role: system, developer, user or assistant", param="messages")
    content = said.get("content") or ""
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content if isinstance(part, dict))
    if not isinstance(content, str):
        raise ApiError(400, "messages: content is a text or a list of parts", param="messages")
    return Message(role, content)


def _schema(form: Any) -> tuple[Mapping[str, Any] | None, bool]:
    if not isinstance(form, dict) or form.get("type") != "json_schema":
        return None, False
    told = form.get("json_schema")
    if not isinstance(told, dict) or not isinstance(told.get("name"), str) or not isinstance(told.get("schema"), dict):
        raise ApiError(400, "response_format: json_schema needs a name and a schema", param="response_format")
    strict = bool(told.get("strict"))
    if strict and not _is_strict(told["schema"]):
        raise ApiError(400, "response_format: a strict schema requires every property and allows no other",
                       param="response_format")  # fmt: skip
    return told["schema"], strict


def _is_strict(schema: Any) -> bool:
    """Whether each object requires all its properties and allows no others."""
    if isinstance(schema, list):
        return all(_is_strict(item) for item in schema)
    if not isinstance(schema, dict):
        return True
    named = schema.get("properties", {})
    if schema.get("type") == "object" and (
        set(schema.get("required", ())) != set(named) or schema.get("additionalProperties") is not False
    ):
        return False
    return all(_is_strict(value) for value in schema.values())


def completion(reply: Reply, model: str, id: str) -> Json:
    """Return a reply as a `chat.completion`."""
    refused = reply.finish == "refusal"
    message: Json = {
        "role": "assistant",
        "content": None if refused else reply.text,
        "refusal": (reply.text or REFUSAL) if refused else None,
        "annotations": [],
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _FINISH[reply.finish]}
    return {
        "id": id,
        "object": "chat.completion",
        "created": int(time.time()),
        "model": reply.model or model,
        "choices": [choice],
        "usage": _usage(reply),
        "service_tier": "default",
        "system_fingerprint": "fp_scripted",
    }


def _usage(reply: Reply) -> Json:
    return {
        "prompt_tokens": reply.usage.input,
        "completion_tokens": reply.usage.output,
        "total_tokens": reply.usage.input + reply.usage.output,
        "prompt_tokens_details": {"cached_tokens": reply.usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }
