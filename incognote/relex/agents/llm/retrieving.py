"""Queries and decisions by a language model: search words for an identity, and whether a hit is that identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from incognote.llm.base import gather_all
from incognote.relex.agents.base import SOUGHT, EmbeddedQuerier, EmbeddedValidator, RelexNote
from incognote.relex.agents.llm.asking import Excerpts, ModelAgent, ModelAsker, headed, named, near, told, windows
from incognote.relex.agents.llm.contracts import QUERY_WORDS, decisions, queries
from incognote.relex.index.nouns import IndexHit
from incognote.relex.nouns import Identity

MOST = 30
"""The most identities per request."""
QUERY_PROMPT = "relex/query/v1"


class LlmQuerier(ModelAgent):
    """Q_i by a language model.

    Args:
        asker: the asker of the run.
    """

    def __init__(self, asker: ModelAsker) -> None:
        super().__init__(asker, QUERY_PROMPT)
        self._standin = EmbeddedQuerier()

    async def query(self, identities: Sequence[Identity], notes: Sequence[RelexNote]) -> dict[str, str]:
        """See `Querier`."""
        queries_by_id = {one.id: "" for one in identities}
        for wave in windows((one for one in identities if one.group in SOUGHT), MOST):
            asked = [
                self._asker.served(self._asked(some, notes), partial(self._standin.query, some, notes)) for some in wave
            ]
            for said in await gather_all(asked):
                queries_by_id |= said
        return queries_by_id

    async def _asked(self, identities: Sequence[Identity], notes: Sequence[RelexNote]) -> dict[str, str]:
        names, shown = named(identities), Excerpts(near(identities, notes))
        around = shown.marks(v for one in identities for v in one.variants)
        lines = [(one.group, shown.identity(name, one, around)) for name, one in names.items()]
        messages = self._prompt.messages({"words": str(QUERY_WORDS)}, {"identities": headed(lines)}, around)
        headings = {name: one.group for name, one in names.items()}
        said = await self._asker.ask(messages, _schema(headings), partial(queries, names=headings), strict=True)
        return {names[name].id: query for name, query in said.items()}


def _schema(headings: Mapping[str, str]) -> Mapping[str, Any]:
    blocks: dict[str, dict[str, Any]] = {}
    for name, heading in headings.items():
        blocks.setdefault(heading, {})[name] = {"type": "string"}
    return _object({heading: _object(block) for heading, block in blocks.items()})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


DECISION_PROMPT = "relex/decision/v1"
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"result": {"type": "array", "items": {"type": "string", "enum": ["Y", "N"]}}},
    "required": ["result"],
    "additionalProperties": False,
}


class LlmValidator(ModelAgent):
    """M_decision by a language model. A hit without a stored original is rejected without asking.

    Args:
        asker: the asker of the run.
    """

    def __init__(self, asker: ModelAsker) -> None:
        super().__init__(asker, DECISION_PROMPT)
        self._standin = EmbeddedValidator()

    async def validate(
        self, identity: Identity, query: str, hits: Sequence[IndexHit], notes: Sequence[RelexNote]
    ) -> list[bool]:
        """See `Validator`."""
        with_original = [hit for hit in hits if hit.identity.original]
        if not with_original:
            return [False] * len(hits)
        asked = self._asked(identity, query, with_original, Excerpts(notes))
        said = await self._asker.served(asked, partial(self._standin.validate, identity, query, with_original, notes))
        answers = iter(said)
        return [bool(hit.identity.original) and next(answers) for hit in hits]

    async def _asked(self, identity: Identity, query: str, hits: Sequence[IndexHit], shown: Excerpts) -> list[bool]:
        around = shown.marks(identity.variants)
        described = shown.identity("Looked for", identity, around) + (f"\n  query: {query}" if query else "")
        lines = ["Hits", *(_line(at, hit) for at, hit in enumerate(hits, 1))]
        material = {"query": described, "hits": "\n".join(lines)}
        messages = self._prompt.messages({"count": str(len(hits))}, material, around)
        return await self._asker.ask(messages, _SCHEMA, partial(decisions, count=len(hits)), strict=True)


def _line(at: int, hit: IndexHit) -> str:
    known = told(hit.identity.attributes)
    return f"{at} {hit.identity.type}: {' '.join((hit.identity.original or '').split())}" + (
        f"\n  guessed: {known}" if known else ""
    )
