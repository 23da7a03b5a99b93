"""Explain a policy type by type, with an invented example of each: for `incognote policy explain`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from incognote.keys import KEY_BYTES, Keyring
from incognote.languages import language
from incognote.nouns import Span, Text
from incognote.operators.apply import apply
from incognote.operators.base import OperatorContext
from incognote.schemas.catalogue import catalogue
from incognote.schemas.choices import Policy


@dataclass(frozen=True, slots=True)
class Row:
    """One entity type in a policy. `operator` is None if the policy does not touch the type.

    Attributes:
        served_as: the listed type whose choice applies to this type.
        hipaa: the letter of 45 CFR 164.514(b)(2)(i) that names the type, or "".
        example, result: an invented sentence before and after the replacement.
    """

    type: str
    served_as: str | None
    operator: str | None
    params: Mapping[str, Any]
    threshold: float | None
    hipaa: str
    example: str
    result: str


def explain(policy: Policy) -> list[Row]:
    """Return one row for each type of the catalogue, in its order. Keyed examples use a dummy key."""
    return [_row(name, policy) for name in catalogue()]


def _row(name: str, policy: Policy) -> Row:
    before, _, rest = _example(name).partition("⟦")
    value, _, after = rest.partition("⟧")
    text = Text(before + value + after)
    span = Span(text, len(before), len(before) + len(value), name)
    keyring = Keyring(bytes(KEY_BYTES), persistent=False)
    context = OperatorContext(text, (span,), keyring, "example", "example", policy.serves)
    result, _, _ = apply(text, (span,), policy, context)
    choice = policy.choice(name)
    return Row(
        name, policy.serves(name), choice.operator if choice else None, choice.params if choice else {},
        choice.threshold if choice else None, catalogue()[name].hipaa, text.content, result,
    )


def _example(name: str) -> str:
    """Return an invented sentence: the type's own, or its nearest ancestor's, or one made from its description."""
    listed = next((step for step in catalogue().lineage(name) if step in _examples()), None)
    return _examples()[listed] if listed else f"{catalogue()[name].about}: ⟦QX-4417⟧"


@cache
def _examples() -> Mapping[str, str]:
    return language("en").table("words", "examples.toml")
