"""Access control: a role for each operation, in addition to the key that the gate checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from incognote.service.api.context import ApiContext
from incognote.service.api.keys import Caller
from incognote.service.api.problems import Refused

_BEARER = HTTPBearer(auto_error=False, scheme_name="ApiKey", description="made by `incognote key api new`")


def context_of(request: Request) -> ApiContext:
    """Return the context of the application."""
    context: ApiContext = request.app.state.context
    return context


def plain_query(request: Request) -> None:
    """A dependency of every operation. It refuses an unknown query parameter, and a parameter given twice.

    Otherwise a misspelled filter would be ignored, and the answer misunderstood.

    Raises:
        Refused: the query contains such a parameter (422).
    """
    known = {name.alias for name in _query(request.scope["route"].dependant)}
    given = [name for name, _ in request.query_params.multi_items()]
    if set(given) - known or len(set(given)) < len(given):
        raise Refused(422, f"the address may have these parameters, each once: {', '.join(sorted(known)) or 'none'}")


def _query(dependant: Any) -> Iterator[Any]:
    yield from dependant.query_params
    for inner in dependant.dependencies:
        yield from _query(inner)


def needs(*roles: str) -> Any:
    """Return a dependency that yields the caller if it has one of the roles. Without roles, any caller is accepted.

    Raises:
        Refused: it has none of them (403).
    """

    def check(
        request: Request, _: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)] = None
    ) -> Caller:
        caller: Caller | None = request.state.caller
        if caller is None:
            raise Refused(401, "a valid API key is needed", {"WWW-Authenticate": "Bearer"})
        if roles and not caller.roles & set(roles):
            raise Refused(403, f"this key lacks the role {' or '.join(roles)}")
        return caller

    return Depends(check)


Context = Annotated[ApiContext, Depends(context_of)]
Submitter = Annotated[Caller, needs("submit")]
Reviewer = Annotated[Caller, needs("review", "approve")]
Approver = Annotated[Caller, needs("approve")]
Revealer = Annotated[Caller, needs("reveal")]
Anybody = Annotated[Caller, needs()]
