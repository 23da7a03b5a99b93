"""Errors as problem+json (RFC 9457). They contain places and remedies, but never a value of a request.

Presidio's clients look for a member `error`, so every problem has one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from incognote.errors import (
    AlreadyDecided,
    IncognoteError,
    IndexProblem,
    KeyProblem,
    ModelProblem,
    RecordProblem,
    SchemaProblem,
    StoreProblem,
    UnknownName,
    UsageError,
)

MEDIA = "application/problem+json"
TITLES = {
    400: "malformed",
    401: "no-valid-key",
    403: "not-allowed",
    404: "not-found",
    405: "no-such-method",
    408: "too-slow",
    409: "conflict",
    411: "length-required",
    413: "too-large",
    415: "unsupported-format",
    422: "invalid",
    429: "too-often",
    500: "internal-error",
    501: "not-configured",
    503: "unavailable",
}


class Fault(BaseModel):
    """An error in one part of a request."""

    at: str = Field(description="Where in the request.")
    says: str = Field(description="What is wrong.")


class Problem(BaseModel):
    """The body of every error."""

    type: str = Field(description="`urn:incognote:problem:` and the title.")
    title: str = Field(description="Stable name of the error.")
    status: int = Field(description="HTTP status.")
    detail: str = Field(description="What is wrong and what to do next.")
    error: str = Field(description="The same as `detail`, for clients of Presidio.")
    faults: list[Fault] = Field([], description="Errors in individual parts of the request.")


class Refused(IncognoteError):
    """A request is refused. `status` is the HTTP status."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.headers = status, dict(headers or {})


def problem(
    status: int, detail: str, *, faults: Sequence[Fault] = (), headers: Mapping[str, str] | None = None
) -> Response:
    """Return the response for an error."""
    title = TITLES.get(status, "refused")
    told = Problem(
        type=f"urn:incognote:problem:{title}", title=title, status=status, detail=detail, error=detail,
        faults=list(faults),
    )  # fmt: skip
    return Response(json.dumps(told.model_dump()), status, dict(headers or {}), MEDIA)


def status_of(error: IncognoteError) -> int:
    """Return the HTTP status for one of our errors."""
    if isinstance(error, Refused):
        return error.status
    if isinstance(error, AlreadyDecided):
        return 409
    if isinstance(error, UnknownName):
        return 404
    if isinstance(error, UsageError | RecordProblem | SchemaProblem):
        return 422
    if isinstance(error, ModelProblem | IndexProblem | KeyProblem | StoreProblem) or type(error) is IncognoteError:
        return 503  # a database or the audit log failed, which is not the request's fault: try again later
    return 500


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the errors for OpenAPI: the usual ones, and the additional ones of an operation."""
    usual = (400, 401, 403, 405, 413, 422, 429, 500, 503)
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {"description": TITLES[status], "content": {MEDIA: {"schema": schema}}}
        for status in sorted({*usual, *statuses})
    }


def speak(app: FastAPI, names: frozenset[str]) -> None:
    """Make an application answer every error in this form.

    Args:
        names: members of requests that may be quoted. Any other name is the caller's own text.
    """

    @app.exception_handler(IncognoteError)
    async def ours(request: Request, error: IncognoteError) -> Response:
        headers = error.headers if isinstance(error, Refused) else None
        if isinstance(error, UnknownName):
            return problem(404, f"there is no such {error.kind}")
        return problem(status_of(error), str(error), headers=headers)

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, bug: Exception) -> Response:
        return problem(500, "internal error in incognote; nothing was changed")  # the gate reports it

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, error: RequestValidationError) -> Response:
        faults = [Fault(at=_place(one["loc"], names), says=_said(one)) for one in error.errors()[:20]]
        return problem(422, "the request does not match the schema; see faults", faults=faults)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        detail = {404: "there is no such address", 405: "this address does not support the method"}
        said = detail.get(error.status_code, "the request cannot be read")
        return problem(error.status_code, said, headers=error.headers)


def _place(loc: Sequence[Any], names: frozenset[str]) -> str:
    return ".".join(str(part) if isinstance(part, int) or part in names else "?" for part in loc)


def _said(one: Mapping[str, Any]) -> str:
    """Return Pydantic's message if it is about the schema and not about the value."""
    if one["type"] in ("json_invalid", "value_error"):
        return "not JSON" if one["type"] == "json_invalid" else "not a valid value"
    if one["type"] == "union_tag_invalid":  # pydantic quotes the tag
        return f"{one['ctx']['discriminator']} is one of {one['ctx']['expected_tags']}"
    return str(one["msg"])
