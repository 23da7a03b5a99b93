"""Anthropic's Message Batches: requests within one body, results as JSON lines, and no files."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from incognote.llm.base import Finish, Reply, Request, Usage
from incognote.llm.batchapi import CLOCKS_DIFFER, BatchApi, BatchState, Outcome, failure, rows
from incognote.llm.vendors.chat import marked

if TYPE_CHECKING:
    from incognote.llm.batchjobs import BatchJob

_PATH = "/v1/messages/batches"
_FINISHES: Mapping[str, Finish] = {
    "end_turn": "stop", "stop_sequence": "stop", "tool_use": "stop", "refusal": "refusal",
}  # fmt: skip
_STATUSES = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500,
    "overloaded_error": 529,
}  # fmt: skip
_TOOL = "json_reply"
_SOON = 600  # seconds within which a batch was created, if it was


class AnthropicBatch(BatchApi):
    """Anthropic: `/v1/messages/batches`.

    A batch has no name of ours, so `find` looks for a new batch with as many requests. If it is somebody else's, its
    results answer none of our requests, and it is not deleted.
    """

    most_bytes = 250_000_000

    def _headers(self, api_key: str) -> dict[str, str]:
        return {"x-api-key": api_key, "anthropic-version": "2023-06-01"}

    def line(self, address: str, request: Request, left_out: Collection[str]) -> bytes:
        messages = [{"role": m.role, "content": m.content} for m in request.messages]
        system = [m for m in marked(messages) if m["role"] == "system"]
        params: dict[str, Any] = {
            "model": self.model,
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "messages": [m for m in messages if m["role"] != "system"],
        }
        if system:
            params["system"] = system[0]["content"]
        if request.schema is not None and not {"json_schema", "response_format"} & set(left_out):
            # a forced tool, whose arguments are the reply, as LiteLLM does for single calls
            params["tools"] = [{"name": _TOOL, "input_schema": dict(request.schema)}]
            params["tool_choice"] = {"type": "tool", "name": _TOOL}
        params = {name: value for name, value in params.items() if name not in left_out}
        return json.dumps({"custom_id": address, "params": params}, separators=(",", ":")).encode() + b"\n"

    async def send(self, token: str, content: bytes) -> str:
        body = b'{"requests":[' + b",".join(content.splitlines()) + b"]}"  # json.dumps writes ASCII: no other line ends
        return await self._made(_PATH, content=body, headers={"content-type": "application/json"})

    async def find(self, job: BatchJob, known: Collection[str]) -> str | None:
        after: dict[str, str] = {}
        while True:
            answer = await self._json("GET", _PATH, params={"limit": "100", **after}) or {}
            for batch in answer.get("data") or ():  # the newest first
                created = datetime.fromisoformat(batch["created_at"]).timestamp()
                if created < job.created - CLOCKS_DIFFER:
                    return None
                counts = sum((batch.get("request_counts") or {}).values())
                is_new = batch["id"] not in known and created < job.created + CLOCKS_DIFFER + _SOON
                if is_new and counts == len(job.addresses) and await self._may_be(batch, job):
                    return str(batch["id"])
            if not answer.get("has_more"):
                return None
            after = {"after_id": str(answer["last_id"])}

    async def _may_be(self, batch: Mapping[str, Any], job: BatchJob) -> bool:
        """Whether a batch is a job's: by its results, or if it has none yet, by its number of requests."""
        if batch.get("processing_status") != "ended":
            return True
        return any(True for _ in rows(await self.read(batch["id"]), job.addresses))

    async def sweep(self, token: str) -> None:
        """Do nothing, since nothing is uploaded before a batch is created."""

    async def state(self, batch: str) -> BatchState | None:
        answer = await self._json("GET", f"{_PATH}/{batch}")
        if answer is None:
            return None
        ended = answer.get("processing_status") == "ended"
        counts = answer.get("request_counts") or {}
        whole = ended and not counts.get("expired") and not counts.get("canceled")
        return BatchState(ended, whole, (batch,) if ended else (), (batch,), sure=False)

    def outcomes(self, content: bytes, asked: Iterable[str]) -> dict[str, Outcome]:
        outcomes: dict[str, Outcome] = {}
        for address, row in rows(content, asked):
            try:
                result = row["result"]
                if result["type"] == "succeeded":
                    outcomes[address] = self._reply(result["message"])
                elif result["type"] == "errored":
                    error = result["error"].get("error") or result["error"]
                    outcomes[address] = failure(_STATUSES.get(error.get("type")), {"error": error}, self.name)
            except (AttributeError, KeyError, TypeError):
                continue
        return outcomes

    def _reply(self, message: Mapping[str, Any]) -> Reply:
        texts = [
            json.dumps(part["input"], ensure_ascii=False) if part["type"] == "tool_use" else part.get("text", "")
            for part in message["content"]
        ]
        used = message.get("usage") or {}
        cached = used.get("cache_read_input_tokens") or 0
        read = (used.get("input_tokens") or 0) + cached + (used.get("cache_creation_input_tokens") or 0)
        finish = _FINISHES.get(str(message.get("stop_reason")), "length")
        usage = Usage(read, used.get("output_tokens") or 0, cached, 1, None)
        return Reply("".join(texts), finish, usage, 0.0, self.name)

    async def read(self, file: str) -> bytes:
        answer = await self._call("GET", f"{_PATH}/{file}/results")
        return b"" if answer is None else answer.content

    async def delete(self, file: str) -> None:
        await self._call("DELETE", f"{_PATH}/{file}")
