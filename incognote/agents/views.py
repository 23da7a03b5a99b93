"""The texts of a record as a reader sees them, and what is found in them carried back to the originals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from incognote.align.merge import merge
from incognote.detectors.rules.lexicon import ENGLISH
from incognote.nouns import Span, Text
from incognote.text.reading import Fragment, Reading, read

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
    def of(cls, text: Text) -> View:
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


def _kind(view: View, start: int) -> str:
    return CODE if view.seen.content[start].isdigit() else "PERSON"


def _whole(text: Text, fragment: Fragment, spans: Sequence[Span]) -> Iterable[Span]:
    best = max(spans, key=lambda s: s.score, default=None)
    score = 1.0 if fragment.goes else best.score if best else 0.0
    if score:
        kind = best.type if best and best.score >= 0.5 else CODE
        yield Span(text, fragment.start, fragment.end, kind, score, ("reading",))
