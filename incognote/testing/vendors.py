"""Batches in the shapes of Azure OpenAI, Mistral, Anthropic, and Gemini, over the same store as OpenAI's."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.routing import Route

from incognote.testing.responses import body_of, parsed, route
from incognote.testing.store import Store
from incognote.testing.wire import CHAT, ApiError, Json

_MISTRAL = {
    "validating": "QUEUED", "in_progress": "RUNNING", "finalizing": "RUNNING", "completed": "SUCCESS",
    "failed": "FAILED", "expired": "TIMEOUT_EXCEEDED", "cancelling": "CANCELLATION_REQUESTED",
    "cancelled": "CANCELLED",
}  # fmt: skip
_ANTHROPIC = "/v1/messages/batches"
_ERRORS = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
}  # fmt: skip
_STOPS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}


def file_routes(store: Store, prefix: str = "/v1") -> list[Route]:
    """Return OpenAI's routes for files. Azure has them under `/openai`, and checks a file before it can be used."""
    azure = prefix == "/openai"
    checked: set[str] = set()

    def file(asked: HttpRequest) -> Json:
        name = asked.path_params["id"]
        state = "processed" if not azure or name in checked else "pending"
        checked.add(name)
        return {**store.file(name), "status": state}

    def upload(asked: HttpRequest) -> Json:
        if azure and "api-version" not in asked.query_params:
            raise ApiError(404, "Resource not found", "404")
        shown = store.upload(body_of(asked), asked.headers.get("content-type", ""))
        return {**shown, "status": "pending"} if azure else shown

    return [
        route("POST", f"{prefix}/files", upload),
        route("GET", f"{prefix}/files", lambda r: store.files(r.query_params)),
        route("GET", f"{prefix}/files/{{id}}", file),
        route("GET", f"{prefix}/files/{{id}}/content", lambda r: store.content(r.path_params["id"])),
        route("DELETE", f"{prefix}/files/{{id}}", lambda r: store.delete(r.path_params["id"])),
    ]


def batch_routes(store: Store, prefix: str = "/v1") -> list[Route]:
    """Return OpenAI's routes for batches."""
    endpoint = CHAT.removeprefix("/v1") if prefix == "/openai" else CHAT

    def create(asked: HttpRequest) -> Json:
        body = parsed(body_of(asked))
        if body.get("endpoint") != endpoint:
            raise ApiError(400, f"endpoint: this server knows {endpoint}", param="endpoint")
        return store.create(body, lambda line: _openai_line(line, endpoint))

    return [
        route("POST", f"{prefix}/batches", create),
        route("GET", f"{prefix}/batches", lambda r: store.batches(r.query_params)),
        route("GET", f"{prefix}/batches/{{id}}", lambda r: store.batch(r.path_params["id"])),
        route("POST", f"{prefix}/batches/{{id}}/cancel", lambda r: store.cancel(r.path_params["id"])),
    ]


def _openai_line(line: Json, endpoint: str) -> Json:
    if line.get("method") != "POST" or line.get("url") != endpoint or not isinstance(line.get("body"), dict):
        raise ApiError(400, "a line's method, url or body does not fit the batch", "invalid_url")
    body: Json = line["body"]
    return body


def mistral_routes(store: Store) -> list[Route]:
    """Return Mistral's routes for batch jobs. Its files are like OpenAI's."""

    def create(asked: HttpRequest) -> Json:
        body = parsed(body_of(asked))
        files, model = body.get("input_files"), body.get("model")
        if not isinstance(files, list) or len(files) != 1 or not isinstance(model, str) or body.get("endpoint") != CHAT:
            raise ApiError(422, "input_files, model, and endpoint are required")
        terms = {"input_file_id": files[0], "completion_window": "24h", "metadata": body.get("metadata")}
        return shown(store.create(terms, lambda line: own(line, model)))

    def own(line: Json, model: str) -> Json:
        body = dict(line["body"])
        if {"store", "seed", "max_completion_tokens"} & set(body):
            raise ApiError(422, "Extra inputs are not permitted")
        return {**body, "model": model, "seed": body.pop("random_seed", None)}

    def shown(batch: Json) -> Json:
        return {
            "id": batch["id"], "object": "batch", "input_files": [batch["input_file_id"]], "endpoint": CHAT,
            "metadata": batch["metadata"], "output_file": batch["output_file_id"], "created_at": batch["created_at"],
            "error_file": batch["error_file_id"], "errors": [], "status": _MISTRAL[batch["status"]],
            "total_requests": batch["request_counts"]["total"],
        }  # fmt: skip

    def listed(asked: HttpRequest) -> Json:
        size, page = int(asked.query_params.get("page_size", "100")), int(asked.query_params.get("page", "0"))
        every = [shown(batch) for batch in store.batches({})["data"]]
        return {"object": "list", "data": every[page * size : (page + 1) * size], "total": len(every)}

    return [
        route("POST", "/v1/batch/jobs", create),
        route("GET", "/v1/batch/jobs", listed),
        route("GET", "/v1/batch/jobs/{id}", lambda r: shown(store.batch(r.path_params["id"]))),
    ]


def anthropic_routes(store: Store) -> list[Route]:
    """Return Anthropic's routes for Message Batches."""

    def create(asked: HttpRequest) -> Json:
        if asked.headers.get("anthropic-version") is None:
            raise ApiError(400, "anthropic-version: header is required")
        requests = parsed(body_of(asked)).get("requests")
        if not isinstance(requests, list) or not all(len(r.get("custom_id", "")) in range(1, 65) for r in requests):
            raise ApiError(400, "requests: a list of objects with custom_id and params is required")
        content = "".join(json.dumps(each) + "\n" for each in requests).encode()
        file = store.keep("requests", "batch", content)["id"]
        return shown(store.create({"input_file_id": file, "completion_window": "24h"}, _openai_body, len(requests)))

    def shown(batch: Json) -> Json:
        ended = batch["status"] in ("completed", "failed", "expired", "cancelled")
        created = datetime.fromtimestamp(batch["created_at"], UTC).isoformat()
        counts = batch["request_counts"]
        return {
            "id": batch["id"], "type": "message_batch", "processing_status": "ended" if ended else "in_progress",
            "request_counts": {
                "processing": 0 if ended else counts["total"], "succeeded": counts["completed"], "canceled": 0,
                "errored": 0, "expired": counts["failed"],
            },
            "created_at": created, "ended_at": created if ended else None,
            "results_url": f"https://api.anthropic.com{_ANTHROPIC}/{batch['id']}/results" if ended else None,
        }  # fmt: skip

    def listed(asked: HttpRequest) -> Json:
        page = store.batches({"limit": asked.query_params.get("limit", "20"),
                              "after": asked.query_params.get("after_id", "")})  # fmt: skip
        return {**page, "data": [shown(batch) for batch in page["data"]]}

    def results(asked: HttpRequest) -> bytes:
        lines = store.results(asked.path_params["id"])
        return b"".join(json.dumps(_result(json.loads(line))).encode() + b"\n" for line in lines)

    def delete(asked: HttpRequest) -> Json:
        store.forget(asked.path_params["id"])
        return {"id": asked.path_params["id"], "type": "message_batch_deleted"}

    handlers: dict[str, Callable[[HttpRequest], Any]] = {"POST": create, "GET": listed}
    return [
        *(route(method, _ANTHROPIC, handler) for method, handler in handlers.items()),
        route("GET", f"{_ANTHROPIC}/{{id}}/results", results),
        route("GET", f"{_ANTHROPIC}/{{id}}", lambda r: shown(store.batch(r.path_params["id"]))),
        route("DELETE", f"{_ANTHROPIC}/{{id}}", delete),
    ]


def _openai_body(line: Json) -> Json:
    """Return the body of a chat completion for a request to Anthropic."""
    params = line["params"]
    system = params.get("system") or ""
    text = system if isinstance(system, str) else "".join(part["text"] for part in system)
    body = {
        "model": params["model"], "max_tokens": params["max_tokens"], "temperature": params.get("temperature"),
        "messages": [{"role": "system", "content": text}, *params["messages"]],
    }  # fmt: skip
    if params.get("tools"):
        tool = params["tools"][0]
        schema = {"name": tool["name"], "schema": tool["input_schema"]}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _result(line: Json) -> Json:
    """Return a line of Anthropic's results for a line of OpenAI's."""
    response = line["response"]
    if response is None:
        return {"custom_id": line["custom_id"], "result": {"type": "expired"}}
    if response["status_code"] != 200:
        words = response["body"].get("error", response["body"])
        error = {"type": _ERRORS.get(response["status_code"], "api_error"), "message": words["message"]}
        result = {"type": "errored", "error": {"type": "error", "error": error}}
        return {"custom_id": line["custom_id"], "result": result}
    body = response["body"]
    choice, usage = body["choices"][0], body["usage"]
    message = {
        "id": body["id"], "type": "message", "role": "assistant", "model": body["model"],
        "content": [{"type": "text", "text": choice["message"]["content"] or ""}],
        "stop_reason": "refusal" if choice["message"]["refusal"] else _STOPS[choice["finish_reason"]],
        "usage": {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"],
                  "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0},
    }  # fmt: skip
    return {"custom_id": line["custom_id"], "result": {"type": "succeeded", "message": message}}

def gemini_routes(store: Store) -> list[Route]:
    """Return Gemini's routes for batches."""

    def create(asked: HttpRequest) -> Json:
        batch = parsed(body_of(asked)).get("batch") or {}
        requests = ((batch.get("inputConfig") or {}).get("requests") or {}).get("requests")
        if not requests or not batch.get("displayName"):
            raise ApiError(400, "batch: displayName and inputConfig are required")
        model = asked.path_params["model"]
        lines = [{"custom_id": each["metadata"]["key"], **each} for each in requests]
        content = "".join(json.dumps(each) + "\n" for each in lines).encode()
        terms = {"input_file_id": store.keep("requests", "batch", content)["id"], "completion_window": "24h",
                 "metadata": {"name": batch["displayName"]}}  # fmt: skip
        return shown(store.create(terms, lambda line: _openai_from_gemini(line, model)))

    def shown(batch: Json) -> Json:
        state = {"completed": "SUCCEEDED", "in_progress": "RUNNING", "validating": "PENDING"}
        answer: Json = {
            "name": f"batches/{batch['id']}",
            "metadata": {
                "state": f"BATCH_STATE_{state.get(batch['status'], batch['status'].upper())}",
                "displayName": batch["metadata"]["name"],
            },
            "done": batch["status"] in ("completed", "failed", "expired", "cancelled"),
        }
        if answer["done"]:
            lines = [_gemini_result(json.loads(line)) for line in store.results(batch["id"])]
            answer["response"] = {"inlinedResponses": {"inlinedResponses": lines}}
        return answer

    def listed(asked: HttpRequest) -> Json:
        return {"operations": [shown(batch) for batch in store.batches({})["data"]]}

    def delete(asked: HttpRequest) -> Json:
        store.forget(asked.path_params["id"])
        return {}

    return [
        route("POST", "/v1beta/models/{model}:batchGenerateContent", create),
        route("GET", "/v1beta/batches", listed),
        route("GET", "/v1beta/batches/{id}", lambda r: shown(store.batch(r.path_params["id"]))),
        route("DELETE", "/v1beta/batches/{id}", delete),
    ]


def _openai_from_gemini(line: Json, model: str) -> Json:
    """Return the body of a chat completion for a request to Gemini."""
    asked, config = line["request"], line["request"]["generationConfig"]
    system = [part["text"] for part in (asked.get("systemInstruction") or {}).get("parts", ())]
    messages = [{"role": "system", "content": "".join(system)}] if system else []
    for turn in asked["contents"]:
        role = {"model": "assistant"}.get(turn["role"], turn["role"])
        messages.append({"role": role, "content": "".join(part["text"] for part in turn["parts"])})
    body: Json = {"model": model, "messages": messages, "max_tokens": config.get("maxOutputTokens"),
                  "temperature": config.get("temperature"), "seed": config.get("seed")}  # fmt: skip
    if config.get("responseJsonSchema"):
        schema = {"name": "reply", "schema": config["responseJsonSchema"]}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif config.get("responseMimeType") == "application/json":
        body["response_format"] = {"type": "json_object"}
    return body


def _gemini_result(line: Json) -> Json:
    """Return one of Gemini's results for a line of OpenAI's."""
    metadata, response = {"key": line["custom_id"]}, line["response"]
    if response is None:
        return {"metadata": metadata, "error": {"code": 4, "message": "expired"}}
    if response["status_code"] != 200:
        words = response["body"].get("error", response["body"])
        code = {400: 3, 401: 16, 403: 7, 404: 5, 429: 8}.get(response["status_code"], 13)
        return {"metadata": metadata, "error": {"code": code, "message": words["message"]}}
    choice, usage = response["body"]["choices"][0], response["body"]["usage"]
    ends = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
    refused = choice["message"]["refusal"]
    candidate = {"content": {"parts": [{"text": choice["message"]["content"] or ""}], "role": "model"},
                 "finishReason": "PROHIBITED_CONTENT" if refused else ends[choice["finish_reason"]]}  # fmt: skip
    counts = {"promptTokenCount": usage["prompt_tokens"], "candidatesTokenCount": usage["completion_tokens"]}
    return {"metadata": metadata, "response": {"candidates": [candidate], "usageMetadata": counts}}
