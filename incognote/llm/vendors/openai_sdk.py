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
            from httpx import Response
            from openai import AsyncOpenAI

            from incognote.llm.vendors.wire import Guarded, client
        except ImportError:
            raise MissingExtra("llm", "asking a model") from None
        super().__init__(name, timeout)
        self._transport = Guarded(egress)
        http = client(self._transport, timeout)
        self._sdk = AsyncOpenAI(api_key=api_key, base_url=api_base, max_retries=0, timeout=timeout, http_client=http)
        self._response = Response

    async def _ask(self, parameters: dict[str, Any]) -> Any:
        body = {"model": self.name.removeprefix("openai/"), **parameters}
        # not `chat.completions.create`: it walks every message and the whole schema by type annotations and builds
        # pydantic objects of the answer, for 2.3 ms of processor time a call where this takes 1.25
        answer = await self._sdk.post("/chat/completions", body=body, cast_to=self._response)
        return json.loads(answer.content, object_hook=_JsonObject)

    async def _shut(self) -> None:
        await self._sdk.close()
        await self._transport.shut()


class _JsonObject(dict[str, Any]):
    """A JSON object whose members can be asked for as attributes, as those of the SDK's objects; None where absent."""

    __getattr__ = dict.get
