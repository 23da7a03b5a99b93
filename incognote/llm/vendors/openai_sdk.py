"""Any OpenAI-compatible address by the `openai` SDK: the lighter of the two adapters."""

from __future__ import annotations

import json
from typing import Any

from incognote.errors import MissingExtra
from incognote.llm.egress import Egress
from incognote.llm.vendors.chat import ChatModel


class OpenAIModel(ChatModel):
    """A model behind an OpenAI-compatible chat API.

    Args:
        name: `openai/NAME`; NAME is what the endpoint calls it.
        api_base: its address, with the path that precedes /chat/completions.
        api_key: sent as bearer token.
        timeout: for the whole reply, in seconds.
        egress: where its requests may go.

    Raises:
        MissingExtra: the extra `llm` is not installed.
    """

    def __init__(self, name: str, *, api_base: str, api_key: str, timeout: float, egress: Egress) -> None:
        try:
            import httpx
            from openai import AsyncOpenAI

            from incognote.llm.vendors.wire import Guarded, client
        except ImportError:
            raise MissingExtra("llm", "asking a model") from None
        super().__init__(name, timeout)
        self._raw = httpx.Response
        self._transport = Guarded(egress)
        self._http = client(self._transport, timeout)
        self._sdk = AsyncOpenAI(
            api_key=api_key, base_url=api_base, max_retries=0, timeout=timeout, http_client=self._http
        )

    async def _ask(self, parameters: dict[str, Any]) -> Any:
        # not `chat.completions.create`: it walks every message and the whole schema by type annotations, and builds
        # pydantic objects of the answer: 3.8 ms of processor time a call where this way takes 2.4
        body = {"model": self.name.removeprefix("openai/"), **parameters}
        response = await self._sdk.post("/chat/completions", cast_to=self._raw, body=body)
        return json.loads(response.content, object_hook=_Said)

    async def _shut(self) -> None:
        await self._http.aclose()
        await self._transport.shut()


class _Said(dict[str, Any]):
    """A JSON object whose members can be asked for as attributes, as those of the SDK's objects; None where absent."""

    __getattr__ = dict.get
