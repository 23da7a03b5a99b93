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


def hush() -> None:
    """Hold the loggers at WARNING or above. Cheap, so that it is done before each call: an import may undo it."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        if logger.getEffectiveLevel() < logging.WARNING:
            logger.setLevel(logging.WARNING)
    for name in _QUOTING:
        logging.getLogger(name).addFilter(_filter)  # twice is once
