"""The reviewer's page: one file, nothing from outside, decisions saved as a file by the reader's own hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from incognote.schemas.catalogue import catalogue


def page(rows: Sequence[dict[str, Any]]) -> str:
    """The page for these items. It quotes notes: PHI.

    Args:
        rows: as in `items.jsonl`.
    """
    template = files("incognote.evaluation.lab").joinpath("review.html").read_text(encoding="utf-8")
    return template.replace("/*ITEMS*/[]", _inert(rows)).replace("/*TYPES*/[]", _inert(sorted(catalogue())))


def _inert(value: object) -> str:
    """JSON that ends no script, whatever a note holds."""
    written = json.dumps(value, ensure_ascii=False)
    for sign in ("<", ">", "&", "\u2028", "\u2029"):
        written = written.replace(sign, f"\\u{ord(sign):04x}")
    return written
