"""The application: routes, pages, gate."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePath
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
    reviewmodels,
    reviewroutes,
    reviewsound,
    schemaroutes,
    tryroutes,
)
from incognote.service.api.access import plain_query
from incognote.service.api.context import ApiContext
from incognote.service.api.gate import Gate
from incognote.service.api.runner import Runner

_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_PAGES = (
    ("/", "/try", "incognote.service.api", "trypage"),
    ("/review", "/review", "incognote.service.review", "page"),
)
"""For each page: its address, the address of its files, package and folder."""
_ROUTES = (presidio, deidentify, jobroutes, reviewroutes, reviewsound, revealroutes, schemaroutes, health, tryroutes)
_ABOUT = (
    "De-identify clinical notes and records over HTTP. A response contains text only if its verdict is `release`. "
    "Offsets count Unicode code points. Errors are problem+json (RFC 9457) and contain no value of the request."
)


def application(context: ApiContext, *, token: str | None = None) -> Gate:
    """Return the API as an ASGI application.

    Args:
        context: its owner must close it.
        token: as in `Gate`.
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
        docs_url=None,  # they load scripts from other sites
        redoc_url=None,
        lifespan=living,
        redirect_slashes=False,  # a redirect would repeat the path
    )
    app.state.context = context
    for module in _ROUTES:
        app.include_router(module.routes, dependencies=[Depends(plain_query)])
    for index, address, package, folder in _PAGES:
        for file in files(package).joinpath(folder).iterdir():
            path = index if file.name == "index.html" else f"{address}/{file.name}"
            app.add_api_route(path, _page(file), methods=["GET"], include_in_schema=False)
    problems.speak(app, frozenset(_members()))
    _describe(app)
    return Gate(app, context, token=token)


def _page(file: Traversable) -> Any:
    data, kind = file.read_bytes(), _KINDS[PurePath(file.name).suffix]

    async def page() -> Response:
        return Response(data, media_type=kind)

    return page


def _members() -> Iterator[str]:
    """Yield all names that our own models give to members of a request."""
    yield from ("body", "query", "path", "header")
    for module in (
        adhoc, anonymizing, presidio, messages, reviewmodels, reviewroutes, revealroutes, schemaroutes, tryroutes
    ):  # fmt: skip
        for made in vars(module).values():
            if isinstance(made, type) and issubclass(made, BaseModel):
                yield from made.model_fields
    yield from ("id", "data_type", "after", "limit", "state", "release", "language", "approval")


def _describe(app: FastAPI) -> None:
    """Add the errors that every operation can return, and remove FastAPI's own error, which is not used."""
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
