"""Decisions by a language model: is a hit of the index who or what is looked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from incognote.relex.agents.base import Note
from incognote.relex.agents.embedded import EmbeddedValidator
from incognote.relex.agents.llm.asking import Asker, Played
from incognote.relex.agents.llm.contracts import decisions
from incognote.relex.agents.llm.showing import Shown, told
from incognote.relex.index.nouns import Hit
from incognote.relex.nouns import Identity

PROMPT = "relex/decision/v1"
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"result": {"type": "array", "items": {"type": "string", "enum": ["Y", "N"]}}},
    "required": ["result"],
    "additionalProperties": False,
}


class LlmValidator(Played):
    """M_decision by a language model. A hit whose original the index does not keep is no, and nobody is asked.

    Args:
        asker: of the run.
    """

    def __init__(self, asker: Asker) -> None:
        super().__init__(asker, PROMPT)
        self._standin = EmbeddedValidator()

    async def validate(self, identity: Identity, query: str, hits: Sequence[Hit], notes: Sequence[Note]) -> list[bool]:
        """See `Validator`."""
        told_of = [hit for hit in hits if hit.identity.original]
        if not told_of:
            return [False] * len(hits)
        asked = self._asked(identity, query, told_of, Shown(notes))
        said = await self._asker.served(asked, partial(self._standin.validate, identity, query, told_of, notes))
        answers = iter(said)
        return [bool(hit.identity.original) and next(answers) for hit in hits]

    async def _asked(self, identity: Identity, query: str, hits: Sequence[Hit], shown: Shown) -> list[bool]:
        around = shown.marks(identity.variants)
        sought = shown.identity("Looked for", identity, around) + (f"\n  query: {query}" if query else "")
        lines = ["Hits", *(_line(at, hit) for at, hit in enumerate(hits, 1))]
        material = {"query": sought, "hits": "\n".join(lines)}
        messages = self._prompt.messages({"count": str(len(hits))}, material, around)
        return await self._asker.ask(messages, _SCHEMA, partial(decisions, count=len(hits)), strict=True)


def _line(at: int, hit: Hit) -> str:
    known = told(hit.identity.attributes)
    return f"{at} {hit.identity.type}: {' '.join((hit.identity.original or '').split())}" + (
        f"\n  guessed: {known}" if known else ""
    )
