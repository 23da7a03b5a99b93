"""/v1/deidentify, and FHIR's $de-identify."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Body, Request, Response

from incognote.agents.item import Item
from incognote.errors import ModelRejected, retryable_code
from incognote.nouns import Result
from incognote.service.api.access import Context, Submitter
from incognote.service.api.messages import Answer, ToDeidentify, answer_of, raw_body, raw_member, written
from incognote.service.api.problems import answers
from incognote.service.api.serving import served

routes = APIRouter()
_FHIR = "application/fhir+json"


@routes.post("/v1/deidentify", response_model=Answer, responses=answers(501), tags=["de-identification"])
async def deidentify(
    request: Request, asked: Annotated[ToDeidentify, Body()], context: Context, caller: Submitter
) -> Response:
    """De-identify one text or record. An answer whose verdict is not `release` holds no text."""
    body = await raw_body(request)
    item = asked.item(raw_member(body, "record"))
    result = await served(context, asked.operation, item)
    answer = answer_of(result, asked.operation, context.deid.engine.keyring)
    return Response(written(*answer), media_type="application/json")


@routes.post(
    "/fhir/$de-identify",
    tags=["FHIR"],
    responses={
        200: {"description": "the resource, de-identified", "content": {_FHIR: {"schema": {"type": "object"}}}},
        **{status: {"description": "an OperationOutcome", "content": {_FHIR: {"schema": {"type": "object"}}}}
           for status in (422, 503)},
        **{status: told for status, told in answers().items() if status not in (422, 503)},
    },
    openapi_extra={"requestBody": {"required": True, "content": {
        media: {"schema": {"type": "object", "required": ["resourceType"],
                           "properties": {"resourceType": {"type": "string"}}}}
        for media in (_FHIR, "application/json")
    }}},
    response_class=Response,
)  # fmt: skip
async def de_identify(request: Request, context: Context, caller: Submitter) -> Response:
    """De-identify one FHIR resource (a Bundle too). What is not released is answered by an OperationOutcome."""
    try:
        raw = (await request.body()).decode("utf-8")
    except UnicodeDecodeError:
        return _outcome(422, [("structure", "the body is not UTF-8")])
    result = await served(context, "redact", Item(raw, is_record=True))
    if result.verdict.released:
        return Response(result.output(), media_type=_FHIR)
    codes = {reason.code for reason in result.verdict.reasons}
    return _outcome(503 if retryable_code(codes) or ModelRejected.code in codes else 422, _issues(result))


def _issues(result: Result) -> list[tuple[str, str]]:
    kind = "security" if result.verdict.outcome == "review" else "processing"
    return [(kind, f"{result.verdict.outcome}: {reason}") for reason in result.verdict.reasons]


def _outcome(status: int, issues: list[tuple[str, str]]) -> Response:
    told: dict[str, Any] = {
        "resourceType": "OperationOutcome",
        "issue": [{"severity": "error", "code": code, "diagnostics": said} for code, said in issues],
    }
    return Response(json.dumps(told), status, media_type=_FHIR)
