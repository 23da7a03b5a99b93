"""A mask as long as the identifier, which keeps the layout of a page (Arabic de-identification, section 4.1.5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from incognote.nouns import Span
from incognote.operators.base import Operator, Scene

_NO_LINE_BREAK = re.compile(r"[^\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")


class SameLength(Operator):
    """One `character` for each code point; line breaks stay."""

    name = "same-length"

    def replace(self, span: Span, scene: Scene, params: Mapping[str, Any]) -> str:
        character: str = self.param(params, "character")
        return _NO_LINE_BREAK.sub(lambda _: character, span.text)
