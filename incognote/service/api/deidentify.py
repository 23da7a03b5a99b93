"""/v1/deidentify, the same for bytes of any format, and FHIR's $de-identify."""

from __future__ import annotations

import json
from typing import Annotated, Any
from urllib.parse import unquote

from fastapi import APIRouter, Body, Header, Request, Response

from incognote.agents.item import Item
from incognote.errors import ModelRejected, retryable_code
from incognote.nouns import Result
from incognote.service.api.access import Context, Submitter
from incognote.service.api.context import served
from incognote.service.api.messages import Answer, Identifier, ToDeidentify, answer_of, raw_body, raw_member, written
from incognote.service.api.problems import Fault, answers, problem

routes = APIRouter()
_FHIR = "application/fhir+json"
_BYTES = "application/octet-stream"
_BINARY: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}


@routes.post("/v1/deidentify", response_model=Answer, responses=answers(501), tags=["de-identification"])
async def deidentify(
    request: Request, asked: Annotated[ToDeidentify, Body()], context: Context, caller: Submitter
) -> Response:
    """De-identify one text, record, or file. The response contains the result only if the verdict is `release`."""
    body = await raw_body(request)
    item = asked.item(raw_member(body, "record"))
    result = await served(context, asked.operation, item)
    answer = answer_of(result, asked.operation, context.deid.engine.keyring)
    return Response(written(*answer), media_type="application/json")


@routes.post(
    "/v1/deidentify/bytes",
    tags=["de-identification"],
    responses={
        200: {"description": "the document, de-identified, in the media type it came in", "content": {_BYTES: _BINARY}},
        **answers(501),
    },
    openapi_extra={"requestBody": {"required": True, "content": {_BYTES: _BINARY}}},
    response_class=Response,
)
async def deidentify_bytes(
    request: Request,
    context: Context,
    caller: Submitter,
    incognote_patient: Annotated[Identifier | None, Header(description="the subject")] = None,
    incognote_domain: Annotated[Identifier | None, Header(description="The domain for hashes and surrogates.")] = None,
    incognote_data_type: Annotated[Identifier | None, Header(description="schema of a record without dataType")] = None,
) -> Response:
    """De-identify one document. The Content-Type is its format, and the response has the same format.

    If it is not released, the response is a problem that lists the reasons. The subject is a header because proxies log
    URLs.
    """
    media_type = request.headers.get("content-type", _BYTES)
    body = await request.body()
    headers = (incognote_patient, incognote_domain, incognote_data_type)
    patient, domain, data_type = (None if value is None else unquote(value) for value in headers)
    item = Item(body, patient=patient, domain=domain, data_type=data_type, media_type=media_type)
    result = await served(context, "redact", item)
    if result.verdict.released:
        return Response(result.data, headers={"Content-Type": media_type})
    faults = [Fault(at=reason.field, says=f"{reason.code}: {reason.detail}") for reason in result.verdict.reasons]
    return problem(_status(result), f"not released: {result.verdict.outcome}", faults=faults)


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
    """De-identify one FHIR resource, or a Bundle. If it is not released, the response is an OperationOutcome."""
    try:
        raw = (await request.body()).decode("utf-8")
    except UnicodeDecodeError:
        return _outcome(422, [("structure", "the body is not UTF-8")])
    result = await served(context, "redact", Item(raw, is_record=True))
    if result.verdict.released:
        return Response(result.output(), media_type=_FHIR)
    return _outcome(_status(result), _issues(result))


def _status(result: Result) -> int:
    """Return the status for a held record: 503 if it can be sent again unchanged, else 422."""
    codes = {reason.code for reason in result.verdict.reasons}
    return 503 if retryable_code(codes) or ModelRejected.code in codes else 422


def _issues(result: Result) -> list[tuple[str, str]]:
    kind = "security" if result.verdict.outcome == "review" else "processing"
    return [(kind, f"{result.verdict.outcome}: {reason}") for reason in result.verdict.reasons]


def _outcome(status: int, issues: list[tuple[str, str]]) -> Response:
    told: dict[str, Any] = {
        "resourceType": "OperationOutcome",
        "issue": [{"severity": "error", "code": code, "diagnostics": said} for code, said in issues],
    }
    return Response(json.dumps(told), status, media_type=_FHIR)
