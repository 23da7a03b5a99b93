"""Hand-made identities, and notes that go through clustering, generation, and application."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from incognote.keys import Keyring
from incognote.relex.generate import Choices, Draw, Generators, KeyedDraw, UsedSurrogates
from incognote.relex.nouns import Group, Hints, Identity, MentionVariant

KEY = Keyring(bytes(range(32)))

Make = Callable[..., Identity]
Become = Callable[..., list[str]]


def identity(
    group: Group,
    type: str,
    *words: str,
    scope: str = "patient:p",
    domain: str = "d",
    title: str = "",
    **attributes: str,
) -> Identity:
    """An identity of a patient, with mentions of these words."""
    hints = Hints(title=title)
    variants = tuple(
        sorted(
            MentionVariant(type, w, domain, "p", "r", "", at * 99, at * 99 + len(w), hints)
            for at, w in enumerate(words)
        )
    )
    told = {"type": type, "normal": words[0].lower(), **attributes}
    return Identity(f"{scope}{type}{words[0]}", group, domain, scope, variants, told)


@pytest.fixture(scope="session")
def keyring() -> Keyring:
    return KEY


@pytest.fixture(scope="session")
def make() -> Make:
    return identity


@pytest.fixture(scope="session")
def become() -> Become:
    """The replacements of each identity's variants, in the order given, drawn together."""

    def run(identities: Sequence[Identity], choices: Choices | None = None, draw: Draw | None = None) -> list[str]:
        generators = Generators(choices)
        surrogates = generators.generate_all(identities, draw or KeyedDraw(KEY), UsedSurrogates())
        out: list[str] = []
        for one in identities:
            for variant in sorted(one.variants, key=lambda v: v.start):
                rendered = generators.render(variant, one, surrogates[one.id])
                out.append(rendered.text if rendered else "[LABEL]")
        return out

    return run
