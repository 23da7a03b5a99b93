"""Queries and decisions by a language model: search words for an identity, and whether a hit is that identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from incognote.llm.base import gather_all
from incognote.relex.agents.base import SOUGHT, EmbeddedQuerier, EmbeddedValidator, HitQuestion, RelexNote
from incognote.relex.agents.llm.asking import (
    Excerpts,
    ModelAgent,
    ModelAsker,
    Question,
    by_name,
    headed,
    known_facts,
    listed,
    named,
    near,
    windows,
)
from incognote.relex.agents.llm.contracts import QUERY_WORDS, decisions, queries
from incognote.relex.index.nouns import IndexHit
from incognote.relex.nouns import Identity

MOST = 30
"""The most identities per request."""
QUERY_PROMPT = "relex/query/v2"


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
            for answer in await gather_all(asked):
                queries_by_id |= answer
        return queries_by_id

    async def _asked(self, identities: Sequence[Identity], notes: Sequence[RelexNote]) -> dict[str, str]:
        names, shown = named(identities), Excerpts(near(identities, notes))
        answer = await self._asker.ask(self._question(shown, names))
        return {names[name].id: query for name, query in answer.items()}

    def _question(self, shown: Excerpts, names: Mapping[str, Identity]) -> Question[dict[str, str]]:
        around = shown.marks(v for one in names.values() for v in one.variants)
        lines = [(one.group, listed(name, one)) for name, one in names.items()]
        material = {"identities": headed(lines), "notes": shown.of(names, around)}
        headings = {name: one.group for name, one in names.items()}
        messages = self._prompt.messages({"words": str(QUERY_WORDS)}, material, around)
        rest = by_name(partial(self._question, shown), names)
        return Question(messages, _schema(headings), partial(queries, names=headings), rest)


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


DECISION_PROMPT = "relex/decision/v2"
_ANSWERS: Mapping[str, Any] = {"type": "array", "items": {"type": "string", "enum": ["Y", "N"]}}


class LlmValidator(ModelAgent):
    """M_decision by a language model: one request for all questions about a patient's notes.

    Args:
        asker: the asker of the run.
    """

    def __init__(self, asker: ModelAsker) -> None:
        super().__init__(asker, DECISION_PROMPT)
        self._standin = EmbeddedValidator()

    async def validate(self, questions: Sequence[HitQuestion], notes: Sequence[RelexNote]) -> list[list[bool]]:
        """See `Validator`."""
        by_id = {question.identity.id: question for question in questions}
        answers: dict[str, list[bool]] = {}
        for wave in windows((question.identity for question in questions), MOST):
            pieces = [[by_id[one.id] for one in some] for some in wave]
            asked = [
                self._asker.served(self._asked(some, notes), partial(self._standin.validate, some, notes))
                for some in pieces
            ]
            for some, answer in zip(pieces, await gather_all(asked), strict=True):
                answers |= {question.identity.id: yes for question, yes in zip(some, answer, strict=True)}
        return [answers[question.identity.id] for question in questions]

    async def _asked(self, questions: Sequence[HitQuestion], notes: Sequence[RelexNote]) -> list[list[bool]]:
        shown = Excerpts(near([question.identity for question in questions], notes))
        names = {f"Q{at}": question for at, question in enumerate(questions, 1)}
        answer = await self._asker.ask(self._question(shown, names))
        return [answer[name] for name in names]

    def _question(self, shown: Excerpts, names: Mapping[str, HitQuestion]) -> Question[dict[str, list[bool]]]:
        identities = {name: question.identity for name, question in names.items()}
        around = shown.marks(v for one in identities.values() for v in one.variants)
        material = {
            "questions": "\n".join(_asking(name, question) for name, question in names.items()),
            "notes": shown.of(identities, around),
        }
        counts = {name: len(question.hits) for name, question in names.items()}
        messages = self._prompt.messages({}, material, around)
        rest = by_name(partial(self._question, shown), names)
        return Question(messages, _object(dict.fromkeys(names, _ANSWERS)), partial(decisions, counts=counts), rest)


def _asking(name: str, question: HitQuestion) -> str:
    """A question as lines: the identity, the query if it says more than the name, and the hits."""
    lines = [listed(name, question.identity)]
    if question.query and question.query != question.identity.fullest:
        lines.append(f"  query: {question.query}")
    return "\n".join([*lines, *(_hit(at, hit) for at, hit in enumerate(question.hits, 1))])


def _hit(at: int, hit: IndexHit) -> str:
    known = known_facts(hit.identity.attributes)
    written = " ".join((hit.identity.original or "").split())
    return f"  {at} {hit.identity.type}: {written}" + (f" (guessed: {known})" if known else "")
