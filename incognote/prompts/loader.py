"""Prompts from their files: read, hashed, rendered for one text."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Literal

from incognote.errors import SettingError, UnknownName
from incognote.prompts.fence import fence, marks, sendable

Agent = Literal["extract"]
Contract = Literal[1, 2]
SECTIONS = ("role", "guidelines", "controls", "context_awareness", "output_format", "self_checklist")
_HEADINGS = ("Role", "Guidelines", "What to extract", "Context", "Output", "Checklist")


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt for one text.

    Args:
        system: the instructions; equal for all texts of one run, so that providers can keep them at hand.
        user: the text, fenced.
        text: the text as it was sent; NUL and lone surrogates became U+FFFD, so offsets are those of the original.
        marks: what stands around an identifier within a phrase (contract 2).
        schema: JSON schema of the reply.
        strict: whether the schema requires every property.
    """

    system: str = field(repr=False)
    user: str = field(repr=False)
    text: str = field(repr=False)
    marks: tuple[str, str]
    schema: Mapping[str, Any] = field(repr=False)
    strict: bool


@dataclass(frozen=True, slots=True)
class Prompt:
    """One agent's instructions in one version.

    Args:
        name: `extract/v2`, or the file's own name.
        contract: the version of the reply's contract.
        sections: the text of each section of RedactOR's template (§B.1), and `input`.
    """

    name: str
    contract: Contract
    sections: Mapping[str, str] = field(repr=False)

    @property
    def version(self) -> str:
        """The first 16 hexadecimal digits of a SHA-256 over contract and sections."""
        written = json.dumps([self.contract, dict(self.sections)], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(written.encode()).hexdigest()[:16]

    def render(self, text: str, types: Mapping[str, str]) -> Rendered:
        """The prompt for one text.

        Args:
            text: a chunk, in later passes with what was found masked by its type.
            types: the entity types to look for, each with a line that says what it is.
        """
        sent = sendable(text)
        opening, closing = marks(sent)
        words = {
            "types": "\n".join(f"- {name}: {about}" for name, about in types.items()),
            "open": opening,
            "close": closing,
            "fence": fence(sent),
        }
        system = "\n\n".join(
            f"# {heading}\n{_filled(self.sections[section], words)}"
            for heading, section in zip(_HEADINGS, SECTIONS, strict=True)
        )
        lists = {"type": "array", "items": {"type": "string"}}
        schema = {
            "type": "object",
            "properties": dict.fromkeys(types, lists),
            "additionalProperties": False,
            "required": list(types) if self.contract == 1 else [],
        }
        user = _filled(self.sections["input"], {**words, "text": sent})
        return Rendered(system, user, sent, (opening, closing), schema, strict=self.contract == 1)


@cache
def shipped(agent: Agent = "extract") -> tuple[str, ...]:
    """The names of the prompts that come with the package, the oldest first."""
    folder = files("incognote.prompts").joinpath(agent)
    names = [entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")]
    return tuple(f"{agent}/{name}" for name in sorted(names, key=lambda name: (len(name), name)))


def load(name: str) -> Prompt:
    """A shipped prompt by its name (`extract/v2`), or one from a TOML file.

    Raises:
        UnknownName: no shipped prompt bears the name.
        SettingError: the file cannot be read or lacks a section.
    """
    if name in shipped():
        return _parsed(name, files("incognote.prompts").joinpath(f"{name}.toml").read_bytes())
    if not name.endswith(".toml"):
        raise UnknownName("prompt", name, shipped())
    try:
        return _parsed(Path(name).stem, Path(name).expanduser().read_bytes())
    except OSError:
        raise SettingError("the prompt file cannot be read; check `prompt` (--prompt)") from None


def _parsed(name: str, raw: bytes) -> Prompt:
    try:
        written = tomllib.loads(raw.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        raise SettingError("the prompt file is not TOML in UTF-8") from None
    needed = {*SECTIONS, "input"}
    sections = {key: value.strip() for key, value in written.items() if isinstance(value, str)}
    if written.get("contract") not in (1, 2):
        raise SettingError("a prompt file needs contract = 1 or 2: how the reply is written")
    if set(sections) != needed:
        wrong = ", ".join(sorted(needed ^ set(sections)))
        raise SettingError(f"a prompt file has exactly these texts: {', '.join(sorted(needed))}; amiss: {wrong}")
    for key, value in sections.items():
        allowed = {"types", "open", "close"} | ({"fence", "text"} if key == "input" else set())
        template = Template(value)
        if not template.is_valid() or not set(template.get_identifiers()) <= allowed:
            raise SettingError(f"{key}: its placeholders are {', '.join('$' + a for a in sorted(allowed))}; a $ is $$")
    if "$fence\n$text\n$fence" not in sections["input"]:
        raise SettingError("input: it must hold $text on a line of its own between two lines $fence")
    return Prompt(name, written["contract"], sections)


def _filled(section: str, words: Mapping[str, str]) -> str:
    return Template(section).substitute(words)
