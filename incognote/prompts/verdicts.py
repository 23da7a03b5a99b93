"""The contract of a reply about gaps of a transcript (RedactOR §B.3): a verdict for each time.

The reply is a JSON object. Its keys are times, as the transcript writes them, and a value is an entity type, `NON_PHI`,
or `UNKNOWN`. What is missing or has another value counts as `UNKNOWN`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from incognote.prompts.loader import RelexPrompt, sections_of
from incognote.prompts.mending import object_of
from incognote.schemas.catalogue import catalogue
from incognote.schemas.policy import Policy

NAME = "gaps/v1"
NON_PHI, UNKNOWN = "NON_PHI", "UNKNOWN"
_TIME = re.compile(r"(\d{2,3}:[0-5]\d\.\d{2})\s*[-\u2013]\s*(\d{2,3}:[0-5]\d\.\d{2})", re.ASCII)
_NAME = re.compile(r"[^A-Za-z0-9]+")
_MARKS = ("", "")  # the prompt has no marks


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The content of a reply.

    Args:
        by_key: an entity type, `NON_PHI`, or `UNKNOWN` for each key.
        usable: a JSON object could be read.
    """

    by_key: Mapping[str, str]
    usable: bool = True


@cache
def gaps_prompt(name: str = NAME) -> RelexPrompt:
    """Return a shipped prompt that judges gaps."""
    return RelexPrompt(name, sections_of(name))


def messages(transcript: str, keys: Collection[str], types: Mapping[str, str]) -> tuple[str, str]:
    """Return the messages for a model: the system's and the user's.

    Args:
        transcript: with tokens for the places.
        keys: the times of the places.
        types: the types of identifiers, each with a line that describes it.
    """
    listed = "\n".join(f"- {name}: {about}" if about else f"- {name}" for name, about in types.items())
    words = {"types": listed, "keys": str(len(keys))}
    return gaps_prompt().messages(words, {"transcript": transcript}, _MARKS)


def schema(keys: Sequence[str], types: Collection[str]) -> dict[str, Any]:
    """Return the JSON schema of the reply."""
    value = {"type": "string", "enum": [*types, NON_PHI, UNKNOWN]}
    properties = dict.fromkeys(keys, value)
    return {"type": "object", "properties": properties, "additionalProperties": False, "required": list(properties)}


def read(reply: str, keys: Collection[str], policy: Policy) -> Verdicts:
    """Return a reply's verdict for each key.

    A type counts if the policy replaces it. A time that is answered twice with different values is `UNKNOWN`.
    """
    said = object_of(reply, set(), longest=10_000 + 200 * len(keys))
    if said is None:
        return Verdicts(dict.fromkeys(keys, UNKNOWN), usable=False)
    answers: dict[str, set[str]] = {}
    for key, value in said.items():
        if time := _TIME.search(key):
            answers.setdefault(f"{time[1]} - {time[2]}", set()).add(_verdict(value, policy))
    return Verdicts({key: _one(answers.get(key, {UNKNOWN})) for key in keys})


def _one(answers: set[str]) -> str:
    return answers.pop() if len(answers) == 1 else UNKNOWN


def _verdict(value: object, policy: Policy) -> str:
    if not isinstance(value, str):
        return UNKNOWN
    folded = _NAME.sub("_", value).strip("_").upper()
    if folded == NON_PHI:
        return NON_PHI
    return folded if folded in catalogue() and policy.replaces(folded) else UNKNOWN


def united(votes: Sequence[str]) -> str:
    """Return the verdict of several votes about one place: the first type, or NON_PHI if all say so."""
    named = next((vote for vote in votes if vote not in (NON_PHI, UNKNOWN)), None)
    if named is not None:
        return named
    return NON_PHI if votes and all(vote == NON_PHI for vote in votes) else UNKNOWN
