"""What a reader finds in an RTF document: texts, structured fields, and changes that are made to every document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from incognote.formats.base import Change, FieldAction
from incognote.formats.rtf import closed, words
from incognote.formats.rtf.stretch import RtfText, outside
from incognote.nouns import Known, Text


class RtfParts:
    """The parts of a document, which grow while it is read.

    Attributes:
        texts: the texts by field, in order.
        fields: the structured fields, and the stretch and the offset of each.
        known: the names in the structured fields.
        defaults: changes to the source that are made to every document, in order.
    """

    def __init__(self) -> None:
        self.texts: dict[str, RtfText] = {}
        self.fields: dict[FieldAction, tuple[RtfText, int]] = {}
        self.known: list[Known] = []
        self.defaults: list[Change] = []
        self._numbers: Counter[str] = Counter()

    def text(self, field: str) -> RtfText:
        """Begin a text. A second one of the same field gets a number."""
        self._numbers[field] += 1
        name = field if self._numbers[field] == 1 else f"{field} {self._numbers[field]}"
        self.texts[name] = RtfText()
        return self.texts[name]

    def names(self, word: str, stretch: RtfText) -> None:
        """Add the structured fields of a destination with a name, or with several separated by semicolons."""
        field, kind = words.NAMES[word]
        at = 0
        for part in stretch.text.split(";") if word == "revtbl" else [stretch.text]:
            name = part.strip()
            if name.casefold() not in closed.NOBODY:
                text = Text(part, f"{field} {len(self.fields) + 1}")
                self.fields[FieldAction(text, 0, len(part), "mask", kind)] = (stretch, at)
                if word == "company" or closed.is_full_name(name):
                    self.known.append(Known(kind, name))
            at += len(part) + 1

    def override(self, start: int, changes: Iterable[Change]) -> None:
        """Add changes to a group that begins at `start`. They take precedence over those inside it."""
        own = list(changes)
        if not own:
            return
        inner = len(self.defaults)
        while inner and self.defaults[inner - 1][0] >= start:
            inner -= 1
        self.defaults[inner:] = [*outside(self.defaults[inner:], own), *own]
