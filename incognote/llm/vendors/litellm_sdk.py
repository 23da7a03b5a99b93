"""All other vendors, through litellm. Its logging, caching, downloads and other connections are suppressed."""

from __future__ import annotations

import os
from functools import lru_cache
from types import ModuleType
from typing import Any

from incognote.errors import EgressRefused, MissingExtra, SettingError
from incognote.llm.egress import Egress, confined, silence_loggers
from incognote.llm.vendors import faults
from incognote.llm.vendors.chat import ChatModel, marked

_LISTENERS = (
    "callbacks", "input_callback", "success_callback", "failure_callback", "service_callback",
    "_async_input_callback", "_async_success_callback", "_async_failure_callback",
)  # fmt: skip
_NO_KEY = "not-needed"
_PAST_THE_GUARD = (
    "litellm's connections to this vendor bypass the egress guard. Nothing was sent. "
    "Use an OpenAI-compatible address of the vendor"
)


class LiteLLMModel(ChatModel):
    """A model of any vendor that litellm can call over our transport.

    Some vendors' connections are opened by litellm in other ways (boto3, requests, its own sessions). They are refused
    at the first request, before a byte is sent.

    Args:
        name: vendor and model, in litellm's names: `anthropic/claude-haiku-4-5`.
        api_base: the vendor's address; None if litellm knows it.
        api_key: None for the vendor's usual variable.
        timeout: for the complete reply, in seconds.
        egress: where its requests may go.
        context: tokens that Ollama reserves for a request and its reply. Others ignore it.

    Raises:
        MissingExtra: the extra `llm` is not installed.
        SettingError: litellm does not know the vendor.
    """

    def __init__(
        self, name: str, *, api_base: str | None, api_key: str | None, timeout: float, egress: Egress,
        context: int = 8192,
    ) -> None:  # fmt: skip
        self._litellm = _litellm()
        super().__init__(name, timeout)
        from incognote.llm.vendors.wire import Guarded

        try:
            _, vendor, known_key, known_base = self._litellm.get_llm_provider(
                model=name, api_base=api_base, api_key=api_key
            )
        except Exception:  # litellm raises many kinds, and they quote the name it was given
            raise SettingError("model: litellm does not know this vendor. Write VENDOR/NAME.") from None
        key = api_key or known_key or (_NO_KEY if egress.loopback else None)
        self._transport = Guarded(egress)
        self._client = _client(self._transport, vendor, api_base or known_base, key, timeout)
        self._given: dict[str, Any] = {"model": name, "api_base": api_base, "api_key": key}
        if vendor in ("ollama", "ollama_chat"):
            # litellm's other way, `ollama/`, opens connections past the guard
            self._given["model"] = f"ollama_chat/{name.partition('/')[2]}"
            self._given["num_ctx"] = context  # otherwise, Ollama cuts prompts at 4,096 tokens or fewer
        self._marks_cache = vendor == "anthropic" or (vendor in _SERVES_CLAUDE and "claude" in name.lower())

    async def _ask(self, parameters: dict[str, Any]) -> Any:
        noted = faults.current()
        assert noted is not None
        if self._marks_cache:
            parameters = {**parameters, "messages": marked(parameters["messages"])}
        if _listened_to(self._litellm):
            noted.refused = "litellm has callbacks or a cache in this process that could receive notes. Remove them"
            raise EgressRefused(noted.refused)
        with confined() as refusals:
            try:
                return await self._litellm.acompletion(
                    **self._given,
                    **parameters,
                    **_HELD_DOWN,
                    timeout=self._timeout,
                    client=self._client,
                )
            except Exception:  # any kind, and raised again: only what happened is recorded
                if noted.status is None and noted.failure is None and noted.refused is None:
                    if refusals:
                        noted.refused = _PAST_THE_GUARD
                    else:
                        noted.unsent = "litellm sent nothing. Check the API key, the model's name, and the API version"
                raise

    async def aclose(self) -> None:
        await self._client.close()
        await self._transport.shut()


_SERVES_CLAUDE = ("azure_ai", "bedrock", "openrouter", "vertex_ai")


_HELD_DOWN: dict[str, Any] = {
    "max_retries": 0,
    "num_retries": 0,
    "drop_params": True,
    "no-log": True,
    "caching": False,
    "cache": {"no-cache": True, "no-store": True},
}


@lru_cache(maxsize=1)
def _litellm() -> ModuleType:
    """Import litellm so that it fetches no price map, reads no .env file, and prints nothing."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    try:
        import litellm
    except ImportError:
        raise MissingExtra("llm", "asking a model of this vendor") from None
    litellm.suppress_debug_info = True
    litellm.set_verbose = False  # type: ignore[attr-defined]  # re-exported without saying so
    litellm.telemetry = False
    silence_loggers()
    return litellm


def _listened_to(litellm: ModuleType) -> bool:
    """Whether there is any listener except the hook for the cache.

    That hook is always present, and inactive without a cache.
    """
    listeners = (listener for name in _LISTENERS for listener in getattr(litellm, name, None) or ())
    return litellm.cache is not None or any(listener != "cache" for listener in listeners)


def _client(transport: Any, vendor: str, api_base: str | None, key: str | None, timeout: float) -> Any:
    """Return a client for both ways in which litellm calls a vendor: its own handler, or one of OpenAI's SDKs.

    litellm chooses by vendor, and its table changes. An object that is both works for either.
    """
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler
    from openai import AsyncAzureOpenAI, AsyncOpenAI

    from incognote.llm.vendors.wire import client

    common: dict[str, Any] = {"max_retries": 0, "timeout": timeout, "http_client": client(transport, timeout)}
    if vendor == "azure":
        version = os.environ.get("AZURE_API_VERSION", "2024-10-21")
        key = key or os.environ.get("AZURE_API_KEY")
        return AsyncAzureOpenAI(azure_endpoint=api_base or "", api_version=version, api_key=key, **common)
    sdk = AsyncOpenAI(api_key=key or _NO_KEY, base_url=api_base, **common)

    class Both(AsyncHTTPHandler):
        def __getattr__(self, name: str) -> Any:
            return getattr(sdk, name)

    return Both(timeout=timeout, transport=transport, follow_redirects=False)
