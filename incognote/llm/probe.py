"""Test a model before any note goes to it: whether it answers, whether it follows a schema, and what it will cost."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

import jsonschema

from incognote.errors import ModelProblem
from incognote.llm.base import Finish, LanguageModel, Message, Request, Usage
from incognote.llm.prices import Price

_SCHEMA = {
    "type": "object",
    "properties": {"animal": {"type": "string"}, "legs": {"type": "integer"}},
    "required": ["animal", "legs"],
    "additionalProperties": False,
}
_REQUEST = Request(
    (
        Message("system", "Answer with one JSON object with the keys animal (text) and legs (a whole number) only."),
        Message("user", "The grey cat of the story has four legs and sleeps on the stove."),
    ),
    schema=_SCHEMA,
    strict=True,
    max_tokens=1024,
)


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of a test.

    Args:
        model: the model that answered.
        answers: whether a reply came.
        obeys_schema: whether the reply met the JSON schema without repair.
        seconds: the time until the reply, or until giving up.
        usage: tokens and cost of the one call.
        finish: why the reply ended; None if there was none.
        problem: why there was no reply: a status and a remedy.
    """

    model: str
    answers: bool
    obeys_schema: bool
    seconds: float
    usage: Usage
    finish: Finish | None
    problem: str | None = None


async def probe(model: LanguageModel) -> Probe:
    """Send one harmless, invented question. If the model fails, the Probe says so, and no exception is raised."""
    began = time.monotonic()
    try:
        reply = await model.complete(_REQUEST)
    except ModelProblem as error:
        return Probe(model.name, False, False, time.monotonic() - began, Usage(), None, str(error))
    obeys = reply.finish == "stop" and _valid(reply.text)
    return Probe(reply.model or model.name, True, obeys, reply.seconds, reply.usage, reply.finish)


def cost_per_1000_notes(per_note: Usage, price: Price | None) -> float | None:
    """Return the US dollars for a thousand notes.

    Args:
        per_note: the mean usage of one note, all its calls together.
        price: None if it is unknown. The result is then None too.
    """
    return None if price is None else 1000 * price.of(per_note)


def _valid(text: str) -> bool:
    try:
        jsonschema.validate(json.loads(text), _SCHEMA)
    except (ValueError, RecursionError, jsonschema.ValidationError):
        return False
    return True
