"""The type's name in brackets, as RedactOR writes it (section A.9.4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incognote.nouns import Span
from incognote.operators.base import Operator, Scene, label


class Label(Operator):
    """`[PERSON]`; `name` puts another word between the brackets."""

    name = "label"

    def replace(self, span: Span, scene: Scene, params: Mapping[str, Any]) -> str:
        name = self.param(params, "name")
        return f"[{name}]" if name else label(span, scene)
