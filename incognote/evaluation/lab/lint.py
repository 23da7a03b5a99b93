"""What is amiss with a prompt although it loads: it would be asked, and not do what its author thinks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from incognote.evaluation.lab.leaks import RUN, leaking
from incognote.prompts.loader import Prompt
from incognote.schemas.catalogue import catalogue

LONG_LINE = 120
"""Words of one type's line; a longer one drowns the others."""
LONG = 4096
"""Tokens before the note begins: half of what a model is taken to read and write at once (`context_tokens`)."""

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing: where, what, and what to do. It holds no words of an example."""

    level: Level
    field: str
    what: str


def lint(prompt: Prompt, types: Mapping[str, str], against: Iterable[str] | None = None) -> list[Fault]:
    """Look a prompt over.

    Args:
        types: what the policy has models asked for.
        against: texts of the documents it will be scored on.
    """
    found: list[Fault] = []
    for name, guideline in prompt.guidelines.items():
        if name not in types:
            near = next((each for each in catalogue().lineage(name) if each in types), None)
            remedy = f"say it of {near}" if near else "take it out, or name the policy that asks for it (--policy)"
            found.append(Fault("error", f"entities.{name}", f"the policy asks no model for it: {remedy}"))
        elif (words := len(guideline.line(types[name]).split())) > LONG_LINE:
            found.append(Fault("warning", f"entities.{name}", f"{words} words in one line: shorten it"))
    texts: dict[str, int] = {}
    for number, one in enumerate(prompt.examples, 1):
        field = f"examples {number}"
        if (first := texts.setdefault(one.text, number)) != number:
            found.append(Fault("warning", field, f"the same text as example {first}: take one out"))
        unserved = sorted({t for _, _, t in one.found if not any(each in types for each in catalogue().lineage(t))})
        if unserved:
            what = f"the policy asks no model for {', '.join(unserved)}: its answer leaves that out"
            found.append(Fault("warning", field, what))
    if prompt.examples and all(one.found for one in prompt.examples):
        found.append(Fault("warning", "examples", "each holds an identifier: one without shows that {} is an answer"))
    if prompt.examples and not any(one.found for one in prompt.examples):
        found.append(Fault("warning", "examples", "none holds an identifier: add one that does"))
    for number in leaking(prompt, against or ()):
        what = f"shares {RUN} words running with a document to be scored: take it out"
        found.append(Fault("error", f"examples {number}", what))
    rendered = prompt.render([""], types)
    tokens = (len(rendered.system) + len(rendered.user)) // 4
    if tokens > LONG:
        what = f"some {tokens:,} tokens before the note begins: take out what earns nothing (`incognote prompt diff`)"
        found.append(Fault("warning", "length", what))
    return found
