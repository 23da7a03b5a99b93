"""A mask of one length for all, which does not tell how long the identifier was (Arabic de-identification, 4.1.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incognote.nouns import Span
from incognote.operators.base import Operator, Scene


class FixedLength(Operator):
    """`character`, `length` times."""

    name = "fixed-length"

    def replace(self, span: Span, scene: Scene, params: Mapping[str, Any]) -> str:
        character: str = self.param(params, "character")
        length: int = self.param(params, "length")
        return character * length
