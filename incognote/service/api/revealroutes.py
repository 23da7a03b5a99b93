"""/v1/reveals: what was removed from an image, and requests to reveal if two people must agree.

The setting is `reveal_approvals = 2`.
"""

from __future__ import annotations

import asyncio
import base64
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Body, Path
from pydantic import BaseModel, Field

from incognote.errors import UnknownName, UsageError
from incognote.service.api.access import Context, Revealer
from incognote.service.api.context import ApiContext
from incognote.service.api.keys import Caller
from incognote.service.api.messages import StrictModel
from incognote.service.api.problems import Refused, answers
from incognote.service.reveals import RevealRequest, write_down

if TYPE_CHECKING:
    from incognote.relex.vault import RemovedPart

routes = APIRouter(prefix="/v1/reveals", tags=["review"])
_NUMBER = "^[0-9a-f]{24}$"
RequestId = Annotated[str, Path(pattern="^[0-9a-f]{16}$", description="Id of the request.")]


class ToReveal(StrictModel):
    """A request to export decisions as a gold corpus, or to reveal what was removed from an image."""

    why: str = Field(min_length=1, max_length=1000, pattern=r"\S", description="shown to the person who approves")
    release: str | None = Field(
        None, max_length=255, pattern="^[A-Za-z0-9][A-Za-z0-9._/-]*$", description="name of a release; null for all"
    )
    image: str | None = Field(None, pattern=_NUMBER, description="number of an image; null for a gold corpus")
    domain: Annotated[str, Field(max_length=200)] | None = Field(None, description="domain of the image")


class RequestTold(BaseModel):
    """One request. Pass its ID as `approval` to /v1/gold or /v1/reveals/image."""

    id: str
    by: str
    since: str
    ends: str
    approved_by: str | None
    question: dict[str, str | None]
    why: str


@routes.post("", responses=answers(409))
def ask(asked: Annotated[ToReveal, Body()], context: Context, caller: Revealer) -> RequestTold:
    """Request an export of the gold corpus, or to reveal an image. Another person with the role `reveal` must agree."""
    if context.settings.reveal_approvals < 2:
        raise Refused(409, "reveal_approvals is 1: /v1/gold and /v1/reveals/image need no approval")
    if asked.image is not None and asked.release is not None:
        raise Refused(409, "name a release or an image, not both")
    image, domain = asked.image, asked.domain
    question = _question(asked.release) if image is None else _about_image(context, image, domain)
    made = context.reveals.ask(question, " ".join(asked.why.split()), caller.name)
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


class ImageAsked(StrictModel):
    """Which image to reveal, and why."""

    image: str = Field(pattern=_NUMBER, description="number of the image, from the result or the name of its output")
    why: str = Field(min_length=1, max_length=1000, pattern=r"\S", description="for the audit file")
    domain: Annotated[str, Field(max_length=200)] | None = Field(None, description="domain of the image")
    approval: str | None = Field(None, pattern="^[0-9a-f]{16}$", description="id of the approved request")
    pixels: bool = Field(False, description="return also the pixels, if they are kept")


class BoxRevealed(BaseModel):
    """A box that was removed, in pixels of its page. Pages are counted from 1. `x1` and `y1` are exclusive."""

    page: int
    x0: int
    y0: int
    x1: int
    y1: int
    png: str | None = Field(description="The pixels as a PNG file, in base64.")


class PartRevealed(BaseModel):
    """An identifier that was removed. A part without words, such as a signature, has empty `words`."""

    type: str
    words: str
    boxes: list[BoxRevealed]


class ImageRevealed(BaseModel):
    """What was removed from an image."""

    image: str
    parts: list[PartRevealed]


@routes.post("/image", responses=answers(404, 409))
def image(asked: Annotated[ImageAsked, Body()], context: Context, caller: Revealer) -> ImageRevealed:
    """Reveal what was removed from an image. The request is logged first.

    If two people must agree (`reveal_approvals = 2`), set `approval` to the ID of a request from /v1/reveals.
    """
    tools = context.deid.engine
    if context.settings.index is None:
        raise Refused(409, "no index is configured: set `index` (INCOGNOTE_INDEX)")
    if not tools.policy.relex.reveal:
        raise Refused(403, f"the policy {tools.policy.name} has reveal = false")
    domain = asked.domain or context.settings.domain
    used = _taken(context, caller, asked.approval, _about_image(context, asked.image, asked.domain))
    parts = asyncio.run(_parts(context, domain, asked.image))
    record: dict[str, object] = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"), "account": caller.name, "who": None,
        "why": " ".join(asked.why.split()), "index": context.settings.index, "key": tools.keyring.id,
        "asked": {"image": asked.image}, "shown": bool(parts),
    }  # fmt: skip
    try:
        write_down(context.settings.home / "reveals.jsonl", record)
    except UsageError as error:
        raise Refused(503, str(error)) from None
    outcome = "shown" if parts else "not-shown"
    context.audit.append("image.revealed", outcome=outcome, image=asked.image, by=caller.name, **used)
    if not parts:
        raise UnknownName("image", asked.image)
    return ImageRevealed(image=asked.image, parts=[_part(part, pixels=asked.pixels) for part in parts])


async def _parts(context: ApiContext, domain: str, image: str) -> tuple[RemovedPart, ...]:
    from incognote.relex.index.opening import open_index, password_of
    from incognote.relex.vault import removed_from

    settings = context.settings
    assert settings.index is not None  # `image` has checked it
    keyring = context.deid.engine.keyring
    async with await open_index(settings.index, keyring, password=password_of(settings)) as index:
        return await removed_from(index, domain, image)


def _part(part: RemovedPart, *, pixels: bool) -> PartRevealed:
    told = part.as_dict()
    for written, box in zip(told["boxes"], part.boxes, strict=True):
        written["png"] = base64.b64encode(box.png).decode() if pixels and box.png is not None else None
    return PartRevealed(**told)


def agreed(context: ApiContext, caller: Caller, approval: str | None, release: str | None) -> dict[str, str]:
    """Return the audit log's facts about the approval that an export uses; empty if none is needed.

    Raises:
        Refused: two people must agree, and they have not (403).
        UnknownName: the request has expired or was used.
    """
    return _taken(context, caller, approval, _question(release))


def _taken(context: ApiContext, caller: Caller, approval: str | None, question: dict[str, Any]) -> dict[str, str]:
    if context.settings.reveal_approvals < 2:
        return {}
    if approval is None:
        raise Refused(403, "two people must agree: ask with POST /v1/reveals, and name the request as `approval`")
    try:
        return {"item": context.reveals.take(approval, question, caller.name).id}
    except UsageError as error:
        if type(error) is UsageError:
            raise Refused(403, str(error)) from None
        raise


def _question(release: str | None) -> dict[str, Any]:
    return {"what": "gold", "release": release}


def _about_image(context: ApiContext, image: str, domain: str | None) -> dict[str, Any]:
    return {"what": "image", "image": image, "domain": domain or context.settings.domain}


def _told(one: RevealRequest) -> RequestTold:
    question = {name: None if value is None else str(value) for name, value in one.about["question"].items()}
    return RequestTold(
        id=one.id, by=one.by, since=one.since, ends=one.ends, approved_by=one.approved_by, question=question,
        why=one.about["why"],
    )  # fmt: skip
