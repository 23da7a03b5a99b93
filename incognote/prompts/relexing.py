"""The prompts of the relexicalizer's agents (RedactOR §B.2): read, hashed, put together into messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from string import Template
from typing import Literal, get_args

from incognote.errors import UnknownName
from incognote.prompts.fence import fence, sendable
from incognote.prompts.loader import SECTIONS, sections_of, shipped, version_of

Relexing = Literal["cluster", "query", "decision", "replacement"]
AGENTS: tuple[Relexing, ...] = get_args(Relexing)
_HEADINGS = {name: heading for name, heading in SECTIONS.items() if name != "several"} | {"controls": "By kind"}


@dataclass(frozen=True, slots=True)
class RelexPrompt:
    """One agent's instructions in one version."""

    name: str
    sections: Mapping[str, str] = field(repr=False)

    @property
    def version(self) -> str:
        """The first 16 hexadecimal digits of a SHA-256 over its sections."""
        return version_of(dict(self.sections))

    def messages(
        self, words: Mapping[str, str], material: Mapping[str, str], marks: tuple[str, str]
    ) -> tuple[str, str]:
        """What a model is asked: the system's message and the user's.

        Args:
            words: our own words for placeholders of the instructions and of the input.
            material: words of notes, for placeholders of the input alone, where they stand behind the fence.
            marks: what stands around a mention; the material holds neither otherwise.
        """
        told = {"open": marks[0], "close": marks[1], **words}
        inside = {name: sendable(text) for name, text in material.items()}
        line = fence("\n".join(inside.values()))
        system = "\n\n".join(
            f"# {heading}\n{Template(self.sections[name]).substitute(told)}" for name, heading in _HEADINGS.items()
        )
        user = Template(self.sections["input"]).substitute(told | inside | {"fence": line})
        return system, user


@cache
def relex_prompt(name: str) -> RelexPrompt:
    """A shipped prompt of an agent by its name (`relex/cluster/v1`).

    Raises:
        UnknownName: there is none of that name.
    """
    known = relex_prompts()
    if name not in known:
        raise UnknownName("prompt of a relexicalizing agent", name, known)
    return RelexPrompt(name, sections_of(name))


def relex_prompts() -> list[str]:
    """The names of all that come with the package."""
    return [each for agent in AGENTS for each in shipped(f"relex/{agent}")]
