"""/livez, /readyz, /metrics; /v1/dashboard."""

from __future__ import annotations

import threading
import time
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel

from incognote.errors import IncognoteError
from incognote.service.api.access import Anybody, Context, Reviewer
from incognote.service.api.problems import answers, problem
from incognote.service.audit.verify import entries
from incognote.service.review.decided import dashboard

routes = APIRouter(tags=["operation"])
_SECONDS = 10.0
_guard = threading.Lock()


class Up(BaseModel):
    """The process is up."""

    status: str = "ok"


class Dashboard(BaseModel):
    """Statistics about the runs, without PHI."""

    days: list[dict[str, Any]]
    releases: list[dict[str, Any]]
    sentinels: list[dict[str, Any]]
    alarms: list[dict[str, Any]]
    review: dict[str, Any]
    documents: dict[str, int]
    measured: float


@routes.get("/livez")
async def livez() -> Up:
    """Check that the process responds."""
    return Up()


@routes.get("/readyz", responses={503: answers()[503]}, response_model=Up)
def readyz(context: Context) -> Up | Response:
    """Check that the engine and the database work."""
    try:
        context.deid.ready()
        context.queue.counts()
    except IncognoteError as error:
        context.telemetry.unexpected(error)
        return problem(503, "not ready: see the server log")
    return Up()


@routes.get(
    "/metrics",
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **answers()},
    response_class=Response,
)
def metrics(context: Context, caller: Anybody) -> Response:
    """Get the metrics in Prometheus text format."""
    context.telemetry.tell("queue.measured", waiting=context.queue.counts()["waiting"])
    return Response(context.telemetry.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@routes.get("/v1/dashboard", responses=answers())
def board(context: Context, caller: Reviewer) -> Dashboard:
    """Get throughput, verdicts, cost, corrections by reviewers, and sentinel notes.

    The figures are at most ten seconds old.
    """
    with _guard:
        if context.board is None or time.monotonic() - context.board[0] > _SECONDS:
            told = dashboard(entries(context.audit.folder), context.queue)
            context.board = (time.monotonic(), {**told, "documents": context.jobs.counts(), "measured": time.time()})
        return Dashboard(**context.board[1])
