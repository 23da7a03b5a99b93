"""Collect the texts of a PDF outside its pages while it is cleaned."""

from __future__ import annotations

from typing import Any

from incognote.formats.base import Change, Document, FieldAction, splice
from incognote.formats.pdf import closed
from incognote.formats.rtf.closed import NOBODY, is_full_name
from incognote.nouns import Known, Text


class StringText:
    """A text of several strings, each on a line or in a cell of its own."""

    def __init__(self) -> None:
        self.strings: list[tuple[Any, Any, int, str]] = []
        self.text = ""

    def add(self, holder: Any, key: Any, separator: str = "\n") -> None:
        """Add the string at a key of a dictionary, or at an index of an array."""
        content = str(holder[key])
        self.text += separator if self.text else ""
        self.strings.append((holder, key, len(self.text), content))
        self.text += content

    def change(self, edits: list[Change]) -> None:
        """Write edits of the text into the strings. The first string of an edit gets the new words.

        Raises:
            AccountingError: edits overlap or are outside the text.
        """
        splice(self.text, edits)
        words = [new for _, _, new in edits]
        for holder, key, at, content in self.strings:
            own: list[Change] = []
            for number, (start, end, _) in enumerate(edits):
                if start <= at + len(content) and end >= at and (words[number] or start < end):
                    own.append((max(start - at, 0), min(end - at, len(content)), words[number]))
                    words[number] = ""
            if own:
                holder[key] = splice(content, own)


class Kept:
    """What is kept of a PDF outside its pages.

    Attributes:
        texts: the texts by field. fields: the structured fields, with the holder and key of each.
        known: the names in structured fields. children: attached documents by field, each with its stream.
        changed: how many things were removed or renamed.
    """

    def __init__(self) -> None:
        self.texts: dict[str, StringText] = {}
        self.fields: dict[FieldAction, tuple[Any, Any]] = {}
        self.known: list[Known] = []
        self.children: dict[str, tuple[Any, Document]] = {}
        self.changed = 0
        self._done: set[tuple[int, int]] = set()

    def keep(self, holder: Any, kind: str) -> None:
        """Remove the keys of a dictionary that are not in the list of its kind."""
        for key in sorted(holder.keys()):
            if key not in closed.keys(kind):
                self.remove(holder, key)

    def remove(self, holder: Any, key: str) -> None:
        """Remove a key."""
        del holder[key]
        self.changed += 1

    def write(self, holder: Any, key: Any, value: Any) -> None:
        """Write a value if it differs from the one that is there."""
        old = holder.get(key, None) if isinstance(key, str) else holder[key]
        if old != value:
            holder[key] = value
            self.changed += 1

    def first(self, holder: Any) -> bool:
        """Whether an object is seen for the first time. One without a number always is."""
        if not holder.is_indirect:
            return True
        is_new = holder.objgen not in self._done
        self._done.add(holder.objgen)
        return is_new

    def text(self, field: str, holder: Any, key: Any, separator: str = "\n") -> None:
        """Add a string to a text, unless it is blank."""
        if str(holder[key]).strip():
            self.texts.setdefault(field, StringText()).add(holder, key, separator)

    def author(self, field: str, holder: Any, key: str) -> None:
        """Add a structured field with the name of a person."""
        content = str(holder[key])
        if content.strip().casefold() in NOBODY:
            return
        action = FieldAction(Text(content, field), 0, len(content), "mask", "PERSON")
        self.fields[action] = (holder, key)
        if is_full_name(content):
            self.known.append(Known("PERSON", content.strip()))
