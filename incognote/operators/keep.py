"""Leaving a span as it stands; it is listed as kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incognote.nouns import Span
from incognote.operators.base import Operator, Scene


class Keep(Operator):
    """Always None."""

    name = "keep"

    def replace(self, span: Span, scene: Scene, params: Mapping[str, Any]) -> None:
        return None
