"""Hand-made identities, and notes that go through clustering, generation, and application."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest

from incognote.keys import Keyring
from incognote.nouns import Span, Text
from incognote.relex.cluster import cluster, variant
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
            for mention in sorted(one.variants, key=lambda v: v.start):
                rendered = generators.render(mention, one, surrogates[one.id])
                out.append(rendered.text if rendered else "[LABEL]")
        return out

    return run


def mentions(text: str, spans: Sequence[tuple[int, int, str]]) -> list[MentionVariant]:
    """The mentions of one note of a patient."""
    source = Text(text)
    return [variant(Span(source, *span, 1.0, ("test",)), record="r", patient="p", domain="d") for span in spans]


@pytest.fixture(scope="session")
def relexed() -> Callable[..., list[MentionVariant]]:
    """The mentions of a note (marked as [TYPE|words]) after relexicalization, with their new text around them."""

    def run(marked: str, choices: Choices | None = None) -> list[MentionVariant]:
        text, spans = "", []
        for piece in re.split(r"(\[[A-Z_]+\|[^\]]+\])", marked):
            if re.match(r"\[[A-Z_]+\|", piece):
                kind, piece = piece[1:-1].split("|")
                spans.append((len(text), len(text) + len(piece), kind))
            text += piece
        before = mentions(text, spans)
        identities = cluster(before)
        generators = Generators(choices)
        surrogates = generators.generate_all(identities, KeyedDraw(KEY), UsedSurrogates())
        home = {one: identity for identity in identities for one in identity.variants}
        out, at, after = "", 0, []
        for one in before:
            rendered = generators.render(one, home[one], surrogates[home[one].id])
            words = rendered.text if rendered else one.words
            out += text[at : one.start]
            after.append((len(out), len(out) + len(words), one.type))
            out, at = out + words, one.end
        return mentions(out + text[at:], after)

    return run
