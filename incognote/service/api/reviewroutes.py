"""/v1/review: the queue, a record with its spans, corrections, decisions; /v1/gold; /v1/types."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from incognote.errors import AlreadyDecided, NotReleased, UsageError
from incognote.nouns import Span
from incognote.schemas.catalogue import catalogue
from incognote.service.api.access import Anybody, Context, Revealer, Reviewer
from incognote.service.api.keys import Caller
from incognote.service.api.messages import After, Limit, StrictModel, Why, why
from incognote.service.api.problems import Refused, answers
from incognote.service.api.revealroutes import agreed
from incognote.service.review import DecidedCase, ReviewCase, ReviewDecision, corrected
from incognote.service.review.cases import unmendable
from incognote.service.review.decided import gold
from incognote.service.review.nouns import QueueEntry, check_spans, pack_spans

routes = APIRouter(prefix="/v1", tags=["review"])
ItemId = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
Release = Annotated[str | None, Query(max_length=255, pattern="^[A-Za-z0-9][A-Za-z0-9._/-]*$")]
Approval = Annotated[str | None, Query(pattern="^[0-9a-f]{16}$")]
ReviewState = Literal["waiting", "approved", "rejected"]


class SpanMark(StrictModel):
    """A stretch that is an identifier. Offsets are Unicode code points, `end` exclusive."""

    field: str = Field("", max_length=1000, description="the text's field path; empty for a plain note")
    start: int = Field(ge=0, le=2**31)
    end: int = Field(ge=1, le=2**31)
    type: str = Field(max_length=64, pattern="^[A-Z][A-Z0-9_]*$")


class Marks(StrictModel):
    """All identifiers of a record's texts."""

    spans: list[SpanMark] = Field(max_length=100_000)


class ToDecide(StrictModel):
    """A decision; without spans those count that stand there, found or, where the revision is named, proposed."""

    outcome: Literal["approve", "reject"]
    spans: list[SpanMark] | None = Field(None, max_length=100_000)
    revision: str | None = Field(None, pattern="^[0-9a-f]{16}$", description="of the spans that were looked at")


class QueueLine(BaseModel):
    """A line of the queue; nothing in it is PHI."""

    number: int
    id: str
    key: str
    release: str
    origin: str
    state: ReviewState
    reasons: list[dict[str, str]]
    policy: str
    data_type: str | None
    characters: int
    spans: int
    since: str
    decided: str | None
    by: str | None
    changes: dict[str, int] | None
    delivered: str | None


class Queue(BaseModel):
    """A page of the queue; `next` is `after` of the page behind it."""

    entries: list[QueueLine]
    counts: dict[str, int]
    next: int | None = None


class SpanShown(BaseModel):
    """A span with who found it and how sure."""

    field: str
    start: int
    end: int
    type: str
    score: float
    sources: list[str]


class TextShown(BaseModel):
    """One text: PHI."""

    field: str
    content: str


class Record(BaseModel):
    """A record in review: PHI."""

    entry: QueueLine
    texts: list[TextShown]
    spans: list[SpanShown]
    doubts: list[SpanShown]
    reasons: list[Why]
    revision: str = Field(description="of the spans: another where somebody corrected them")
    approvable: bool = Field(description="false where it is held for a reason that no span mends")


class Preview(BaseModel):
    """What would be written in the place of the record."""

    output: str


class Me(BaseModel):
    """Whose key it is, and what it may do."""

    name: str
    roles: list[str]


class EntityTypeShown(BaseModel):
    """An entity type."""

    name: str
    group: str
    parent: str | None
    about: str


@routes.get("/me", responses=answers())
def me(request: Request) -> Me:
    """Whose key this is; nobody's where there is none."""
    caller: Caller | None = request.state.caller
    return Me(name="", roles=[]) if caller is None else Me(name=caller.name, roles=sorted(caller.roles))


@routes.get("/types", responses=answers())
def types(caller: Anybody) -> list[EntityTypeShown]:
    """The entity types there are."""
    return [EntityTypeShown(name=n, group=t.group, parent=t.parent, about=t.about) for n, t in catalogue().items()]


@routes.get("/review", responses=answers())
def queue(
    context: Context,
    caller: Reviewer,
    state: ReviewState = "waiting",
    after: After = 0,
    limit: Limit = 50,
    release: Release = None,
) -> Queue:
    """The queue, oldest first."""
    found = context.queue.list(state, after=after, limit=limit, release=release)
    return Queue(
        entries=[_line(entry) for entry in found],
        counts={str(state): count for state, count in context.queue.counts(release).items()},
        next=found[-1].number if len(found) == limit else None,
    )


@routes.get("/review/{id}", responses=answers(404))
def record(id: ItemId, context: Context, caller: Reviewer) -> Record:
    """One record with its texts. The view is logged."""
    context.queue.entry(id)
    context.audit.append("review.opened", item=id, by=caller.name)
    context.telemetry.tell("review.opened", item=id)
    opened = context.queue.open(id)
    return Record(
        entry=_line(opened.entry),
        texts=[TextShown(field=text.field, content=text.content) for text in opened.case.texts],
        spans=_found(opened.spans),
        doubts=_found(opened.case.doubts),
        reasons=[Why(**why(reason)) for reason in opened.case.reasons],
        revision=_revision(opened),
        approvable=not unmendable(opened.case),
    )


@routes.post("/review/{id}/preview", responses=answers(404, 501))
async def preview(id: ItemId, asked: Annotated[Marks, Body()], context: Context, caller: Reviewer) -> Preview:
    """What approval with these spans would write."""
    opened = await run_in_threadpool(context.queue.open, id)
    await run_in_threadpool(context.audit.append, "text.viewed", item=id, by=caller.name)
    spans = check_spans(opened.case, _spans(opened.case, asked.spans))
    engine = await run_in_threadpool(context.engine, _operation(opened))
    result = await corrected(engine, opened.case, spans)
    try:
        output = result.content
        return Preview(output=output if isinstance(output, str) else output.decode("utf-8", "replace"))
    except NotReleased as held:
        raise UsageError(str(held)) from None


@routes.put("/review/{id}/proposal", responses=answers(404, 409))
def propose(id: ItemId, asked: Annotated[Marks, Body()], context: Context, caller: Reviewer) -> QueueLine:
    """Keep corrected spans for whoever decides."""
    opened = context.queue.open(id)
    spans = check_spans(opened.case, _spans(opened.case, asked.spans))
    if opened.entry.state == "waiting":
        context.audit.append("review.proposed", item=id, spans=len(spans), by=caller.name)
    return _line(context.queue.propose(id, spans, caller.name))


@routes.post("/review/{id}/decision", responses=answers(404, 409))
def decide(
    id: ItemId, asked: Annotated[ToDecide, Body()], context: Context, caller: Reviewer, request: Request
) -> QueueLine:
    """Approve (the text without its spans is delivered; needs the role approve) or reject (it goes to quarantine)."""
    if asked.outcome == "approve" and "approve" not in caller.roles:
        raise Refused(403, "this key lacks the role approve: it may propose, and reject")
    opened = context.queue.open(id)
    if asked.outcome == "approve" and unmendable(opened.case):
        raise UsageError("this record is held for a reason that no span mends: reject it, and let it come again")
    unseen = opened.entry.by is not None and asked.revision is None and asked.spans is None
    unseen |= asked.revision not in (None, _revision(opened))
    if unseen and asked.outcome == "approve" and opened.entry.state == "waiting":
        raise Refused(409, "its spans were corrected: look at them, and name them or their revision")
    spans = None if asked.spans is None else check_spans(opened.case, _spans(opened.case, asked.spans))
    if opened.entry.state == "waiting":  # before it counts: what cannot be told does not happen
        context.audit.append("review.decided", item=id, outcome=asked.outcome, by=caller.name)
    try:
        entry = context.queue.decide(
            id, ReviewDecision(asked.outcome, opened.spans if spans is None else spans), caller.name
        )
    except AlreadyDecided:
        if opened.entry.state == "waiting":  # another was quicker by a hair: the log must not say two
            context.audit.append("review.overtaken", item=id, outcome=asked.outcome, by=caller.name)
        raise
    context.telemetry.tell("queue.measured", waiting=context.queue.counts()["waiting"])
    request.app.state.runner.wake()
    return _line(entry)


@routes.get(
    "/gold",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-ndjson": {"schema": {"type": "string"}}}}, **answers(404)},
)
def export(
    context: Context, caller: Revealer, release: Release = None, approval: Approval = None
) -> StreamingResponse:
    """What people decided, as gold for `incognote evaluate`: a JSON line for each text. The export is logged.

    Where two people must agree (`reveal_approvals = 2`), `approval` names a request of /v1/reveals.
    """
    used = agreed(context, caller, approval, release)
    context.audit.append("review.exported", records=context.queue.counts(release)["approved"], by=caller.name, **used)
    return StreamingResponse(gold(context.queue, release), media_type="application/x-ndjson")


def _line(entry: QueueEntry) -> QueueLine:
    return QueueLine(**entry.told())


def _found(spans: Sequence[Span]) -> list[SpanShown]:
    return [
        SpanShown(field=s.field, start=s.start, end=s.end, type=s.type, score=s.score, sources=list(s.sources))
        for s in spans
    ]


def _revision(opened: DecidedCase) -> str:
    told = json.dumps(pack_spans(opened.case.texts, opened.spans))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _operation(opened: DecidedCase) -> Any:
    return opened.case.extra.get("operation", "redact")


def _spans(case: ReviewCase, marks: Sequence[SpanMark]) -> list[Span]:
    """Marks as spans of the record's texts; one that the machine found keeps its score and sources.

    Raises:
        UsageError, ImpossibleSpan: one does not fit.
    """
    texts = {text.field: text for text in case.texts}
    before = {(s.field, s.start, s.end, s.type): s for s in (*case.spans, *case.doubts)}
    if any(mark.field not in texts for mark in marks):
        raise UsageError("spans: one is of no text of this record")
    return [
        before.get((m.field, m.start, m.end, m.type)) or Span(texts[m.field], m.start, m.end, m.type, 1.0, ("person",))
        for m in marks
    ]
