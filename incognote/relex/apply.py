"""Putting surrogates into a text; everything outside the spans stays, character for character."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from incognote.errors import ImpossibleSpan
from incognote.nouns import Replacement, Span, Text
from incognote.relex.nouns import Identity, Rendered, Surrogate, Variant

OPERATOR = "surrogate"
Render = Callable[[Variant, Identity, Surrogate], Rendered | None]
Bearers = Mapping[Variant, Identity]


def bearers(identities: Iterable[Identity]) -> dict[Variant, Identity]:
    """Which identity each variant is of."""
    return {variant: identity for identity in identities for variant in identity.variants}


def shown(variant: Variant, identity: Identity, surrogate: Surrogate, render: Render) -> str:
    """What stands in place of a mention; its type in brackets where no surrogate can be written so."""
    rendered = render(variant, identity, surrogate)
    return rendered.text if rendered is not None else f"[{variant.type}]"


def apply(
    text: Text,
    mentions: Mapping[Span, Variant],
    identities: Bearers,
    surrogates: Mapping[str, Surrogate],
    render: Render,
) -> tuple[str, tuple[Replacement, ...]]:
    """Replace each span by its identity's surrogate, written as the original was (Algorithm 3 of RedactOR, line 12).

    Args:
        mentions: disjoint spans of this text, in any order, each with its variant.
        identities: of every variant.
        surrogates: by the identity's id.
        render: of `Generators`; where it cannot say, the span's type stands as a label.

    Returns:
        The new text; the replacements in its order, with their offsets in it and their identity.

    Raises:
        ImpossibleSpan: spans that overlap or are of another text, or a variant whose words are not its span's.
    """
    pieces: list[str] = []
    replacements: list[Replacement] = []
    done = length = 0
    for span, variant in sorted(mentions.items(), key=lambda pair: pair[0].start):
        if span.source != text:
            raise ImpossibleSpan(f"the span {span.start}..{span.end} is of another text")
        if span.start < done:
            raise ImpossibleSpan(f"the span at {span.start} overlaps the one before it; merge them first")
        if variant.words != span.words:
            raise ImpossibleSpan(f"the variant given for {span.start}..{span.end} is another mention's")
        identity = identities[variant]
        words = shown(variant, identity, surrogates[identity.id], render)
        pieces += [text.content[done : span.start], words]
        start = length + span.start - done
        length, done = start + len(words), span.end
        replacements.append(Replacement(span, OPERATOR, words, start, length, identity.id))
    pieces.append(text.content[done:])
    return "".join(pieces), tuple(replacements)
