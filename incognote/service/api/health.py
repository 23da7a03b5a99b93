"""/livez, /readyz, /metrics; /v1/dashboard."""

from __future__ import annotations

import threading
import time
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel

from incognote.errors import IncognoteError
from incognote.service.api.access import Anybody, Reviewer, TheDesk
from incognote.service.api.problems import answers, problem
from incognote.service.audit.verify import entries
from incognote.service.review.dashboard import dashboard

routes = APIRouter(tags=["operation"])
_SECONDS = 10.0
_guard = threading.Lock()


class Up(BaseModel):
    """It is."""

    status: str = "ok"


class Dashboard(BaseModel):
    """What runs have done; nothing in it is PHI."""

    days: list[dict[str, Any]]
    releases: list[dict[str, Any]]
    sentinels: list[dict[str, Any]]
    alarms: list[dict[str, Any]]
    review: dict[str, Any]
    documents: dict[str, int]
    measured: float


@routes.get("/livez")
async def livez() -> Up:
    """Whether the process answers; on the loop, for the threads may all be at work."""
    return Up()


@routes.get("/readyz", responses={503: answers()[503]}, response_model=Up)
def readyz(desk: TheDesk) -> Up | Response:
    """Whether it can serve: engine, database."""
    try:
        desk.deid.ready()
        desk.queue.counts()
    except IncognoteError as error:
        desk.telemetry.unexpected(error)
        return problem(503, "not ready: the log says what does not serve")
    return Up()


@routes.get(
    "/metrics",
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **answers()},
    response_class=Response,
)
def metrics(desk: TheDesk, caller: Anybody) -> Response:
    """Prometheus's text format."""
    desk.telemetry.tell("queue.measured", waiting=desk.queue.counts()["waiting"])
    return Response(desk.telemetry.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@routes.get("/v1/dashboard", responses=answers())
def board(desk: TheDesk, caller: Reviewer) -> Dashboard:
    """Throughput, verdicts, cost, what reviewers caught, sentinel notes. At most ten seconds old."""
    with _guard:
        if desk.board is None or time.monotonic() - desk.board[0] > _SECONDS:
            told = dashboard(entries(desk.audit.folder), desk.queue)
            desk.board = (time.monotonic(), {**told, "documents": desk.jobs.counts(), "measured": time.time()})
        return Dashboard(**desk.board[1])
