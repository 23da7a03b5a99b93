"""What relexicalization made of a span (incognote/relex); it was asked before, for all spans of a record at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incognote.nouns import Span
from incognote.operators.base import Operator, Scene, label


class Surrogate(Operator):
    """Another of the same kind, the same in all notes; the label where the loop was not asked about the span."""

    name = "surrogate"

    def replace(self, span: Span, scene: Scene, params: Mapping[str, Any]) -> str:
        found = scene.surrogates.get(span)
        return found[0] if found else label(span, scene)

    def identity(self, span: Span, scene: Scene) -> str | None:
        found = scene.surrogates.get(span)
        return found[1] if found else None
