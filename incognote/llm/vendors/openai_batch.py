"""Batches by files: OpenAI's endpoints, and those of Groq, Azure OpenAI, and Mistral, which differ in details."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Collection, Iterable
from typing import TYPE_CHECKING, Any

from incognote.errors import ModelRejected, ModelUnavailable
from incognote.llm.base import Request
from incognote.llm.batchapi import CLOCKS_DIFFER, MARK, BatchApi, BatchState, Outcome, failure, rows
from incognote.llm.vendors.chat import JsonObject, parameters_of, reply_of

if TYPE_CHECKING:
    from incognote.llm.batchjobs import BatchJob

_KEPT_SECONDS = 7 * 24 * 3600  # we delete files ourselves; if no later run does so, the provider does
_NEVER_RUN = ("batch_expired", "batch_cancelled")
_PAGE = 100
_FILE_CHECKS, _FILE_SECONDS = 120, 5.0


class OpenAIBatch(BatchApi):
    """OpenAI: `/files` and `/batches`."""

    jobs = "/batches"
    endpoint = "/v1/chat/completions"
    ended = frozenset({"completed", "failed", "expired", "cancelled"})
    params: dict[str, str] = {}  # noqa: RUF012 -- never changed
    expiry: dict[str, Any] = {"anchor": "created_at", "seconds": _KEPT_SECONDS}  # noqa: RUF012 -- never changed

    def line(self, address: str, request: Request, left_out: Collection[str]) -> bytes:
        body = {"model": self.model, **parameters_of(request, left_out)}
        row = {"custom_id": address, "method": "POST", "url": self.endpoint, "body": body}
        return json.dumps(row, separators=(",", ":")).encode() + b"\n"

    async def send(self, token: str, content: bytes) -> str:
        return await self.open(await self.upload(token, content), token)

    async def upload(self, token: str, content: bytes) -> str:
        """Upload the lines of a batch and return the file's id."""
        form = {"purpose": "batch"}
        if self.expiry:
            form |= {f"expires_after[{key}]": str(value) for key, value in self.expiry.items()}
        file = _name(token), content, "application/jsonl"
        return await self._made("/files", data=form, files={"file": file}, params=self.params)

    async def open(self, file: str, token: str) -> str:
        """Create a batch from an uploaded file and return the batch's id."""
        body = {"input_file_id": file, "endpoint": self.endpoint, "completion_window": "24h", "metadata": {MARK: token}}
        if self.expiry:
            body["output_expires_after"] = self.expiry
        return await self._made(self.jobs, json=body, params=self.params)

    async def find(self, job: BatchJob, known: Collection[str]) -> str | None:
        async for batch in self._listed(self.jobs, {}):  # the newest first
            if (batch.get("metadata") or {}).get(MARK) == job.token:
                return str(batch["id"])
            if float(batch.get("created_at") or 0) < job.created - CLOCKS_DIFFER:
                break
        return None

    async def sweep(self, token: str) -> None:
        files = [f async for f in self._listed("/files", {"purpose": "batch"}) if f.get("filename") == _name(token)]
        for file in files:
            await self.delete(str(file["id"]))

    async def _listed(self, path: str, query: dict[str, str]) -> AsyncIterator[dict[str, Any]]:
        """Yield the objects of a list, page by page."""
        after: dict[str, str] = {}
        while True:
            query = {**self.params, **query, "limit": str(_PAGE), **after}
            answer = await self._json("GET", path, params=query) or {}
            page = answer.get("data") or []
            for item in page:
                yield item
            if not page or not answer.get("has_more"):
                return
            after = {"after": str(page[-1]["id"])}

    async def state(self, batch: str) -> BatchState | None:
        answer = await self._json("GET", f"{self.jobs}/{batch}", params=self.params)
        if answer is None:
            return None
        results = tuple(answer[key] for key in ("error_file_id", "output_file_id") if answer.get(key))
        files = tuple(dict.fromkeys(file for file in (answer.get("input_file_id"), *results) if file))
        status = answer.get("status")
        return BatchState(status in self.ended, status == "completed", results, files)

    def outcomes(self, content: bytes, asked: Iterable[str]) -> dict[str, Outcome]:
        outcomes: dict[str, Outcome] = {}
        for address, row in rows(content, asked):
            try:
                response, error = row.get("response") or {}, row.get("error") or {}
                if error.get("code") in _NEVER_RUN:
                    continue
                status, body = response.get("status_code"), response.get("body")
                if status == 200:
                    outcomes[address] = reply_of(json.loads(json.dumps(body), object_hook=JsonObject), 0.0, self.name)
                else:
                    outcomes[address] = failure(status if isinstance(status, int) else None, body, self.name)
            except (AttributeError, KeyError, IndexError, TypeError):
                continue
        return outcomes

    async def read(self, file: str) -> bytes:
        answer = await self._call("GET", f"/files/{file}/content", params=self.params)
        return b"" if answer is None else answer.content

    async def delete(self, file: str) -> None:
        await self._call("DELETE", f"/files/{file}", params=self.params)


class GroqBatch(OpenAIBatch):
    """Groq: as OpenAI, but files cannot expire."""

    expiry: dict[str, Any] = {}  # noqa: RUF012 -- never changed


class AzureBatch(OpenAIBatch):
    """Azure OpenAI: as OpenAI under `/openai`, with an API version. The model is a deployment of type GlobalBatch."""

    endpoint = "/chat/completions"
    expiry: dict[str, Any] = {}  # noqa: RUF012 -- never changed

    def __init__(self, name: str, *, api_base: str, **more: Any) -> None:
        super().__init__(name, api_base=f"{api_base.rstrip('/')}/openai", **more)
        self.params = {"api-version": os.environ.get("AZURE_API_VERSION", "2024-10-21")}

    def _headers(self, api_key: str) -> dict[str, str]:
        return {"api-key": api_key}

    async def upload(self, token: str, content: bytes) -> str:
        """Upload the lines of a batch, wait until Azure has checked them, and return the file's id.

        Raises:
            ModelRejected: Azure did not accept the file.
            ModelUnavailable: Azure did not check it in time.
        """
        file = await super().upload(token, content)
        for _ in range(_FILE_CHECKS):
            answer = await self._json("GET", f"/files/{file}", params=self.params) or {}
            if answer.get("status") == "processed":
                return file
            if answer.get("status") in ("error", "failed", "deleted"):
                raise ModelRejected(f"{self.name}: Azure rejected the file of a batch. Check the deployment's type")
            await asyncio.sleep(_FILE_SECONDS)
        raise ModelUnavailable(f"{self.name}: Azure is still checking the file of a batch. Try later")


class MistralBatch(OpenAIBatch):
    """Mistral: OpenAI's files, with jobs of its own."""

    jobs = "/batch/jobs"
    ended = frozenset({"SUCCESS", "FAILED", "TIMEOUT_EXCEEDED", "CANCELLED"})
    expiry: dict[str, Any] = {}  # noqa: RUF012 -- never changed

    def line(self, address: str, request: Request, left_out: Collection[str]) -> bytes:
        body = parameters_of(request, {*left_out, "store"})  # Mistral does not know `store`
        if "seed" in body:
            body["random_seed"] = body.pop("seed")
        return json.dumps({"custom_id": address, "body": body}, separators=(",", ":")).encode() + b"\n"

    async def open(self, file: str, token: str) -> str:
        body = {
            "input_files": [file], "endpoint": self.endpoint, "model": self.model, "metadata": {MARK: token},
            "timeout_hours": 24,
        }  # fmt: skip
        return await self._made(self.jobs, json=body)

    async def _listed(self, path: str, query: dict[str, str]) -> AsyncIterator[dict[str, Any]]:
        for number in range(1_000):
            answer = await self._json("GET", path, params={**query, "page": str(number), "page_size": str(_PAGE)}) or {}
            page = answer.get("data") or []
            for item in page:
                yield item
            if len(page) < _PAGE:
                return

    async def state(self, batch: str) -> BatchState | None:
        answer = await self._json("GET", f"{self.jobs}/{batch}")
        if answer is None:
            return None
        results = tuple(answer[key] for key in ("error_file", "output_file") if answer.get(key))
        files = tuple(dict.fromkeys((*(answer.get("input_files") or ()), *results)))
        status = answer.get("status")
        return BatchState(status in self.ended, status == "SUCCESS", results, files)


def _name(token: str) -> str:
    return f"{MARK}-{token}.jsonl"
