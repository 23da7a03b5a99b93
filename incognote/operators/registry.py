"""All operators by name, and the definitions of the short ones.

The masks are those of Arabic de-identification, section 4.1.5. The label is RedactOR's, section A.9.4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from incognote.nouns import Span
from incognote.operators.base import Operator, OperatorContext, label
from incognote.operators.date_shift import DateShift
from incognote.operators.generalize import Generalize
from incognote.operators.hash import Hash
from incognote.operators.intelligent import Intelligent
from incognote.plugins import installed, load

_NO_LINE_BREAK = re.compile(r"[^\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")


class Label(Operator):
    """Writes `[PERSON]`. `name` puts another word between the brackets."""

    name = "label"

    def replace(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str:
        name = self.param(params, "name")
        return f"[{name}]" if name else label(span, context)


class SameLength(Operator):
    """Writes one `character` for each code point. Line breaks are kept."""

    name = "same-length"

    def replace(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str:
        character: str = self.param(params, "character")
        return _NO_LINE_BREAK.sub(lambda _: character, span.text)


class FixedLength(Operator):
    """Writes `character` `length` times."""

    name = "fixed-length"

    def replace(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str:
        character: str = self.param(params, "character")
        length: int = self.param(params, "length")
        return character * length


class Keep(Operator):
    """Leaves the span unchanged."""

    name = "keep"

    def replace(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> None:
        return None


class SurrogateOperator(Operator):
    """Writes a surrogate of the same kind, the same in all notes, or the label if the span has no surrogate."""

    name = "surrogate"

    def replace(self, span: Span, context: OperatorContext, params: Mapping[str, Any]) -> str:
        found = context.surrogates.get(span)
        return found[0] if found else label(span, context)

    def identity(self, span: Span, context: OperatorContext) -> str | None:
        found = context.surrogates.get(span)
        return found[1] if found else None


@cache
def operators() -> Mapping[str, Operator]:
    """Return one instance of each built-in and installed operator. They are stateless."""
    every: tuple[Operator, ...] = (
        Label(), SameLength(), FixedLength(), Hash(), DateShift(), Generalize(), Keep(), Intelligent(),
        SurrogateOperator(), *(load("incognote.operators", name)() for name in installed("incognote.operators")),
    )  # fmt: skip
    return MappingProxyType({operator.name: operator for operator in every})
