"""Turn an endpoint's error into one of ours: the status and a remedy, without its text.

Statuses, codes and wordings are those of the vendors' API references and of self-hosted servers. The tests in
tests/llm/test_dialects.py list them by server.
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

    from incognote.llm.base import Finish

Kind = Literal["context", "filter", "quota", "key", "parameter", "reply"]

_CONTEXT = re.compile(
    r"context[ _-]?(?:length|window|size|limit)|maximum (?:context|prompt|input|sequence|model length)"
    r"|too many (?:input |prompt )?tokens|(?:prompt|input|request|messages?)(?: is| are)? too (?:long|large)"
    r"|input token count|maximum number of tokens|(?:model|input|prompt) token limit|expected maxLength"
    r"|max_new_tokens\W{0,2} must be|inputs?\W{0,2} must have less than \d+ tokens"
    r"|(?:input|prompt|sequence|messages?)(?: tokens?| text)? (?:length|size)\b[^.]{0,40}(?:exceed|should be|longer)"
    r"|(?:prompt|input|messages?) exceeds? (?:the )?max|max_(?:model|seq|input|prompt)_len|max_num_tokens"
    r"|(?:shorter|fewer) (?:prompt|input|text|message)|reduce (?:the length of|your (?:message|prompt|input))",
    re.IGNORECASE,
)
_UNWANTED = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|invalid|unavailable|too large"
    r"|not (?:permitted|allowed)",
    re.IGNORECASE,
)
_PARAMETERS = ("response_format", "max_completion_tokens", "max_tokens", "temperature", "store", "seed")
_KEY = re.compile(
    r"(?:invalid|incorrect|missing|expired)[^.]{0,20} api[ _-]?key|api[ _-]?key (?:is )?(?:not valid|expired|missing)",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"credit balance|insufficient (?:balance|credit|quota)|exceeded your current quota", re.IGNORECASE)
_REMEDIES = {
    400: "the request was rejected. Check the model's name, its context size, and the features that it supports",
    401: "the API key is missing or wrong. Set api_key or the provider's environment variable",
    402: "the account has no credit left. Add credit",
    403: "the API key has no access to this model or address. Check its permissions",
    404: "the model does not exist, or api_base is not the URL of its API. Check both",
    405: "api_base is not the URL of a chat API, which often ends in /v1",
    413: "the request is too large. Use smaller chunks",
    422: "the request was rejected. Check the model's name, its context size, and the features that it supports",
}
_AGAIN = {408, 409, 425, 429}
_BADLY_REPORTED = {400, 422, 500, 501}
"""The statuses with which servers reject a parameter, in whatever words."""
_MAY_BE_LENGTH = {400, 422, 500}
"""The statuses with which servers reject a request that is too long, in whatever words. 413 says so itself."""
_BROKEN_REPLY = re.compile(r"failed to generate json|produced output that does not match", re.IGNORECASE)
"""The model's reply was not the JSON that the server promised: Groq, and llama.cpp if the reply was cut."""
_LONGEST_PROSE = 400  # characters; a longer text may quote the note


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

    @property
    def unclear(self) -> bool:
        """Whether the server did not answer the request, for no reason that we recognize.

        Some servers send status 200 with an empty completion for a parameter that they do not support.
        """
        return self.status in _BADLY_REPORTED | {200} and self.kind is None

    @property
    def finish(self) -> Finish | None:
        """The end of a reply that the server withheld: filtered, or cut; None if the error is about something else."""
        return {"filter": "filter", "reply": "length"}.get(self.kind or "")  # type: ignore[return-value]  # literals

    def problem(self, name: str) -> ModelProblem:
        """Return the error to raise for a call that failed."""
        problem = self._problem(name)
        problem.unclear = self.unclear and self.status in _MAY_BE_LENGTH
        return problem

    def _problem(self, name: str) -> ModelProblem:
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
            return ContextTooLong(f"{name}: status {self.status}, longer than the model can read. "
                                  "Lower chunk_words or max_tokens, or raise the server's context size")
        if self.kind == "quota":
            return ModelRejected(f"{name}: status {self.status}, the quota of the account is used up. Raise it")
        if self.kind == "key":
            return ModelRejected(f"{name}: status {self.status}, {_REMEDIES[401]}")
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
    if status == 429 and "request too large" in prose[:_LONGEST_PROSE].lower():
        return "context", None  # more tokens than the account may use in a minute, so waiting does not help
    if status not in _BADLY_REPORTED | {413}:
        return None, None
    if codes & {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}:
        return "context", None
    if _CONTEXT.search(prose[:_LONGEST_PROSE]):
        return "context", None
    if "json_validate_failed" in codes or _BROKEN_REPLY.search(prose[:_LONGEST_PROSE]):
        return "reply", None
    named = str(error.get("param") or "").split(".")[0]
    if named in _PARAMETERS:
        return "parameter", named
    if len(prose) > _LONGEST_PROSE:
        return None, None
    if _QUOTA.search(prose):
        return "quota", None
    if _KEY.search(prose):
        return "key", None
    if _UNWANTED.search(prose):
        for parameter in _PARAMETERS:
            if re.search(rf"\b{parameter}\b", prose):
                return "parameter", parameter
    return None, None


def _error(body: bytes) -> dict[str, Any]:
    """Return the error object, in any of its common forms. Plain text is its message; a page of HTML is empty."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = body.decode("utf-8", "replace").strip()
    if isinstance(content, str):
        return {} if content.startswith("<") else {"message": content}
    if isinstance(content, list) and content:
        content = content[0]
    if not isinstance(content, dict):
        return {}
    error = content.get("error", content)
    if isinstance(error, str):
        return {**content, "message": error}
    return error if isinstance(error, dict) else {}
