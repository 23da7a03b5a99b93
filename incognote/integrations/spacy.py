"""incognote as a component of a spaCy pipeline: `nlp.add_pipe("incognote")` sets `doc.spans["incognote"]`.

spaCy finds the factory by the entry point `spacy_factories`, so you do not import this module yourself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from incognote.errors import MissingExtra
from incognote.integrations import spans_of
from incognote.nouns import Span as Identifier
from incognote.sdk import Deidentifier

try:
    from spacy.language import Language
    from spacy.tokens import Doc, Span, SpanGroup
except ImportError:
    raise MissingExtra("spacy", "the spaCy component") from None

_DEFAULTS = {"policy": None, "detectors": None, "types": None, "spans_key": "incognote", "set_ents": False}


class IncognoteComponent:
    """Marks identifiers in spaCy documents. It changes no text.

    A span covers whole tokens: an identifier that ends inside a token takes all of it. Scores of the spans are in
    `doc.spans[key].attrs["scores"]`, in their order.

    Args:
        policy: a policy's name or file; it decides which types count and from which score.
        detectors: their names; None for rules and encoder.
        types: "all" for every type of the catalogue.
        spans_key: the key of `doc.spans`.
        set_ents: also set `doc.ents`. Entities of other components that overlap an identifier are removed.
    """

    def __init__(
        self, policy: str | None, detectors: list[str] | None, types: str | None, spans_key: str, set_ents: bool
    ) -> None:
        self._config = (policy, detectors, types, spans_key, set_ents)
        self._types, self._key, self._set_ents = types, spans_key, set_ents
        self._deidentifier = Deidentifier(policy, detectors=detectors)

    def __reduce__(self) -> tuple[type[IncognoteComponent], tuple[Any, ...]]:
        return type(self), self._config  # for `nlp.pipe(n_process=...)`, where processes are spawned

    def __call__(self, doc: Doc) -> Doc:
        """Mark one document.

        Raises:
            UnsupportedFormat, ModelProblem: as `incognote.integrations.spans_of`.
        """
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Mark documents, `batch_size` at a time."""
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            found = spans_of(self._deidentifier, [doc.text for doc in batch], self._types)
            for doc, identifiers in zip(batch, found, strict=True):
                yield self._marked(doc, identifiers)

    def _marked(self, doc: Doc, identifiers: list[Identifier]) -> Doc:
        spans = [_tokens(doc, each) for each in identifiers]
        scores = [each.score for each in identifiers]
        doc.spans[self._key] = SpanGroup(doc, name=self._key, spans=spans, attrs={"scores": scores})
        if self._set_ents:
            doc.ents = _disjoint(doc, spans)
        return doc


@Language.factory("incognote", assigns=["doc.spans"], default_config=_DEFAULTS)
def make_incognote(
    nlp: Language,
    name: str,
    policy: str | None,
    detectors: list[str] | None,
    types: str | None,
    spans_key: str,
    set_ents: bool,
) -> IncognoteComponent:
    """What `nlp.add_pipe("incognote", config={...})` makes; the config is that of `IncognoteComponent`."""
    return IncognoteComponent(policy, detectors, types, spans_key, set_ents)


def _tokens(doc: Doc, identifier: Identifier) -> Span:
    span = doc.char_span(identifier.start, identifier.end, label=identifier.type, alignment_mode="expand")
    assert span is not None, "an expanded span inside the text always has tokens"
    return span


def _disjoint(doc: Doc, spans: list[Span]) -> list[Span]:
    """Entities: of identifiers that share a token, the first keeps it; then other entities that touch none of them."""
    entities: list[Span] = []
    end = 0
    for span in spans:
        if max(span.start, end) < span.end:
            entities.append(Span(doc, max(span.start, end), span.end, label=span.label))
            end = span.end
    taken = {token for span in entities for token in range(span.start, span.end)}
    return entities + [entity for entity in doc.ents if taken.isdisjoint(range(entity.start, entity.end))]
