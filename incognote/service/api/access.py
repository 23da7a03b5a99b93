"""Who may do what: a role for each operation, beside the key that the gate has looked at."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from incognote.service.api.desk import Desk
from incognote.service.api.keys import Caller
from incognote.service.api.problems import Refused

_BEARER = HTTPBearer(auto_error=False, scheme_name="ApiKey", description="made by `incognote key api new`")


def desk_of(request: Request) -> Desk:
    """What the application works with."""
    desk: Desk = request.app.state.desk
    return desk


def needs(*roles: str) -> Any:
    """A dependency: the caller, if it has one of the roles; any role where none is named.

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


TheDesk = Annotated[Desk, Depends(desk_of)]
Submitter = Annotated[Caller, needs("submit")]
Reviewer = Annotated[Caller, needs("review", "approve")]
Approver = Annotated[Caller, needs("approve")]
Revealer = Annotated[Caller, needs("reveal")]
Anybody = Annotated[Caller, needs()]
