"""A look at a model before any note goes to it: does it answer, does it keep to a schema, what will it cost."""

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
    """What was seen.

    Args:
        model: who answered.
        answers: whether a reply came.
        obeys_schema: whether it met the JSON schema as it stood, without repair.
        seconds: until it came, or until it was given up.
        usage: tokens and money of the one call.
        finish: why the reply ended; None where none came.
        problem: why none came; a status and a remedy.
    """

    model: str
    answers: bool
    obeys_schema: bool
    seconds: float
    usage: Usage
    finish: Finish | None
    problem: str | None = None


async def probe(model: LanguageModel) -> Probe:
    """Ask one harmless, invented question. A model that does not serve makes a Probe too, not an exception."""
    began = time.monotonic()
    try:
        reply = await model.complete(_REQUEST)
    except ModelProblem as error:
        return Probe(model.name, False, False, time.monotonic() - began, Usage(), None, str(error))
    obeys = reply.finish == "stop" and _valid(reply.text)
    return Probe(reply.model or model.name, True, obeys, reply.seconds, reply.usage, reply.finish)


def cost_per_1000_notes(per_note: Usage, price: Price | None) -> float | None:
    """US dollars for a thousand notes.

    Args:
        per_note: the mean usage of one note, all its calls together.
        price: None where it is not known; so is the cost then.
    """
    return None if price is None else 1000 * price.of(per_note)


def _valid(text: str) -> bool:
    try:
        jsonschema.validate(json.loads(text), _SCHEMA)
    except (ValueError, RecursionError, jsonschema.ValidationError):
        return False
    return True
