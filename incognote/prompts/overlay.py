"""Overlays: a prompt defined by its changes to another prompt.

    base = "extract/v3"                # a shipped prompt, a prompt file, or another overlay (a path beside this file)
    languages = ["en", "es"]           # the languages it was written for, instead of the base's

    [sections]                         # instead of the base's
    role = "..."
    [append]                           # after the base's
    guidelines = "..."

    [entities.DATE]                    # text about a type, added to or replacing the catalogue's line
    add = "..."                        # or replace = "..."; or remove = true: drop the base's text about it
    [[examples]]                       # added to the base's; drop_examples = true removes those first
    text = "Seen by [[PERSON|Ines Abara]] on [[DATE|3/1]]."

The base defines how a reply is written. The sections about that, and those around the text, cannot be changed here.

An example in a prompt is a text with the identifiers in it, and the reply that the contract requires for it.

It is written as one text with its identifiers marked, `Seen by [[PERSON|Ines Abara]] on [[DATE|3/1]].` The reply is
made from that, so an example cannot break the contract of its prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from incognote.errors import SettingError
from incognote.prompts import fence, sendable
from incognote.schemas.catalogue import catalogue

_MARKED = re.compile(r"\[\[([A-Z][A-Z0-9_]*)\|([^\[\]|]*\S[^\[\]|]*)\]\]")
_WORD = re.compile(r"\S+")
_FURTHEST = 8
"""The maximum number of words added on either side to make a phrase unique in its text."""
_NAME = 4
"""A word without a digit that is at least this long counts as a name.

If it is repeated in the same form, it is listed once.
"""
LEAD = "Texts that were answered before, each between two equal lines, with the answer it should have had below it."
CHANGEABLE = ("role", "guidelines", "controls", "context_awareness", "self_checklist")
_KEYS = ("base", "about", "languages", "sections", "append", "entities", "examples", "drop_examples", "provenance")
_SAYS = ("replace", "add", "remove")


@dataclass(frozen=True, slots=True)
class Example:
    """One worked example.

    Args:
        text: the text that the model sees.
        found: start, end and type of each identifier in it, in order, disjoint.
    """

    text: str = field(repr=False)
    found: tuple[tuple[int, int, str], ...]

    @classmethod
    def of(cls, marked: str) -> Example:
        """Make an example from its marked text.

        Raises:
            SettingError: a mark is malformed, or a type is not in the catalogue.
        """
        clear: list[str] = []
        found: list[tuple[int, int, str]] = []
        at = length = 0
        for mark in _MARKED.finditer(marked):
            before = marked[at : mark.start()]
            clear += [before, mark[2]]
            start = length + len(before)
            length = start + len(mark[2])
            found.append((start, length, mark[1]))
            at = mark.end()
        clear.append(marked[at:])
        text = sendable("".join(clear))
        if "[[" in text or "]]" in text:
            raise SettingError(
                "examples: write a mark as [[TYPE|words]]. A text with another [[ cannot be an example."
            )
        if not text.strip():
            raise SettingError("examples: text is empty.")
        for _, _, type_ in found:
            if type_ not in catalogue():
                names = ", ".join(sorted(catalogue()))
                raise SettingError(f"examples: there is no entity type {type_}. Known: {names}.")
        return cls(text, tuple(found))

    @property
    def marked(self) -> str:
        """The marked text that `of` reads."""
        parts: list[str] = []
        at = 0
        for start, end, type_ in self.found:
            parts += [self.text[at:start], f"[[{type_}|{self.text[start:end]}]]"]
            at = end
        return "".join([*parts, self.text[at:]])

    def reply(self, types: Mapping[str, str], contract: int, marks: tuple[str, str]) -> str:
        """Return the expected answer of a model for these types. An identifier of no requested type is left out."""
        said: dict[str, list[str]] = {name: [] for name in types} if contract == 1 else {}
        opening, closing = marks if contract == 2 else ("", "")
        for start, end, fine in self.found:
            type_ = next((name for name in catalogue().lineage(fine) if name in types), None)
            if type_ is None:
                continue
            first, last = self._alone(start, end)
            text = self.text
            phrase = f"{text[first:start]}{opening}{text[start:end]}{closing}{text[end:last]}"
            phrase = " ".join(phrase.split())
            if phrase not in said.setdefault(type_, []):
                said[type_].append(phrase)
        return json.dumps(said, ensure_ascii=False)

    def _alone(self, start: int, end: int) -> tuple[int, int]:
        """Return a unique range around an identifier, by adding words alternately on the right and on the left."""
        words = self.text[start:end]
        if len(words) >= _NAME and not any(map(str.isdigit, words)):
            return start, end
        before = [m.start() for m in _WORD.finditer(self.text, 0, start)][-_FURTHEST:]
        after = [m.end() for m in _WORD.finditer(self.text, end)][:_FURTHEST]
        first, last = start, end
        while self.text.count(self.text[first:last]) > 1 and (before or after):
            if after:
                last = after.pop(0)
            if before and self.text.count(self.text[first:last]) > 1:
                first = before.pop()
        return first, last


def told(examples: Sequence[Example], types: Mapping[str, str], contract: int, marks: tuple[str, str]) -> str:
    """Return the section of examples; "" if there are none."""
    blocks = [
        f"Example {number}\n{(line := fence(one.text))}\n{one.text}\n{line}\n{one.reply(types, contract, marks)}"
        for number, one in enumerate(examples, 1)
    ]
    return "\n\n".join([LEAD, *blocks]) if blocks else ""


@dataclass(frozen=True, slots=True)
class Guideline:
    """A prompt's text about a type: `about` replaces the catalogue's line if it is not None, and `added` follows it."""

    about: str | None = None
    added: str = ""

    def line(self, catalogued: str) -> str:
        """Return the line for the type."""
        return " ".join(part for part in (catalogued if self.about is None else self.about, self.added) if part)


@dataclass(frozen=True, slots=True)
class Changed:
    """The result of applying an overlay to its base."""

    sections: dict[str, str]
    guidelines: dict[str, Guideline]
    examples: tuple[Example, ...]


def changed(
    written: Mapping[str, Any],
    sections: Mapping[str, str],
    guidelines: Mapping[str, Guideline],
    examples: tuple[Example, ...],
) -> Changed:
    """Apply an overlay to a base's sections, guidelines and examples.

    Raises:
        SettingError: an unknown key, section or type, or a value of the wrong kind. The message names it.
    """
    if unknown := sorted(set(written) - set(_KEYS)):
        raise SettingError(f"An overlay has no {', '.join(unknown)}. Allowed: {', '.join(_KEYS)}.")
    if not isinstance(written.get("about", ""), str):
        raise SettingError("about must be a string.")
    made = dict(sections)
    for table in ("sections", "append"):
        for name, text in _table(written, table).items():
            if name not in CHANGEABLE:
                known = name in sections
                why = "only a complete prompt file can change the format of replies" if known else (
                    "there is no such section"
                )  # fmt: skip
                raise SettingError(f"{table}.{name}: {why}. An overlay can change {', '.join(CHANGEABLE)}.")
            if not isinstance(text, str) or not text.strip():
                raise SettingError(f"{table}.{name} must be a string that is not empty.")
            made[name] = text.strip() if table == "sections" else f"{made.get(name, '')}\n{text.strip()}".strip()
    if "$types" not in made["controls"]:
        raise SettingError("sections.controls must hold $types, the list of types.")
    told = dict(guidelines)
    for name, says in _table(written, "entities").items():
        told[name] = _guideline(name, says, told.get(name, Guideline()))
    dropped = written.get("drop_examples", False)
    if not isinstance(dropped, bool):
        raise SettingError("drop_examples must be true or false.")
    return Changed(
        made,
        {name: one for name, one in told.items() if one != Guideline()},
        (*(() if dropped else examples), *_examples(written.get("examples", []))),
    )


def _table(written: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    table = written.get(name, {})
    if not isinstance(table, Mapping):
        raise SettingError(f"{name}: write it as a table, [{name}].")
    return table


def _guideline(name: str, says: Any, before: Guideline) -> Guideline:
    if name not in catalogue():
        raise SettingError(
            f"entities.{name}: unknown entity type. Use one of {', '.join(sorted(catalogue()))}, or add your own "
            "under [entities] in the policy."
        )
    if not isinstance(says, Mapping) or not says or set(says) - set(_SAYS):
        raise SettingError(f"entities.{name}: allowed keys are {', '.join(_SAYS)}.")
    if "remove" in says:
        if says["remove"] is not True or len(says) > 1:
            raise SettingError(f"entities.{name}: remove = true cannot be combined with other keys.")
        if before == Guideline():
            raise SettingError(f"entities.{name}: the base has nothing to remove.")
        return Guideline()
    for key, text in says.items():
        if not isinstance(text, str) or not text.strip():
            raise SettingError(f"entities.{name}.{key} must be a string that is not empty.")
    about = _one_line(says["replace"]) if "replace" in says else before.about
    kept = "" if "replace" in says else before.added
    return Guideline(about, " ".join(part for part in (kept, _one_line(says.get("add", ""))) if part))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _examples(written: Any) -> list[Example]:
    if not isinstance(written, list):
        raise SettingError('examples: write each as [[examples]] with text = "...".')
    made = []
    for one in written:
        if not isinstance(one, Mapping) or set(one) != {"text"} or not isinstance(one["text"], str):
            raise SettingError('examples: each needs text = "...", with its identifiers as [[TYPE|words]].')
        made.append(Example.of(one["text"].strip("\n")))
    return made
