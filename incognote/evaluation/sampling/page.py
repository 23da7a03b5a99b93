"""The page on which one reviewer reads a set: one file, nothing from outside, decisions kept in the browser."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from incognote.schemas.catalogue import catalogue

KIND = "incognote-review"


def review_page(items: Sequence[dict[str, Any]], name: str, reviewer: int) -> str:
    """The page of one set.

    Its content security policy lets run the one script and the one style that are in it, by their hashes, and no
    request leave.

    Args:
        items: `{"id", "text"}`, in the order they are shown.
        name: of the set; decisions carry it.
        reviewer: from 1.
    """
    told = {"kind": KIND, "set": name, "reviewer": reviewer, "types": types(), "items": list(items)}
    data = json.dumps(told, ensure_ascii=False).replace("<", "\\u003c")  # nothing in a note closes the element
    style, script = _part("review.css"), _part("review.js")
    page = _part("review.html")
    allowed = f"script-src {_source(script)}; style-src {_source(style)}"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    for mark, content in (("@policy@", policy), ("@style@", style), ("@script@", script), ("@data@", data)):
        head, tail = page.split(mark)  # each stands once; what is put in is not looked through again: data comes last
        page = head + content + tail
    return page


def types() -> list[str]:
    """What a leak can be marked as: the evaluation groups."""
    return list(dict.fromkeys(kind.group for kind in catalogue().values()))


@cache
def _part(name: str) -> str:
    return files("incognote.evaluation.sampling").joinpath(name).read_text(encoding="utf-8")


def _source(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
