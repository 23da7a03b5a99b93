"""What to do with the columns of a table that no schema serves. Fails closed: a column nobody named is an error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from incognote.errors import UsageError
from incognote.schemas.fieldpath import child, spoken
from incognote.schemas.hints import known_type
from incognote.schemas.record_schema import FieldRule, Schema, content_hash

_STRING = frozenset({"string"})
_SEQUENCE = re.compile(r"\A[0-9]{0,6}\Z")


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table without a schema, by name.

    Args:
        text: free text, de-identified.
        id: the record's own id; hashed, unless it is passed or dropped by name.
        patient: the subject's; likewise, and what it holds is sought in the texts.
        passed: left as they are. hashed: replaced by a keyed hash. dropped: left out of the output.
    """

    text: Sequence[str]
    id: str | None = None
    patient: str | None = None
    passed: Sequence[str] = ()
    hashed: Sequence[str] = ()
    dropped: Sequence[str] = ()

    def grouped(self, group: str | None, order: str | None) -> tuple[Columns, str | None]:
        """With the group column hashed where nothing else is said of it; the order column if it passes by itself."""
        named = {*self.text, *self.passed, *self.hashed, *self.dropped}
        more = self
        if group and group not in {*named, self.id, self.patient}:
            more = replace(self, hashed=(*self.hashed, group))
        return more, order if order and order not in named else None

    def schema(self, order: str | None = None) -> Schema:
        """A schema of these columns, dropped ones apart.

        Args:
            order: a column that numbers the pieces of a note; it passes, but holds at most six digits.

        Raises:
            UsageError: no text column, or a column that is named for two things.
        """
        if not self.text:
            raise UsageError("a table without a schema needs at least one text column")
        said = [*self.text, *self.passed, *self.hashed, *self.dropped]
        twice = sorted({name for name in said if said.count(name) > 1})
        if twice:
            raise UsageError(f"column {twice[0]!r} is named for two things")
        rules = {name: FieldRule(_STRING, "auto") for name in self.text}
        rules |= {name: FieldRule(_STRING, "pass") for name in self.passed}
        rules |= {name: FieldRule(_STRING, "hash", known_as=known_type(name)) for name in self.hashed}
        if self.id and self.id not in said:
            rules[self.id] = FieldRule(_STRING, "hash")
        if self.patient and self.patient not in said:
            rules[self.patient] = FieldRule(_STRING, "hash", known_as=known_type(self.patient))
        if order:
            rules[order] = FieldRule(_STRING, "pass", pattern=_SEQUENCE)
        version = content_hash({"columns": {key: value or [] for key, value in asdict(self).items()}, "order": order})
        patient, own = (child("", name) if name else None for name in (self.patient, self.id))
        return Schema("table", version[:16], FieldRule(frozenset({"object"}), properties=rules), patient, own)

    def refuse_unnamed(self, header: Sequence[str], named: set[str]) -> None:
        """Every column of the table is named, and every named one is there.

        Raises:
            UsageError: otherwise; a column whose name may be data is told by its position.
        """
        absent = sorted(named - set(header))
        if absent:
            raise UsageError(f"the table has no column {absent[0]!r}")
        unnamed = [spoken(name, i, "column", named) for i, name in enumerate(header, 1) if name not in named]
        if unnamed:
            raise UsageError(f"say what to do with {', '.join(unnamed)}: each column is text, id, patient, pass, hash "
                             "or drop; or give the table a schema")
