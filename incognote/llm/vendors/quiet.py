"""The SDKs' loggers held down: at DEBUG they write whole prompts, and no switch of theirs prevents it."""

from __future__ import annotations

import logging

from incognote.llm.egress import is_confined

_LOGGERS = (
    "LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "litellm", "openai", "openai._base_client", "httpx", "httpcore",
    "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy", "aiohttp", "urllib3", "botocore",
)  # fmt: skip
_QUOTING = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "litellm")


class _NotOfOurs(logging.Filter):
    """Drops what litellm says during our calls, its errors included: they quote replies it could not read."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not is_confined()


_filter = _NotOfOurs()
_held = tuple(map(logging.getLogger, _LOGGERS))
_quoting = tuple(map(logging.getLogger, _QUOTING))


def hush() -> None:
    """Hold the loggers at WARNING or above. Cheap, so that it is done before each call: an import may undo it."""
    for logger in _held:
        if logger.getEffectiveLevel() < logging.WARNING:
            logger.setLevel(logging.WARNING)
    for logger in _quoting:
        logger.addFilter(_filter)  # twice is once
