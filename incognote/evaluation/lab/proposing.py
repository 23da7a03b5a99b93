"""The prompt that asks a model for a better guideline of one type, and the contract of its reply."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import Template
from typing import Any

from incognote.errors import UnknownName
from incognote.llm.base import Message, Request
from incognote.prompts.fence import fence, marks, sendable
from incognote.prompts.loader import sections_of, shipped, version_of

WORDS = 80
"""The longest guideline that is asked for; half as much again is taken."""
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"guideline": {"type": "string"}, "reason": {"type": "string"}},
    "required": ["guideline", "reason"],
    "additionalProperties": False,
}
_OTHER = 0.7
_SECTIONS = {"role": "Role", "task": "Task", "output_format": "Output"}


@dataclass(frozen=True, slots=True)
class Context:
    """A few words of a note, of which `start:end` was missed or wrongly taken. It is PHI.

    Args:
        part: what of a missed one was found all the same; "" for nothing.
    """

    text: str = field(repr=False)
    start: int
    end: int
    part: str = field(default="", repr=False)

    @property
    def words(self) -> str:
        """What was missed or taken."""
        return self.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Proposing:
    """One version of the prompt."""

    name: str
    sections: Mapping[str, str] = field(repr=False)

    @property
    def version(self) -> str:
        """The first 16 hexadecimal digits of a SHA-256 over its sections."""
        return version_of(dict(self.sections))

    def request(
        self,
        type_: str,
        about: str,
        said: str,
        missed: Sequence[Context],
        wrong: Sequence[Context],
        *,
        sample: int = 0,
    ) -> Request:
        """What a model is asked.

        Args:
            type_: whose guideline is to be rewritten.
            about: what is said of it now.
            said: what is said of all types.
            missed, wrong: contexts of its errors, the note's words fenced off.
            sample: 0 for the first time; a question that is repeated asks for another answer, not the likeliest.
        """
        told = "\n".join(one.text for one in (*missed, *wrong))
        opening, closing = marks(told)
        words = {"type": type_, "about": about, "said": said, "words": str(WORDS), "open": opening, "close": closing}
        inside = {"missed": _listed(missed, opening, closing), "wrong": _listed(wrong, opening, closing)}
        system = "\n\n".join(
            f"# {heading}\n{Template(self.sections[name]).substitute(words)}" for name, heading in _SECTIONS.items()
        )
        line = fence("\n".join(inside.values()))
        user = Template(self.sections["input"]).substitute(words | inside | {"fence": line})
        messages = (Message("system", system), Message("user", user))
        temperature = _OTHER if sample else 0.0
        return Request(messages, SCHEMA, strict=True, temperature=temperature, max_tokens=1024, sample=sample)


def propose_prompt(name: str = "propose/v1") -> Proposing:
    """A shipped prompt for proposals.

    Raises:
        UnknownName: there is none of that name.
    """
    if name not in shipped("propose"):
        raise UnknownName("prompt for proposals", name, shipped("propose"))
    return Proposing(name, sections_of(name))


def read_guideline(reply: str) -> str | None:
    """The guideline of a reply, on one line; None where the reply is not the object that was asked for."""
    text = reply.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or set(said) != set(SCHEMA["required"]):
        return None
    line = said["guideline"]
    if not isinstance(line, str) or not isinstance(said["reason"], str) or not line.strip():
        return None
    made = " ".join(sendable(line).split())
    return made if len(made.split()) <= WORDS * 3 // 2 else None


def _listed(contexts: Sequence[Context], opening: str, closing: str) -> str:
    lines = []
    for one in contexts:
        marked = f"{one.text[: one.start]}{opening}{one.words}{closing}{one.text[one.end :]}"
        part = f' (of it only "{one.part}" was found)' if one.part else ""
        lines.append("- " + " ".join(sendable(marked + part).split()))
    return "\n".join(lines) or "- none"
