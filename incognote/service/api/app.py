"""The application: routes, pages, gate."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from fastapi import Depends, FastAPI, Response
from pydantic import BaseModel

from incognote.agents.manifest import incognote_version
from incognote.service.api import (
    adhoc,
    anonymizing,
    deidentify,
    health,
    jobroutes,
    messages,
    presidio,
    problems,
    revealroutes,
    reviewroutes,
    schemaroutes,
)
from incognote.service.api.access import plain_query
from incognote.service.api.context import ApiContext
from incognote.service.api.gate import Gate
from incognote.service.api.runner import Runner

_PAGES = {
    "": ("index.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/api.js": ("api.js", "text/javascript"),
    "/dom.js": ("dom.js", "text/javascript"),
    "/marks.js": ("marks.js", "text/javascript"),
    "/record.js": ("record.js", "text/javascript"),
    "/schemas.js": ("schemas.js", "text/javascript"),
    "/dashboard.js": ("dashboard.js", "text/javascript"),
    "/queue.js": ("queue.js", "text/javascript"),
    "/panel.js": ("panel.js", "text/javascript"),
    "/main.js": ("main.js", "text/javascript"),
}
_ROUTES = (presidio, deidentify, jobroutes, reviewroutes, revealroutes, schemaroutes, health)
_ABOUT = (
    "De-identification of clinical texts and records. An answer whose verdict is not `release` holds no text. "
    "Offsets are Unicode code points. Errors are problem+json (RFC 9457) and repeat nothing of a request."
)


def application(context: ApiContext, *, token: str | None = None) -> Gate:
    """The API as ASGI.

    Args:
        context: closed by its owner.
        token: as of `Gate`.
    """

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        runner = app.state.runner = Runner(context)
        context.audit.append("api.started")
        context.telemetry.tell("api.started")
        runner.start()
        yield
        await runner.stop()
        context.telemetry.tell("api.stopped")
        context.audit.append("api.stopped")

    app = FastAPI(
        title="incognote",
        version=incognote_version(),
        description=_ABOUT,
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        lifespan=living,
        redirect_slashes=False,  # a redirect would repeat the path
    )
    app.state.context = context
    for module in _ROUTES:
        app.include_router(module.routes, dependencies=[Depends(plain_query)])
    for path, (name, kind) in _PAGES.items():
        app.add_api_route(f"/review{path}", _page(name, kind), methods=["GET"], include_in_schema=False)
    problems.speak(app, frozenset(_members()))
    _describe(app)
    return Gate(app, context, token=token)


def _page(name: str, kind: str) -> Any:
    data = files("incognote.service.review").joinpath("page", name).read_bytes()

    async def page() -> Response:
        return Response(data, media_type=kind)

    return page


def _members() -> Iterator[str]:
    """Every name that a request can have by our own words."""
    yield from ("body", "query", "path", "header")
    for module in (adhoc, anonymizing, presidio, messages, reviewroutes, revealroutes, schemaroutes):
        for made in vars(module).values():
            if isinstance(made, type) and issubclass(made, BaseModel):
                yield from made.model_fields
    yield from ("id", "data_type", "after", "limit", "state", "release", "language", "approval")


def _describe(app: FastAPI) -> None:
    """Add what every answer can be, and take out FastAPI's own error, which is none of ours."""
    made = app.openapi()
    schemas = made["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Fault"] = problems.Fault.model_json_schema()
    told = problems.Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    told.pop("$defs", None)
    schemas["Problem"] = told
    for path in made["paths"].values():
        for operation in path.values():
            found = operation["responses"].get("422", {}).get("content", {}).get("application/json", {})
            if found.get("schema", {}).get("$ref", "").endswith("HTTPValidationError"):
                operation["responses"]["422"] = problems.answers()[422]
    made["paths"] = {path: made["paths"][path] for path in sorted(made["paths"])}
