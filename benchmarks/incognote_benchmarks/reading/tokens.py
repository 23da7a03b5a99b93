"""Input and output tokens of both reply contracts, compared with prompts whose reply is the whole redacted text."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from incognote.extraction.asking import AskingTerms, ChunkAsker
from incognote.extraction.chunks import chunks
from incognote.extraction.extractor import Extractor, TextChunk
from incognote.llm.base import Request
from incognote.nouns import Text
from incognote.prompts.loader import Prompt, load
from incognote.schemas.policy import Policy
from incognote.testing import ScriptedLLM
from incognote_benchmarks.reading.counting import Counter
from incognote_benchmarks.reading.material import Heard, Note, script

ECHOES = {"labels": None, "censored": "[Censored]", "redacted": "[Redacted]"}
"""Replies that repeat the text: with our labels, and in the manner of Yashwanth and Shettar (2024) and of Altalla' et
al. (2025), whose marks are in RedactOR (§A.3). It does not print their prompts."""
_ECHO_PROMPT = (
    "You remove protected health information from clinical text. Return the whole text below, word for word, with "
    "every name, date, age, place, organisation, contact and identifying number in it replaced by {mark}. "
    "Add nothing.\n\n{text}"
)
PROMPTS = {"contract 1": "extract/v1", "contract 2": "extract/v2"}


def tokens(material: Sequence[Note], policy: Policy, count: Counter) -> dict[str, Any]:
    """Count the tokens for the notes, with the gold as the model's answer.

    Returns:
        For `all` notes, those `with_phi` and those `without_phi`: their number and, per note, words, identifiers,
        tokens of the text, input and output tokens of each contract and each echo, and each contract's output as a
        share of the shortest echo's. `per_chunk`: the same for one call.
    """
    prompts = {name: load(prompt) for name, prompt in PROMPTS.items()}
    heard = {name: [_asked(note, policy, prompt) for note in material] for name, prompt in prompts.items()}
    slices = {
        "all": list(range(len(material))),
        "with_phi": [i for i, note in enumerate(material) if note.gold],
        "without_phi": [i for i, note in enumerate(material) if not note.gold],
    }
    return {
        "counted_with": count.name,
        **{
            name: {
                "notes": len(at),
                **_slice([material[i] for i in at], {k: [v[i] for i in at] for k, v in heard.items()}, count),
            }
            for name, at in slices.items()
        },
        "per_chunk": {name: _chunk([call for note in calls for call in note], count) for name, calls in heard.items()},
    }


Calls = list[tuple[Request, str]]
"""For each call, the request and the reply. A reply from the gold is complete, so one pass is all that is needed."""


def _asked(note: Note, policy: Policy, prompt: Prompt) -> Calls:
    """All calls for a note."""
    text, made = Text(note.text), []
    for chunk in chunks(note.text):
        model = Heard(ScriptedLLM(script(note)))
        asker = ChunkAsker(AskingTerms((model,), prompt, prompt.types(policy)))
        asyncio.run(Extractor(asker).extract([TextChunk(text, chunk)]))
        made += model.said
    return made


def _slice(material: Sequence[Note], heard: dict[str, list[Calls]], count: Counter) -> dict[str, Any]:
    n = len(material)
    echoes = {name: _echo(material, mark, count) for name, mark in ECHOES.items()}
    least = min(echo["output"] for echo in echoes.values())
    contracts = {}
    for name, of_notes in heard.items():
        calls = [call for note in of_notes for call in note]
        output = sum(count(reply) for _, reply in calls) / n
        contracts[name] = {
            "calls": len(calls) / n,
            "input": count.messages(request for request, _ in calls) / n,
            "input_schema": count.schemas(request for request, _ in calls) / n,
            "output": output,
            "of_echo": output / least,
        }
    return {
        "words": sum(note.words for note in material) / n,
        "identifiers": sum(len(note.gold) for note in material) / n,
        "text": sum(count(note.text) for note in material) / n,
        "contracts": contracts,
        "echo": echoes,
    }


def _echo(material: Sequence[Note], mark: str | None, count: Counter) -> dict[str, float]:
    told = mark or "its type in brackets, such as [PERSON]"
    shown = [_ECHO_PROMPT.format(mark=told, text=note.text) for note in material]
    n = len(material)
    return {
        "input": sum(map(count, shown)) / n,
        "output": sum(count(_redacted(note, mark)) for note in material) / n,
    }


def _redacted(note: Note, mark: str | None) -> str:
    pieces, at = [], 0
    for label in sorted(note.gold):
        pieces += [note.text[at : label.start], mark or f"[{label.type}]"]
        at = label.end
    return "".join([*pieces, note.text[at:]])


def _chunk(calls: Calls, count: Counter) -> dict[str, float]:
    """The mean tokens of a call, by its parts."""
    system, user = ([m for r, _ in calls for m in r.messages if m.role == role] for role in ("system", "user"))
    return {
        "calls": len(calls),
        "system": sum(count(m.content) for m in system) / len(calls),
        "user": sum(count(m.content) for m in user) / len(calls),
        "schema": count.schemas(request for request, _ in calls) / len(calls),
        "output": sum(count(reply) for _, reply in calls) / len(calls),
    }
