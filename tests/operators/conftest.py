"""A text with spans, and the result of applying a policy to it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from incognote.keys import Keyring
from incognote.nouns import Replacement, Span, Text
from incognote.operators.apply import apply
from incognote.operators.base import OperatorContext
from incognote.schemas.policy import Choice, Policy

KEYRING = Keyring(bytes(range(32)))


@dataclass(frozen=True)
class Stage:
    """The result: the new text, the replacements, and the spans that were kept."""

    out: str
    replacements: tuple[Replacement, ...]
    kept: tuple[Span, ...]


def policy_of(**choices: Choice) -> Policy:
    """A policy with only these choices."""
    return Policy("test", "", None, 0.4, 0.5, "hold", choices)


def scene_of(text: Text, spans: tuple[Span, ...], policy: Policy, **more: object) -> OperatorContext:
    """A scene with a fixed key."""
    patient, anchor = more.get("patient", "patient-1"), more.get("anchor")
    assert patient is None or isinstance(patient, str)
    assert anchor is None or isinstance(anchor, dt.date)
    return OperatorContext(text, spans, KEYRING, str(more.get("domain", "clinic")), patient, policy.serves, anchor)


@pytest.fixture(scope="session")
def play() -> Callable[..., Stage]:
    """`play("text with ⟦words⟧", policy, "TYPE", …)`: the marked words are the spans, with the types in order."""

    def played(marked: str, policy: Policy, *types: str, **more: object) -> Stage:
        content, places = "", []
        for piece in marked.split("⟦"):
            words, closed, rest = piece.partition("⟧")
            if closed:
                places.append((len(content), len(content) + len(words)))
            content += words + rest
        text = Text(content)
        assert len(places) == len(types)
        spans = tuple(Span(text, *place, kind) for place, kind in zip(places, types, strict=True))
        return Stage(*apply(text, spans, policy, scene_of(text, spans, policy, **more)))

    return played


@pytest.fixture(scope="session")
def serve() -> Callable[..., str]:
    """`serve("words", "TYPE", "operator", params…)`: what an operator writes for a span that covers the whole text."""

    def served(
        words: str,
        kind: str,
        operator: str,
        /,
        anchor: dt.date | None = None,
        patient: str | None = "patient-1",
        **params: object,
    ) -> str:
        policy = policy_of(**{kind: Choice(operator, params)})
        text = Text(words)
        spans = (Span(text, 0, len(words), kind),)
        return apply(text, spans, policy, scene_of(text, spans, policy, anchor=anchor, patient=patient))[0]

    return served
