"""The texts of a record as a reader sees them, and what is found in them carried back to the originals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from incognote.agents.toolkit import Found, outside
from incognote.align.merge import merge
from incognote.detectors.rules.lexicon import ENGLISH
from incognote.nouns import Known, Span, Text
from incognote.text.reading import Fragment, Reading, read

if TYPE_CHECKING:
    from incognote.agents.toolkit import Toolkit
    from incognote.schemas.policy import Policy

CODE = "GUID"
"""The type of an encoded block in which nothing of another type was found."""

DISGUISED = 0.7
"""The score of a word or number in a disguise: it is replaced, and whatever names it better wins."""


@dataclass(frozen=True, slots=True)
class View:
    """A text, its reading, and what a reader sees as a Text; that is the text itself where they are equal."""

    text: Text
    reading: Reading = field(repr=False)
    seen: Text

    @classmethod
    def of(cls, text: Text, before: View | None = None) -> View:
        """The view of a text.

        Args:
            before: that of the text which this one came from, by blanking and replacing. Where nothing had to be folded
                there, nothing has to be here.
        """
        if before is not None and before.text.content == text.content:
            return before
        if before is not None and before.reading.as_written:
            return cls(text, Reading(text.content, text.content), text)
        reading = read(text.content, ENGLISH)
        return cls(text, reading, text if reading.plain else Text(reading.seen, text.field))

    def original(self, spans: Iterable[Span]) -> list[Span]:
        """Spans of what is seen, as spans of the text; they may overlap if several share one escape."""
        if self.reading.plain:
            return list(spans)
        return [self._original(span) for span in spans]

    def _original(self, span: Span) -> Span:
        start, end = self.reading.back(span.start, span.end)
        return replace(span, source=self.text, start=start, end=end)

    def viewed(self, spans: Iterable[Span]) -> tuple[list[Span], list[Span]]:
        """Spans of the text as spans of what is seen, and those of which nothing is seen."""
        if self.reading.plain:
            return list(spans), []
        seen: list[Span] = []
        unseen: list[Span] = []
        for span in spans:
            start, end = self.reading.forward(span.start, span.end)
            if start < end:
                seen.append(replace(span, source=self.seen, start=start, end=end))
            else:
                unseen.append(span)
        return seen, unseen

    def disjoint(self, spans: Iterable[Span], more: Sequence[Span] = ()) -> tuple[Span, ...]:
        """Disjoint spans of what is seen, and others of the text, as one disjoint set of spans of the text."""
        own = self.original(spans)
        return tuple(own) if self.reading.plain and not more else tuple(merge([*own, *more]))


def detected(
    views: Sequence[View], detect: Callable[[Sequence[Text]], list[list[Span]]]
) -> tuple[list[list[Span]], list[list[Span]]]:
    """What a detector finds in views and in their fragments.

    Returns:
        Per view, the spans of what is seen; and per view, a span of the original for each fragment that holds an
        identifier or that nobody can read. The second kind may overlap.
    """
    inner = [(i, fragment) for i, view in enumerate(views) for fragment in view.reading.fragments]
    found = detect([*(v.seen for v in views), *(Text(f.words, views[i].text.field) for i, f in inner)])
    for view, spans in zip(views, found, strict=False):
        spans += (Span(view.seen, a, b, _kind(view, a), DISGUISED, ("reading",)) for a, b in view.reading.disguised)
    whole: list[list[Span]] = [[] for _ in views]
    for (i, fragment), spans in zip(inner, found[len(views) :], strict=True):
        whole[i] += _whole(views[i].text, fragment, spans)
    return found[: len(views)], whole


def settled(
    tools: Toolkit, view: View, raw: Sequence[Span], hidden: Sequence[Span], policy: Policy | None = None,
    reads: frozenset[str] | None = None,
) -> Found:  # fmt: skip
    """What spans of a view and whole fragments amount to under a policy, as spans of the text.

    Args:
        raw, hidden: as `detected` gives them.
        policy, reads: as `Toolkit.settle` takes them.
    """
    found, whole = tools.settle(view.seen, raw, policy, reads), tools.divide(hidden, policy)
    spans = view.disjoint(found.spans, whole.spans)
    doubts, unserved = view.original(found.doubts), view.original(found.unserved)
    return Found(spans, outside([*doubts, *whole.doubts], spans), outside([*unserved, *whole.unserved], spans))


def found(
    tools: Toolkit, texts: Sequence[Text], known: Sequence[Known] = (), policy: Policy | None = None
) -> list[Found]:
    """What the embedded detectors find in texts, under a policy."""
    views = [View.of(text) for text in texts]
    spans, whole = detected(views, lambda seen: tools.detect(seen, known))
    return [settled(tools, *each, policy) for each in zip(views, spans, whole, strict=True)]


def _kind(view: View, start: int) -> str:
    return CODE if view.seen.content[start].isdigit() else "PERSON"


def _whole(text: Text, fragment: Fragment, spans: Sequence[Span]) -> Iterable[Span]:
    best = max(spans, key=lambda s: s.score, default=None)
    score = 1.0 if fragment.goes else best.score if best else 0.0
    if score:
        kind = best.type if best and best.score >= 0.5 else CODE
        yield Span(text, fragment.start, fragment.end, kind, score, ("reading",))
