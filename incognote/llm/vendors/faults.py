"""Turn an endpoint's error into one of ours: the status and a remedy, without its text.

Statuses, codes and wordings are those of the vendors' API references and servers (vLLM, llama.cpp, TGI).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Literal

from incognote.errors import ContextTooLong, EgressRefused, ModelProblem, ModelRejected, ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["context", "filter", "quota", "parameter"]

_CONTEXT = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|(?:prompt|input|request) is too (?:long|large)"
    r"|too many (?:input |prompt )?tokens|maximum number of tokens|input token count|max_new_tokens. must be",
    re.IGNORECASE,
)
_UNWANTED = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|invalid|too large|not (?:permitted|allowed)",
    re.IGNORECASE,
)
_PARAMETERS = ("response_format", "max_completion_tokens", "max_tokens", "temperature", "store", "seed")
_REMEDIES = {
    400: "the request was rejected. Check the model's name and the features that it supports",
    401: "the API key is missing or wrong. Set api_key or the provider's environment variable",
    402: "the account has no credit left. Add credit",
    403: "the API key has no access to this model or address. Check its permissions",
    404: "the model does not exist, or api_base is not the URL of its API. Check both",
    405: "api_base is not the URL of a chat API, which often ends in /v1",
    413: "the request is too large. Use smaller chunks",
    422: "the request was rejected. Check the model's name and the features that it supports",
}
_AGAIN = {408, 409, 425, 429}


@dataclass(slots=True)
class Exchange:
    """The result of one HTTP call, recorded by the transport, without its content.

    Args:
        status: of the answer; None if there was none.
        retry_after: the wait that the answer asked for, in seconds.
        kind: the kind of error, if it is recognized.
        parameter: the request's parameter that the error is about.
        refused: the egress guard's reason, if it refused.
        unsent: why the SDK sent nothing, for reasons of its own.
        failure: why there was no answer.
    """

    status: int | None = None
    retry_after: float | None = None
    kind: Kind | None = None
    parameter: str | None = None
    refused: str | None = None
    unsent: str | None = None
    failure: str | None = None

    def problem(self, name: str) -> ModelProblem:
        """Return the error to raise for a call that failed."""
        if self.refused is not None:
            return EgressRefused(f"{name}: {self.refused}")
        if self.unsent is not None:
            return ModelRejected(f"{name}: {self.unsent}")
        if self.status is None:
            return ModelUnavailable(f"{name}: {self.failure or 'no answer'}. Check the server at api_base")
        if self.status < 300:
            return ModelUnavailable(
                f"{name}: status {self.status}, but no chat completion. Check that api_base is the URL of its API"
            )
        if self.status < 400:
            return EgressRefused(
                f"{name}: status {self.status}, a redirect. Redirects are never followed: set api_base to the final URL"
            )
        if self.kind == "context" or self.status == 413:
            return ContextTooLong(f"{name}: status {self.status}, longer than the model can read. Use smaller chunks")
        if self.kind == "quota":
            return ModelRejected(f"{name}: status {self.status}, the quota of the account is used up. Raise it")
        if self.status in _AGAIN or self.status >= 500:
            return ModelUnavailable(f"{name}: status {self.status}. Try later", retry_after=self.retry_after)
        return ModelRejected(f"{name}: status {self.status}, {_REMEDIES.get(self.status, _REMEDIES[400])}")

    def note(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Record the answer to a call: its status and, for an error, what it is about."""
        self.status = status
        if status >= 400:
            self.retry_after = retry_after(headers)
            self.kind, self.parameter = understood(status, body)


_exchange: ContextVar[Exchange | None] = ContextVar("incognote_exchange", default=None)


def current() -> Exchange | None:
    """Return the exchange of the current call."""
    return _exchange.get()


@contextmanager
def exchange() -> Iterator[Exchange]:
    """Within this block, the transport records into the exchange that is yielded."""
    new = Exchange()
    token = _exchange.set(new)
    try:
        yield new
    finally:
        _exchange.reset(token)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds from Retry-After or retry-after-ms; None without either.

    RFC 9110, 10.2.3: Retry-After has seconds or a date.
    """
    try:
        if millis := headers.get("retry-after-ms"):
            return max(0.0, float(millis) / 1000)
        value = headers.get("retry-after", "")
        if not value:
            return None
        if re.fullmatch(r"\s*\d+(?:\.\d+)?\s*", value):
            return float(value)
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def understood(status: int, body: bytes) -> tuple[Kind | None, str | None]:
    """Return the kind of an error, and the parameter that it names.

    Its codes are used first. Its text is used only if it is short, since a long text may quote the note.
    """
    error = _error(body)
    inner = error.get("innererror")
    codes = {str(error.get(key, "")).lower() for key in ("code", "type", "status")}
    if isinstance(inner, dict):
        codes.add(str(inner.get("code", "")).lower())
    message = error.get("message") or error.get("detail") or ""
    prose = message if isinstance(message, str) else json.dumps(message)
    if codes & {"content_filter", "responsibleaipolicyviolation"}:
        return "filter", None
    if status == 429 and codes & {"insufficient_quota", "billing_hard_limit_reached"}:
        return "quota", None
    if status not in (400, 413, 422):
        return None, None
    if codes & {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}:
        return "context", None
    if _CONTEXT.search(prose[:400]):
        return "context", None
    named = str(error.get("param") or "").split(".")[0]
    if named in _PARAMETERS:
        return "parameter", named
    if len(prose) <= 400 and _UNWANTED.search(prose):
        for parameter in _PARAMETERS:
            if re.search(rf"\b{parameter}\b", prose):
                return "parameter", parameter
    return None, None


def _error(body: bytes) -> dict[str, Any]:
    """Return the error object, in any of its common forms; empty if there is none."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if isinstance(content, list) and content:
        content = content[0]
    if not isinstance(content, dict):
        return {}
    error = content.get("error", content)
    if isinstance(error, str):
        return {**content, "message": error}
    return error if isinstance(error, dict) else {}
