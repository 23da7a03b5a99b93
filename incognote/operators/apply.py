"""Apply a policy's replacements to a text. Every character outside them stays the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from incognote.errors import ImpossibleSpan, UnknownName
from incognote.nouns import Replacement, Span, Text
from incognote.operators.base import Operator, OperatorContext
from incognote.operators.registry import operators
from incognote.schemas.choices import Choice, Policy


def apply(
    text: Text, spans: Iterable[Span], policy: Policy, context: OperatorContext
) -> tuple[str, tuple[Replacement, ...], tuple[Span, ...]]:
    """Replace the spans whose types the policy covers, whatever their scores: thresholds are applied before this step.

    An operator may widen its span over neighboring words (`Operator.extent`), but not over another span. The
    Replacement then has the widened span, so its offsets are always those of the replaced text.

    Args:
        text: the text.
        spans: disjoint spans of this text, in any order.
        policy: the policy.
        context: the context for the operators.

    Returns:
        The new text; the replacements in order, with their offsets in the new text; and the spans that were kept
        because the policy does not touch their type or the operator left them unchanged.

    Raises:
        ImpossibleSpan: spans overlap or belong to another text.
        UnknownName: a type or operator does not exist.
    """
    ordered = _ordered(text, spans)
    pieces: list[str] = []
    replacements: list[Replacement] = []
    kept: list[Span] = []
    done = length = 0
    for place, span in enumerate(ordered):
        choice = policy.choice(span.type)
        operator = None if choice is None else _operator(choice)
        written = None if operator is None or choice is None else operator.replace(span, context, choice.params)
        if written is None or choice is None or operator is None or written == span.text:
            kept.append(span)
            pieces.append(text.content[done : span.end])
            length += span.end - done
            done = span.end
            continue
        ceiling = ordered[place + 1].start if place + 1 < len(ordered) else len(text)
        served = _widened(span, operator.extent(span, context, choice.params), done, ceiling)
        pieces += [text.content[done : served.start], written]
        start = length + served.start - done
        length = start + len(written)
        done = served.end
        identity = operator.identity(span, context)
        replacements.append(Replacement(served, choice.operator, written, start, length, identity))
    pieces.append(text.content[done:])
    return "".join(pieces), tuple(replacements), tuple(kept)


def _ordered(text: Text, spans: Iterable[Span]) -> list[Span]:
    ordered = sorted(spans, key=lambda span: (span.start, span.end))
    for place, span in enumerate(ordered):
        if span.source is not text and span.source != text:
            raise ImpossibleSpan(f"The span {span.start}..{span.end} belongs to another text.")
        if place and span.start < ordered[place - 1].end:
            raise ImpossibleSpan(f"The spans at {ordered[place - 1].start} and {span.start} overlap. Merge them first.")
    return ordered


def _operator(choice: Choice) -> Operator:
    try:
        return operators()[choice.operator]
    except KeyError:
        raise UnknownName("operator", choice.operator, tuple(operators())) from None


def _widened(span: Span, extent: tuple[int, int], floor: int, ceiling: int) -> Span:
    """Widen the span to its extent. A side that would reach into a neighboring span does not move."""
    start = extent[0] if floor <= extent[0] < span.start else span.start
    end = extent[1] if span.end < extent[1] <= ceiling else span.end
    return span if (start, end) == (span.start, span.end) else replace(span, start=start, end=end)
