"""Gemini's batches: requests within one body, results within the batch."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from incognote.llm.base import Finish, Reply, Request, Usage
from incognote.llm.batchapi import MARK, BatchApi, BatchState, Outcome, failure, rows

if TYPE_CHECKING:
    from incognote.llm.batchjobs import BatchJob

_FINISHES: Mapping[str, Finish] = {
    "STOP": "stop", "SAFETY": "filter", "PROHIBITED_CONTENT": "filter", "BLOCKLIST": "filter", "SPII": "filter",
    "RECITATION": "filter",
}  # fmt: skip
_STATUSES = {3: 400, 5: 404, 7: 403, 8: 429, 13: 500, 14: 503, 16: 401}  # gRPC's codes
_CANCELLED, _DEADLINE = 1, 4
_ENDED = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED")


class GeminiBatch(BatchApi):
    """Gemini: `models/NAME:batchGenerateContent` and `batches`. A batch is named by our token."""

    most_bytes = 18_000_000

    def _headers(self, api_key: str) -> dict[str, str]:
        return {"x-goog-api-key": api_key}

    def line(self, address: str, request: Request, left_out: Collection[str]) -> bytes:
        config: dict[str, Any] = {"temperature": request.temperature, "maxOutputTokens": request.max_tokens}
        if request.sample:
            config["seed"] = request.sample
        if request.schema is not None and "response_format" not in left_out:
            config["responseMimeType"] = "application/json"
            if "json_schema" not in left_out:
                config["responseJsonSchema"] = dict(request.schema)
        roles = {"user": "user", "assistant": "model"}
        body: dict[str, Any] = {
            "contents": [
                {"role": roles[m.role], "parts": [{"text": m.content}]} for m in request.messages if m.role in roles
            ],
            "generationConfig": {name: value for name, value in config.items() if name not in left_out},
        }
        if system := [{"text": m.content} for m in request.messages if m.role == "system"]:
            body["systemInstruction"] = {"parts": system}
        row = {"request": body, "metadata": {"key": address}}
        return json.dumps(row, separators=(",", ":")).encode() + b"\n"

    async def send(self, token: str, content: bytes) -> str:
        requests = b",".join(content.splitlines())  # json.dumps writes ASCII: no other line ends
        name = json.dumps(f"{MARK}-{token}").encode()
        body = b'{"batch":{"displayName":%b,"inputConfig":{"requests":{"requests":[%b]}}}}' % (name, requests)
        path = f"/v1beta/models/{self.model}:batchGenerateContent"
        return await self._made(path, content=body, headers={"content-type": "application/json"}, name="name")

    async def find(self, job: BatchJob, known: Collection[str]) -> str | None:
        page: dict[str, str] = {}
        while True:
            answer = await self._json("GET", "/v1beta/batches", params={"pageSize": "100", **page}) or {}
            for batch in answer.get("operations") or ():
                if (batch.get("metadata") or {}).get("displayName") == f"{MARK}-{job.token}":
                    return str(batch["name"])
            if not answer.get("nextPageToken"):
                return None
            page = {"pageToken": str(answer["nextPageToken"])}

    async def sweep(self, token: str) -> None:
        """Do nothing, since nothing is uploaded before a batch is created."""

    async def state(self, batch: str) -> BatchState | None:
        answer = await self._json("GET", f"/v1beta/{batch}")
        if answer is None:
            return None
        state = str((answer.get("metadata") or {}).get("state", "")).rpartition("_")[2]
        ended = state in _ENDED
        return BatchState(ended, state == "SUCCEEDED", (batch,) if ended else (), (batch,))

    async def read(self, file: str) -> bytes:
        answer = await self._json("GET", f"/v1beta/{file}") or {}
        inlined = ((answer.get("response") or {}).get("inlinedResponses") or {}).get("inlinedResponses") or ()
        lines = ({**each, "custom_id": (each.get("metadata") or {}).get("key")} for each in inlined)
        return b"".join(json.dumps(each).encode() + b"\n" for each in lines)

    def outcomes(self, content: bytes, asked: Iterable[str]) -> dict[str, Outcome]:
        outcomes: dict[str, Outcome] = {}
        for address, row in rows(content, asked):
            try:
                if error := row.get("error"):
                    if error.get("code") not in (_CANCELLED, _DEADLINE):
                        outcomes[address] = failure(_STATUSES.get(error.get("code")), {"error": error}, self.name)
                else:
                    outcomes[address] = self._reply(row["response"])
            except (AttributeError, IndexError, KeyError, TypeError):
                continue
        return outcomes

    def _reply(self, response: Mapping[str, Any]) -> Reply:
        used = response.get("usageMetadata") or {}
        written = (used.get("candidatesTokenCount") or 0) + (used.get("thoughtsTokenCount") or 0)
        usage = Usage(used.get("promptTokenCount") or 0, written, used.get("cachedContentTokenCount") or 0, 1, None)
        if (response.get("promptFeedback") or {}).get("blockReason"):
            return Reply("", "filter", usage, 0.0, self.name)
        candidate = response["candidates"][0]
        parts = (candidate.get("content") or {}).get("parts") or ()
        text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
        return Reply(text, _FINISHES.get(str(candidate.get("finishReason")), "length"), usage, 0.0, self.name)

    async def delete(self, file: str) -> None:
        await self._call("DELETE", f"/v1beta/{file}")
