"""Replies from a file of JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

from incognote.errors import UsageError
from incognote.jsonlines import read_rows
from incognote.testing.answers import Replies


def read_replies(path: str | Path, *, otherwise: str | None = None) -> Replies:
    """A table of replies from a file.

    Each line is `{"note": TEXT, "reply": REPLY}` or `{"address": ADDRESS, "model": NAME, "reply": REPLY}`: the text
    asked about word for word, or the request's address and the name of the model under which it was computed. A reply
    is a text or a JSON object.

    Args:
        otherwise: the reply to what no line holds; None refuses it.

    Raises:
        UsageError: the file cannot be read, or a line is not such an object. The message gives the line's number.
    """
    table: dict[str, str] = {}
    models: dict[str, None] = {}
    for number, said in read_rows(path, "the file of replies"):
        try:
            key = said["note"] if "note" in said else said["address"]
            reply = said["reply"]
        except (KeyError, TypeError):
            raise UsageError(f"line {number}: a line holds note or address, and reply") from None
        if not isinstance(key, str) or not isinstance(reply, str | dict):
            raise UsageError(f"line {number}: note and address are texts, a reply is a text or an object")
        table[key] = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        models[str(said.get("model", ""))] = None
    return Replies(table, models=tuple(models), otherwise=otherwise)
