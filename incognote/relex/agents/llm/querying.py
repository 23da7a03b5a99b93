"""Queries by a language model: the line by which an identity is looked for in the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from incognote.llm.together import together
from incognote.relex.agents.base import Note
from incognote.relex.agents.embedded import EmbeddedQuerier
from incognote.relex.agents.llm.asking import Asker, Played, near, windows
from incognote.relex.agents.llm.contracts import QUERY_WORDS, queries
from incognote.relex.agents.llm.showing import Shown, headed, named
from incognote.relex.nouns import Identity

MOST = 30
"""The most identities of one request."""
PROMPT = "relex/query/v1"
SOUGHT = frozenset(("PERSON", "ORG", "PLACE"))
"""Groups that are sought by likeness; numbers, days and ages are found by their keys."""


class LlmQuerier(Played):
    """Q_i by a language model.

    Args:
        asker: of the run.
    """

    def __init__(self, asker: Asker) -> None:
        super().__init__(asker, PROMPT)
        self._standin = EmbeddedQuerier()

    async def query(self, identities: Sequence[Identity], notes: Sequence[Note]) -> dict[str, str]:
        """See `Querier`."""
        found = {one.id: "" for one in identities}
        for wave in windows((one for one in identities if one.group in SOUGHT), MOST):
            asked = [
                self._asker.served(self._asked(some, notes), partial(self._standin.query, some, notes)) for some in wave
            ]
            for said in await together(asked):
                found |= said
        return found

    async def _asked(self, identities: Sequence[Identity], notes: Sequence[Note]) -> dict[str, str]:
        names, shown = named(identities), Shown(near(identities, notes))
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
