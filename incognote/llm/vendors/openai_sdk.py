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
            import orjson
            from openai import AsyncOpenAI

            from incognote.llm.vendors.line import Line
            from incognote.llm.vendors.wire import Guarded, client
        except ImportError:
            raise MissingExtra("llm", "asking a model") from None
        super().__init__(name, timeout)
        self._written = orjson.dumps  # instructions and schema are 10 kB a call, for which `json` takes 0.1 ms
        # The SDK says where to ask and with which headers, once. Asking through it walks every message and the whole
        # schema by type annotations, builds pydantic objects of the answer, and goes through httpx.
        transport = Guarded(egress)
        sdk = AsyncOpenAI(api_key=api_key, base_url=api_base, http_client=client(transport, timeout))
        headers = {k: v for k, v in {**sdk.auth_headers, **sdk.default_headers}.items() if isinstance(v, str)}
        self._line = Line(egress, str(sdk.base_url.join("chat/completions")), headers, transport.tls)

    async def _ask(self, parameters: dict[str, Any]) -> Any:
        body = {"model": self.name.removeprefix("openai/"), **parameters}
        answer = await self._line.post(self._written(body))
        return json.loads(answer, object_hook=_Said)

    async def _shut(self) -> None:
        await self._line.shut()


class _Said(dict[str, Any]):
    """A JSON object whose members can be asked for as attributes, as those of the SDK's objects; None where absent."""

    __getattr__ = dict.get
