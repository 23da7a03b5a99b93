"""Apply surrogates to a note, for tests of rendering: a note in, the note with its replacements out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from incognote.nouns import Replacement, Span, Text
from incognote.relex.nouns import Identity, MentionVariant, RenderedSurrogate, Surrogate


def bearers(identities: Iterable[Identity]) -> dict[MentionVariant, Identity]:
    """Map each variant to its identity."""
    return {variant: identity for identity in identities for variant in identity.variants}


def apply(
    text: Text,
    mentions: Mapping[Span, MentionVariant],
    identities: Mapping[MentionVariant, Identity],
    surrogates: Mapping[str, Surrogate],
    render: Callable[[MentionVariant, Identity, Surrogate], RenderedSurrogate | None],
) -> tuple[str, tuple[Replacement, ...]]:
    """Replace each span with its identity's surrogate, or with its type in brackets if none can be rendered."""
    pieces: list[str] = []
    replacements: list[Replacement] = []
    done = length = 0
    for span, variant in sorted(mentions.items(), key=lambda pair: pair[0].start):
        identity = identities[variant]
        rendered = render(variant, identity, surrogates[identity.id])
        words = f"[{variant.type}]" if rendered is None else rendered.text
        pieces += [text.content[done : span.start], words]
        start = length + span.start - done
        length, done = start + len(words), span.end
        replacements.append(Replacement(span, "surrogate", words, start, length, identity.id))
    pieces.append(text.content[done:])
    return "".join(pieces), tuple(replacements)
