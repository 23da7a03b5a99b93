"""Worked examples in a prompt: a text with what is to be found in it, and the reply that either contract wants for it.

An example is written as one text with its identifiers in place, `Seen by [[PERSON|Ines Abara]] on [[DATE|3/1]].`; its
reply is made from that, so no example can break the contract of the prompt it stands in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from incognote.errors import SettingError
from incognote.prompts.fence import fence, sendable
from incognote.schemas.catalogue import catalogue

_MARKED = re.compile(r"\[\[([A-Z][A-Z0-9_]*)\|([^\[\]|]*\S[^\[\]|]*)\]\]")
_WORD = re.compile(r"\S+")
_FURTHEST = 8
"""The most words on either side that a phrase takes in to stand only once in its text."""
_NAME = 4
"""So long a word without a digit is a name; if it is repeated in the same form, it is told once."""
LEAD = "Texts that were answered before, each between two equal lines, with the answer it should have had below it."


@dataclass(frozen=True, slots=True)
class Example:
    """One worked example.

    Args:
        text: as a model is shown it.
        found: start, end and type of each identifier in it, in order, disjoint.
    """

    text: str = field(repr=False)
    found: tuple[tuple[int, int, str], ...]

    @classmethod
    def of(cls, marked: str) -> Example:
        """An example from its marked text.

        Raises:
            SettingError: a mark is malformed, or a type is none of the catalogue.
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
                "examples: a mark is written [[TYPE|words]]; a text that holds [[ otherwise cannot be one"
            )
        if not text.strip():
            raise SettingError("examples: text is empty")
        for _, _, type_ in found:
            if type_ not in catalogue():
                names = ", ".join(sorted(catalogue()))
                raise SettingError(f"examples: there is no entity type {type_}; there are: {names}")
        return cls(text, tuple(found))

    @property
    def marked(self) -> str:
        """The text as `of` reads it."""
        parts: list[str] = []
        at = 0
        for start, end, type_ in self.found:
            parts += [self.text[at:start], f"[[{type_}|{self.text[start:end]}]]"]
            at = end
        return "".join([*parts, self.text[at:]])

    def reply(self, types: Mapping[str, str], contract: int, marks: tuple[str, str]) -> str:
        """What a model should answer, asked for these types. An identifier that no asked type covers is left out."""
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
        """The stretch around an identifier that stands only once: by turns a word more on the right and on the left."""
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
    """The section of examples; "" for none."""
    blocks = [
        f"Example {number}\n{(line := fence(one.text))}\n{one.text}\n{line}\n{one.reply(types, contract, marks)}"
        for number, one in enumerate(examples, 1)
    ]
    return "\n\n".join([LEAD, *blocks]) if blocks else ""
