"""/v1/review: the queue, records, corrections, decisions, comments; /v1/gold; and data for the review page."""

from __future__ import annotations

import base64
import hashlib
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, cast

from fastapi import APIRouter, Body, Path, Query, Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from incognote.errors import AlreadyDecided, NotReleased, RecordProblem, UnknownName, UsageError
from incognote.formats.audio.document import AudioDocument
from incognote.formats.images.document import ImageDocument
from incognote.formats.pictures import PagedDocument, pages_of, picture_of
from incognote.nouns import Replacement, Result, Span, Text
from incognote.reasons import reason_texts
from incognote.schemas.catalogue import catalogue
from incognote.service.api.access import Anybody, Context, Revealer, Reviewer
from incognote.service.api.context import ApiContext
from incognote.service.api.keys import Caller
from incognote.service.api.messages import After, Limit, Why, why
from incognote.service.api.problems import Refused, answers
from incognote.service.api.revealroutes import agreed
from incognote.service.api.reviewmarks import (
    boxes_changed,
    document_of_id,
    opened_document,
    output_page,
    region_told,
    regions_of,
    spans_of,
)
from incognote.service.api.reviewmodels import (
    Assignment,
    Comment,
    CommentShown,
    EntityTypeShown,
    Marks,
    Me,
    PagePicture,
    PageShown,
    Preview,
    PreviewMark,
    PreviewText,
    Queue,
    QueueLine,
    QueueSearch,
    ReasonShown,
    Record,
    Reviewers,
    ReviewState,
    SpanShown,
    TextShown,
    ToDecide,
)
from incognote.service.review import DecidedCase, ReviewDecision, corrected
from incognote.service.review.cases import texts_with, unmendable
from incognote.service.review.decided import gold
from incognote.service.review.filtering import QueueFilter
from incognote.service.review.nouns import QueueEntry, check_spans

routes = APIRouter(prefix="/v1", tags=["review"])
ItemId = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
_NOT_SHOWN = "this page cannot be shown"
Release = Annotated[
    str | None, Query(max_length=255, pattern="^[A-Za-z0-9][A-Za-z0-9._/-]*$", description="Name of a release.")
]
Approval = Annotated[str | None, Query(pattern="^[0-9a-f]{16}$", description="Id of the approved request.")]


@routes.get("/me", responses=answers())
def me(request: Request) -> Me:
    """Get the name and the roles of the key. The name is empty without a key."""
    caller: Caller | None = request.state.caller
    return Me(name="", roles=[]) if caller is None else Me(name=caller.name, roles=sorted(caller.roles))


@routes.get("/types", responses=answers())
def types(caller: Anybody) -> list[EntityTypeShown]:
    """List the entity types."""
    return [
        EntityTypeShown(name=name, group=kind.group, parent=kind.parent, about=kind.about, pixels=kind.pixels)
        for name, kind in catalogue().items()
    ]


@routes.get("/reasons", responses=answers())
def reasons(caller: Anybody) -> list[ReasonShown]:
    """List all reason codes in plain words."""
    return [ReasonShown(code=code, **asdict(text)) for code, text in reason_texts().items()]


@routes.get("/reviewers", responses=answers())
def reviewers(context: Context, caller: Reviewer) -> Reviewers:
    """List the people to whom a record can be assigned."""
    return Reviewers(names=_reviewers(context))


@routes.get("/review", responses=answers())
def queue(
    context: Context,
    caller: Reviewer,
    state: Annotated[ReviewState, Query(description="State of the records.")] = "waiting",
    after: After = 0,
    limit: Limit = 50,
    release: Release = None,
) -> Queue:
    """List the queue, oldest first."""
    return _page(context, QueueFilter(state, release), after, None, limit)


@routes.post("/review/search", responses=answers())
def search(asked: Annotated[QueueSearch, Body()], context: Context, caller: Reviewer) -> Queue:
    """List the records that match a filter, oldest first."""
    until = (datetime.now(UTC) - timedelta(days=asked.days)).isoformat(timespec="seconds") if asked.days else None
    only = QueueFilter(asked.state, asked.release, asked.reason, asked.find, until, asked.assignee)
    return _page(context, only, asked.after, asked.before, asked.limit)


@routes.get("/review/{id}", responses=answers(404))
def record(id: ItemId, context: Context, caller: Reviewer) -> Record:
    """Get one record with its texts. The view is logged."""
    context.queue.entry(id)
    context.audit.append("review.opened", item=id, by=caller.name)
    context.telemetry.tell("review.opened", item=id)
    opened = context.queue.open(id)
    return Record(
        entry=_line(opened.entry),
        texts=[TextShown(field=text.field, content=text.content) for text in opened.case.texts],
        spans=_found(opened.spans),
        regions=[region_told(region) for region in opened.regions],
        sound=isinstance(opened_document(context, opened), AudioDocument),
        doubts=_found(opened.case.doubts),
        reasons=[Why(**why(reason)) for reason in opened.case.reasons],
        revision=_revision(opened),
        approvable=not unmendable(opened.case),
        comments=_comments(context, id),
    )


@routes.get("/review/{id}/pages", responses=answers(404))
def pages(id: ItemId, context: Context, caller: Reviewer) -> list[PageShown]:
    """List the pages of which there are pictures. The list is empty for a record without pages."""
    document = document_of_id(context, id)
    if document is None:
        return []
    return [
        PageShown(
            within=page.within.rstrip("/"), number=page.number, **page.text._asdict(),
            takes_regions=isinstance(document, ImageDocument) and not page.within,
        )
        for page in pages_of(document)
    ]


@routes.get("/review/{id}/pages/{index}", responses=answers(404))
def picture(
    id: ItemId, index: Annotated[int, Path(ge=0, le=2**31)], context: Context, caller: Reviewer
) -> PagePicture:
    """Get the picture of a page by its position in the list of pages, from 0. The view is logged."""
    document = document_of_id(context, id)
    context.audit.append("text.viewed", item=id, by=caller.name)
    if document is None or index >= len(pages_of(document)):
        raise UnknownName("page", str(index))
    shown = picture_of(document, index)
    if shown is None:
        raise UsageError(_NOT_SHOWN)
    png = base64.b64encode(shown.png).decode()
    return PagePicture(png=png, width=shown.width, height=shown.height, boxes=list(shown.boxes))


@routes.post("/review/{id}/preview", responses=answers(404, 501))
async def preview(id: ItemId, asked: Annotated[Marks, Body()], context: Context, caller: Reviewer) -> Preview:
    """Preview the result of an approval with these spans."""
    texts, result = await _approved(context, id, asked, caller)
    output = result.content
    return Preview(
        output=output if isinstance(output, str) else "" if b"\0" in output else output.decode("utf-8", "replace"),
        texts=[_replaced(text, result.replacements) for text in texts],
    )


@routes.post("/review/{id}/preview/pages/{number}", responses=answers(404, 501))
async def released_page(
    id: ItemId, number: Annotated[int, Path(ge=1, le=2**31)], asked: Annotated[Marks, Body()], context: Context,
    caller: Reviewer,
) -> PagePicture:  # fmt: skip
    """Get the picture of a page, by its number, as an approval with these spans would release it."""
    document = await run_in_threadpool(document_of_id, context, id)
    if not isinstance(document, PagedDocument) or number > len(document.pages):
        raise UnknownName("page", str(number))
    _, result = await _approved(context, id, asked, caller)
    try:
        return await run_in_threadpool(output_page, document, cast(bytes, result.content), number)
    except (OSError, ValueError, subprocess.SubprocessError, RecordProblem):
        raise UsageError(_NOT_SHOWN) from None


async def _approved(context: ApiContext, id: str, asked: Marks, caller: Caller) -> tuple[Sequence[Text], Result]:
    """Return the texts of a record, and the result of an approval with these spans. The view is logged.

    Raises:
        UsageError: there is no output.
    """
    opened = await run_in_threadpool(context.queue.open, id)
    await run_in_threadpool(context.audit.append, "text.viewed", item=id, by=caller.name)
    spans = check_spans(opened.case, spans_of(opened.case, asked.spans))
    regions = await run_in_threadpool(regions_of, context, opened, asked.regions)
    engine = await run_in_threadpool(context.engine, _operation(opened))
    result = await corrected(engine, opened.case, spans, regions=regions)
    try:
        _ = result.content
    except NotReleased as held:
        raise UsageError(str(held)) from None
    return texts_with(opened.case, regions), result


@routes.put("/review/{id}/assignment", responses=answers(404))
def assign(id: ItemId, asked: Annotated[Assignment, Body()], context: Context, caller: Reviewer) -> QueueLine:
    """Assign a record to a person, or remove the assignment."""
    if asked.assignee not in (None, caller.name, *_reviewers(context)):
        raise UsageError("assignee: no active API key with the role review or approve has this name")
    context.queue.entry(id)
    if asked.assignee is None:
        context.audit.append("review.unassigned", item=id, by=caller.name)
    else:
        context.audit.append("review.assigned", item=id, assignee=asked.assignee, by=caller.name)
    return _line(context.queue.assign(id, asked.assignee))


@routes.post("/review/{id}/comments", responses=answers(404))
def comment(id: ItemId, asked: Annotated[Comment, Body()], context: Context, caller: Reviewer) -> list[CommentShown]:
    """Add a comment to a record. It is stored encrypted. The audit log records that it was made, but not its text."""
    context.queue.entry(id)
    context.audit.append("review.commented", item=id, by=caller.name)
    context.queue.comment(id, asked.text.strip(), caller.name)
    return _comments(context, id)


@routes.put("/review/{id}/proposal", responses=answers(404, 409))
def propose(id: ItemId, asked: Annotated[Marks, Body()], context: Context, caller: Reviewer) -> QueueLine:
    """Store corrected spans for the person who decides."""
    opened = context.queue.open(id)
    spans = check_spans(opened.case, spans_of(opened.case, asked.spans))
    regions = regions_of(context, opened, asked.regions)
    if opened.entry.state == "waiting":
        context.audit.append("review.proposed", item=id, spans=len(spans) + len(regions), by=caller.name)
    return _line(context.queue.propose(id, spans, caller.name, regions))


@routes.post("/review/{id}/decision", responses=answers(404, 409))
def decide(
    id: ItemId, asked: Annotated[ToDecide, Body()], context: Context, caller: Reviewer, request: Request
) -> QueueLine:
    """Approve or reject a record.

    An approved record is delivered with these spans. Approval requires the role approve. A rejected record goes to
    quarantine.
    """
    if asked.outcome == "approve" and "approve" not in caller.roles:
        raise Refused(403, "this key lacks the role approve: it can save a proposal, or reject")
    opened = context.queue.open(id)
    if asked.outcome == "approve" and unmendable(opened.case):
        raise UsageError("spans cannot fix the reason of this record: reject it, fix the cause, run it again")
    unseen = opened.entry.by is not None and asked.revision is None and asked.spans is None
    unseen |= asked.revision not in (None, _revision(opened))
    if unseen and asked.outcome == "approve" and opened.entry.state == "waiting":
        raise Refused(409, "somebody corrected the spans. Open the record again, and send its spans or revision")
    spans = opened.spans if asked.spans is None else check_spans(opened.case, spans_of(opened.case, asked.spans))
    regions = regions_of(context, opened, asked.regions)
    if opened.entry.state == "waiting":  # logged first, since an action that cannot be logged must not happen
        boxes = boxes_changed(context, opened, spans, regions)
        context.audit.append("review.decided", item=id, outcome=asked.outcome, by=caller.name, **boxes)
    try:
        entry = context.queue.decide(id, ReviewDecision(asked.outcome, spans, regions), caller.name)
    except AlreadyDecided:
        if opened.entry.state == "waiting":  # another decision was slightly faster, and the log must not show two
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
    """Export decisions as a gold corpus for `incognote evaluate`, one JSON line per text. The export is logged.

    If two people must agree (`reveal_approvals = 2`), set `approval` to the ID of a request from /v1/reveals.
    """
    used = agreed(context, caller, approval, release)
    context.audit.append("review.exported", records=context.queue.counts(release)["approved"], by=caller.name, **used)
    return StreamingResponse(gold(context.queue, release), media_type="application/x-ndjson")


def _page(context: ApiContext, only: QueueFilter, after: int, before: int | None, limit: int) -> Queue:
    found = context.queue.search(only, after=after, before=before, limit=limit)
    return Queue(
        entries=[_line(entry) for entry in found],
        counts={str(state): count for state, count in context.queue.counts(only.release).items()},
        total=context.queue.matches(only),
        next=found[-1].number if len(found) == limit else None,
    )


def _reviewers(context: ApiContext) -> list[str]:
    return sorted(key.name for key in context.keys.active() if {"review", "approve"} & set(key.roles))


def _comments(context: ApiContext, id: str) -> list[CommentShown]:
    return [CommentShown(by=one.by, at=one.at, text=one.text) for one in context.queue.comments(id)]


def _replaced(text: Text, replacements: Sequence[Replacement]) -> PreviewText:
    """Return one text with its replacements written in."""
    content, marks, done = "", [], 0
    for each in sorted((r for r in replacements if r.span.field == text.field), key=lambda r: r.span.start):
        content += text.content[done : each.span.start]
        marks.append(PreviewMark(start=len(content), end=len(content) + len(each.text), type=each.span.type))
        content += each.text
        done = each.span.end
    return PreviewText(field=text.field, content=content + text.content[done:], marks=marks)


def _line(entry: QueueEntry) -> QueueLine:
    return QueueLine(**entry.told())


def _found(spans: Sequence[Span]) -> list[SpanShown]:
    return [
        SpanShown(field=s.field, start=s.start, end=s.end, type=s.type, score=s.score, sources=list(s.sources))
        for s in spans
    ]


def _revision(opened: DecidedCase) -> str:
    return hashlib.sha256(opened.packed()).hexdigest()[:16]


def _operation(opened: DecidedCase) -> Any:
    return opened.case.extra.get("operation", "redact")
