"""What can come instead of a reply."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from incognote.llm.base import Reply

Kind = Literal["status", "hang", "drop", "cut", "slow"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """An endpoint that does not simply answer.

    Args:
        kind: `status` (an error response), `hang` (silence with the connection open), `drop` (closed before a byte of
            the response), `cut` (closed in the middle of the body), `slow` (a whole reply, piece by piece).
        status: of an error response.
        code: the error's code in the body, as OpenAI names it.
        retry_after: seconds for the Retry-After header; None leaves it out.
        seconds: how long a hang lasts before the connection is closed, or over what time a slow reply is spread.
        reply: what `cut` begins and `slow` finishes.
    """

    kind: Kind
    status: int = 0
    code: str = ""
    retry_after: float | None = None
    seconds: float = 0.0
    reply: Reply | None = field(default=None, repr=False)


Act = Reply | Trouble
"""What a twin does with one request."""
