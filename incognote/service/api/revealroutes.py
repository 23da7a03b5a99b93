"""/v1/reveals: requests to export originals, if two people must agree (`reveal_approvals = 2`)."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path
from pydantic import BaseModel, Field

from incognote.errors import UsageError
from incognote.service.api.access import Context, Revealer
from incognote.service.api.context import ApiContext
from incognote.service.api.keys import Caller
from incognote.service.api.messages import StrictModel
from incognote.service.api.problems import Refused, answers
from incognote.service.reveals import RevealRequest

routes = APIRouter(prefix="/v1/reveals", tags=["review"])
RequestId = Annotated[str, Path(pattern="^[0-9a-f]{16}$", description="Id of the request.")]


class ToReveal(StrictModel):
    """A request to export decisions as a gold corpus."""

    why: str = Field(min_length=1, max_length=1000, pattern=r"\S", description="shown to the person who approves")
    release: str | None = Field(
        None, max_length=255, pattern="^[A-Za-z0-9][A-Za-z0-9._/-]*$", description="name of a release; null for all"
    )


class RequestTold(BaseModel):
    """One request. Pass its ID as `approval` to /v1/gold."""

    id: str
    by: str
    since: str
    ends: str
    approved_by: str | None
    question: dict[str, str | None]
    why: str


@routes.post("", responses=answers(409))
def ask(asked: Annotated[ToReveal, Body()], context: Context, caller: Revealer) -> RequestTold:
    """Request an export of the gold corpus. Another person with the role `reveal` must approve it."""
    if context.settings.reveal_approvals < 2:
        raise Refused(409, "reveal_approvals is 1: /v1/gold needs no approval")
    made = context.reveals.ask(_question(asked.release), " ".join(asked.why.split()), caller.name)
    context.audit.append("reveal.requested", item=made.id, by=caller.name)
    return _told(made)


@routes.get("", responses=answers())
def requests(context: Context, caller: Revealer) -> list[RequestTold]:
    """List the open requests, including those from the command line."""
    return [_told(one) for one in context.reveals.items()]


@routes.post("/{id}/approval", responses=answers(404, 409))
def approve(id: RequestId, context: Context, caller: Revealer) -> RequestTold:
    """Approve another person's request. The approval can be used once."""
    one = context.reveals.may_approve(id, caller.name)
    context.audit.append("reveal.approved", item=one.id, by=caller.name)
    return _told(context.reveals.approve(id, caller.name))


def agreed(context: ApiContext, caller: Caller, approval: str | None, release: str | None) -> dict[str, str]:
    """Return the audit log's facts about the approval that an export uses; empty if none is needed.

    Raises:
        Refused: two people must agree, and they have not (403).
        UnknownName: the request has expired or was used.
    """
    if context.settings.reveal_approvals < 2:
        return {}
    if approval is None:
        raise Refused(403, "two people must agree: ask with POST /v1/reveals, and name the request as `approval`")
    try:
        return {"item": context.reveals.take(approval, _question(release), caller.name).id}
    except UsageError as error:
        if type(error) is UsageError:
            raise Refused(403, str(error)) from None
        raise


def _question(release: str | None) -> dict[str, Any]:
    return {"what": "gold", "release": release}


def _told(one: RevealRequest) -> RequestTold:
    question = {name: None if value is None else str(value) for name, value in one.about["question"].items()}
    return RequestTold(
        id=one.id, by=one.by, since=one.since, ends=one.ends, approved_by=one.approved_by, question=question,
        why=one.about["why"],
    )  # fmt: skip
