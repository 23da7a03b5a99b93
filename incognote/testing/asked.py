"""What a request asks about, and how long it is."""

from __future__ import annotations

import math
import re

from incognote.llm.base import Request

CHARACTERS_A_TOKEN = 4
_FENCED = re.compile(r"^(=== [0-9a-f]{16} ===)\n(.*)\n\1$", re.DOTALL | re.MULTILINE)


def text_of(request: Request) -> str:
    """The text a request asks about: between the fence lines of its last fenced user message, else that message whole.

    A later user message without a fence (a bad reply is asked about again) is passed over.
    """
    asked = [message.content for message in request.messages if message.role == "user"]
    for content in reversed(asked):
        if fenced := _FENCED.search(content):
            return fenced.group(2)
    return asked[-1] if asked else ""


def tokens(text: str) -> int:
    """A rough count: the words between white space or a quarter of the characters (rounded up), whichever is more."""
    return max(len(text.split()), math.ceil(len(text) / CHARACTERS_A_TOKEN))
