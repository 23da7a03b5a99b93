"""/v1/jobs: submit, status, documents, cancel, delete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request, Response
from starlette.concurrency import run_in_threadpool

from incognote.agents.item import packed
from incognote.errors import UsageError
from incognote.service.api.access import Context, Submitter
from incognote.service.api.jobs import ApiJob
from incognote.service.api.messages import (
    After,
    DocumentList,
    JobList,
    JobTold,
    Limit,
    ToSubmit,
    raw_body,
    raw_member,
    written,
)
from incognote.service.api.problems import answers

routes = APIRouter(prefix="/v1/jobs", tags=["jobs"])
JobId = Annotated[str, Path(pattern="^[0-9a-f]{16}$", description="Id of the job.")]


@routes.post("", status_code=202, responses=answers(501))
async def submit(asked: Annotated[ToSubmit, Body()], context: Context, caller: Submitter, request: Request) -> JobTold:
    """Submit documents as a job. They are processed one by one. Those that need review join the review queue."""
    most = context.settings.service.api_documents
    if len(asked.documents) > most:
        raise UsageError(f"documents: at most {most} in one job (service.api_documents)")
    body = await raw_body(request)
    raws = [raw_member(body, "documents", i, "record") for i in range(len(asked.documents))]
    items = [document.item(raw) for document, raw in zip(asked.documents, raws, strict=True)]

    def take() -> ApiJob:
        context.engine(asked.operation)  # raises now if it is not configured
        job = context.jobs.submit(caller.name, asked.operation, [packed(item) for item in items])
        context.audit.append("job.submitted", job=job.id, records=len(items), by=caller.name)
        return job

    job = await run_in_threadpool(take)
    context.telemetry.tell("job.submitted", job=job.id, records=len(items))
    request.app.state.runner.wake()
    return _told(job)


@routes.get("", responses=answers())
def jobs(context: Context, caller: Submitter, after: After = 0, limit: Limit = 50) -> JobList:
    """List your own jobs, oldest first."""
    found = context.jobs.list(caller.name, after=after, limit=limit)
    return JobList(jobs=[_told(job) for job in found], next=found[-1].number if len(found) == limit else None)


@routes.get("/{id}", responses=answers(404))
def job(id: JobId, context: Context, caller: Submitter) -> JobTold:
    """Get the state of a job. `done` means that no document is waiting. Some may be in review."""
    return _told(context.jobs.job(id, caller.name))


@routes.get("/{id}/documents", responses=answers(404), response_model=DocumentList)
def documents(id: JobId, context: Context, caller: Submitter, after: After = 0, limit: Limit = 50) -> Response:
    """List the documents of a job in order. Each document includes its result as soon as there is one."""
    found = context.jobs.documents(id, caller.name, after=after, limit=limit)
    told = ", ".join(
        f'{{"number": {d.number}, "state": "{d.state}", "answer": {"null" if d.answer is None else _answer(d.answer)}}}'
        for d in found
    )
    next_ = found[-1].number if len(found) == limit else "null"
    return Response(f'{{"documents": [{told}], "next": {next_}}}', media_type="application/json")


@routes.post("/{id}/cancel", responses=answers(404))
def cancel(id: JobId, context: Context, caller: Submitter) -> JobTold:
    """Stop a job. Documents that were already processed are kept."""
    job = context.jobs.cancel(id, caller.name)
    context.audit.append("job.cancelled", job=job.id, by=caller.name)
    return _told(job)


@routes.delete("/{id}", status_code=204, responses=answers(404))
def delete(id: JobId, context: Context, caller: Submitter) -> Response:
    """Delete a job and its results. Documents in review stay there until they are decided."""
    context.jobs.job(id, caller.name)
    context.audit.append("job.deleted", job=id, by=caller.name)
    context.jobs.delete(id, caller.name)
    return Response(status_code=204)


def _answer(answer: Mapping[str, Any]) -> str:
    told = {name: value for name, value in answer.items() if name != "raw"}
    return written(told, answer.get("raw"))


def _told(job: ApiJob) -> JobTold:
    words = asdict(job)
    del words["owner"]
    return JobTold(**words)


