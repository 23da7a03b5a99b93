"""The text that a request asks about, its length, and what can come instead of a reply."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Literal

from incognote.llm.base import Reply, Request

CHARACTERS_A_TOKEN = 4
_FENCED = re.compile(r"^(=== [0-9a-f]{16} ===)\n(.*)\n\1$", re.DOTALL | re.MULTILINE)

Kind = Literal["status", "hang", "drop", "cut", "slow"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """An endpoint's failure to answer normally.

    Args:
        kind: `status` (an error response), `hang` (silence with the connection open), `drop` (closed before a byte of
            the response), `cut` (closed in the middle of the body), `slow` (a whole reply, piece by piece).
        status: of an error response.
        code: the error's code in the body, as OpenAI names it.
        retry_after: seconds for the Retry-After header; None omits it.
        seconds: how long a hang lasts before the connection is closed, or over what time a slow reply is spread.
        reply: the reply that `cut` begins and `slow` completes.
    """

    kind: Kind
    status: int = 0
    code: str = ""
    retry_after: float | None = None
    seconds: float = 0.0
    reply: Reply | None = field(default=None, repr=False)


Act = Reply | Trouble
"""The response of a test double to one request."""


def text_of(request: Request) -> str:
    """Return the text a request asks about.

    It is between the fences of the last fenced user message, or else the whole message. A later user message without a
    fence (after a bad reply) is ignored.
    """
    asked = [message.content for message in request.messages if message.role == "user"]
    for content in reversed(asked):
        if fenced := _FENCED.search(content):
            return fenced.group(2)
    return asked[-1] if asked else ""


def tokens(text: str) -> int:
    """Estimate tokens: the words between white space or a quarter of the characters (rounded up), whichever is more."""
    return max(len(text.split()), math.ceil(len(text) / CHARACTERS_A_TOKEN))
