"""Addresses of fields: `note`, `contact[0].name.family`, `["odd.name"]`. Two fields never share one."""

from __future__ import annotations

import json
import re

_ODD = re.compile(r'[.\[\]"]')
_NAME_LIKE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,40}")
MOST_DIGITS = 3


def child(path: str, name: str) -> str:
    """The path of a member; a name that holds a dot, bracket or quote, or is empty, is written in `["…"]`."""
    if not name or _ODD.search(name):
        return f"{path}[{json.dumps(name)}]"
    return f"{path}.{name}" if path else name


def item(path: str, index: int | None) -> str:
    """The path of an item of an array; None stands for any of them: `tags[]`."""
    return f"{path}[{'' if index is None else index}]"


def looks_like_name(key: str) -> bool:
    """Whether a key may be a field's name rather than data: a short word with at most three digits."""
    return _NAME_LIKE.fullmatch(key) is not None and sum(c.isdigit() for c in key) <= MOST_DIGITS


def spoken(key: str, position: int, what: str = "member") -> str:
    """How a message names a key that no schema knows: itself if it looks like a name, else by its position (from 1)."""
    return f"{what} {key!r}" if looks_like_name(key) else f"{what} {position}"
