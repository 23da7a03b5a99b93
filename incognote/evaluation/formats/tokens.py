"""Tokens with tags, for formats that have nothing finer: no token crosses the edge of a span, so none is lost."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from incognote.errors import MalformedRecord
from incognote.evaluation.formats.document import Gold, Label


def tagged(document: Gold) -> Iterator[tuple[int, int, str]]:
    """The tokens of a document in order, as start, end and BIO tag: words, and signs one by one; no white space.

    Raises:
        MalformedRecord: spans overlap, begin or end with white space, or a type holds some.
    """
    labels = disjoint(document)
    text = document.text
    edges = {edge for label in labels for edge in label[:2]}
    coming = iter(labels)
    label = next(coming, None)
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        end = at + 1
        while end < len(text) and end not in edges and _goes_on(text[end - 1], text[end]):
            end += 1
        while label is not None and label.end <= at:
            label = next(coming, None)
        inside = label is not None and label.start <= at
        yield at, end, f"{'B' if label.start == at else 'I'}-{label.type}" if inside and label is not None else "O"
        at = end


def disjoint(document: Gold) -> list[Label]:
    """The labels in order, if tags on tokens can say them.

    Raises:
        MalformedRecord: as for `tagged`.
    """
    labels = sorted(document.labels)
    at = 0
    for start, end, type_ in labels:
        if start < at:
            raise MalformedRecord("two of its spans overlap, which tags on tokens cannot say")
        if document.text[start].isspace() or document.text[end - 1].isspace():
            raise MalformedRecord("a span begins or ends with white space, which tags on tokens cannot say")
        if not type_ or any(character.isspace() for character in type_):
            raise MalformedRecord("a type is empty or holds white space")
        at = end
    return labels


def _goes_on(before: str, character: str) -> bool:
    """Whether a character belongs to the token before it: letters and digits together, marks with what they mark."""
    marking = unicodedata.category(before)[0] == "M"
    return unicodedata.category(character)[0] == "M" or (character.isalnum() and (marking or before.isalnum()))
