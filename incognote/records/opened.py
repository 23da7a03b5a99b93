"""An opened record: its free texts, what its flags decide, what it makes known, and how it is put together again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from incognote.errors import AccountingError
from incognote.nouns import Known, Text
from incognote.records.rawjson import Node, quoted, splice, string_edits
from incognote.schemas.record_schema import Schema

Edit = tuple[int, int, str]
Action = Literal["mask", "hash", "absent", "date"]


@dataclass(frozen=True, slots=True)
class FieldAction:
    """A structured field that its flag replaces.

    Args:
        text: the whole value and its path; of a number or another non-string, its raw JSON.
        start, end: the stretch that is replaced, code points of `text`.
        action: `mask` becomes `[TYPE]`, `hash` a keyed hash, `absent` whatever its format has for withheld data,
            `date` what the policy makes of a date; where that is no date of its format, it is absent.
        entity_type: what the value is; a mask always has one.
    """

    text: Text
    start: int
    end: int
    action: Action
    entity_type: str | None = None


@dataclass(frozen=True, eq=False)
class OpenRecord:
    """One record under its schema.

    Args:
        texts: the free texts to de-identify; paths are unique.
        actions: the structured fields that are replaced.
        known: the identifiers its structured fields reveal, to be sought in its texts.
        patient: the subject, where the schema names its field and the record fills it.
        id: the record's own id, likewise.
        raw: the JSON text.
        nodes: the value at each path of a text or an action.
    """

    data_type: str
    schema: Schema
    texts: tuple[Text, ...] = field(repr=False)
    actions: tuple[FieldAction, ...] = field(repr=False)
    known: tuple[Known, ...] = field(repr=False)
    patient: str | None = field(repr=False)
    id: str | None = field(repr=False)
    raw: str = field(repr=False)
    nodes: Mapping[str, Node] = field(repr=False)

    def rebuild(self, spliced: Mapping[str, Sequence[Edit]], actions: Mapping[FieldAction, str]) -> str:
        """The new raw record; whatever is neither edited nor acted on keeps its bytes.

        Args:
            spliced: by path of a text, edits `(start, end, new)` in code points of the decoded string.
            actions: the new value of every action; it is written as a string whatever stood there.

        Raises:
            AccountingError: an action without a value, or an edit of what is no text of this record.
        """
        self.account(spliced, actions)
        edits: list[Edit] = []
        for path, changes in spliced.items():
            edits += string_edits(self.raw, self.nodes[path], changes)
        for action, value in actions.items():
            node = self.nodes[action.text.field]
            whole = (action.start, action.end) == (0, len(action.text))
            edits += [(node.start, node.end, quoted(value))] if whole else string_edits(
                self.raw, node, [(action.start, action.end, value)])
        return splice(self.raw, edits)

    def account(self, spliced: Mapping[str, Sequence[Edit]], actions: Mapping[FieldAction, str]) -> None:
        """Refuse to put together what was not wholly served."""
        if set(actions) != set(self.actions):
            differing = len(set(self.actions) ^ set(actions))
            raise AccountingError(f"{differing} structured fields were not served, or are not of this record")
        strangers = len(spliced.keys() - {text.field for text in self.texts})
        if strangers:
            raise AccountingError(f"edits name {strangers} texts that are not of this record")
