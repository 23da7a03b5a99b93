"""An RTF document, whose bytes outside edits and removals stay the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO

from incognote.formats.base import ByteRange, Document, Edit, Place, account, split_edits
from incognote.formats.rtf.reader import read
from incognote.formats.rtf.stretch import outside, spliced
from incognote.nouns import Text


class RtfDocument(Document):
    """A whole document. Its body, headers, footers, notes, comments, text boxes, and properties are texts.

    Args:
        data: the bytes.

    Raises:
        MalformedRecord: they are not one complete RTF document, or a part of it cannot be read.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._source = data.decode("latin-1")  # one character for each byte
        self._parts = read(self._source)
        self.texts = tuple(Text(stretch.text, field) for field, stretch in self._parts.texts.items())
        self.actions = tuple(self._parts.fields)
        self.known = tuple(dict.fromkeys(self._parts.known))

    def rebuild(self, edits: Iterable[Edit], out: BinaryIO) -> None:
        changes, values = split_edits(edits)
        account(self, changes, values)
        edited = {self._parts.texts[field]: own for field, own in changes.items()}
        for action, value in values.items():
            stretch, at = self._parts.fields[action]
            edited.setdefault(stretch, []).append((at + action.start, at + action.end, value))
        replaced = [change for stretch, own in edited.items() for change in stretch.changes(own)]
        replaced += outside(self._parts.defaults, replaced)
        out.write(spliced(self._source, replaced).encode("latin-1"))

    def places(self, field: str, start: int, end: int) -> tuple[Place, ...]:
        return tuple(ByteRange(a, b) for a, b in self._parts.texts[field].places(start, end))
