"""The columns of a Spark table by their roles, checked on the driver before a job starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incognote.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

ADDED = ("verdict", "reasons", "manifest")
WORDS = ("incognote", "policy", "policy_version", "label", "schema", "versions", "models", "key", "check")
"""The members of a manifest that are words. `versions` and `models` are JSON."""
COUNTS = ("texts", "replaced", "kept_by_policy", "flagged", "mended")
"""The members of a manifest that are numbers."""


@dataclass(frozen=True)
class Roles:
    """The roles of columns.

    Args:
        text: the notes (string) or documents (binary).
        patient: identifies the patient of each row.
        id: identifies each row in its source.
        known: identifiers to search for in the row's text.
        path: the name of each row's file, whose suffix gives the format of a document.
        media_type: the media type of each document.
        keep: columns that come along unchanged. All columns without a role are left out.
    """

    text: str
    patient: str | None = None
    id: str | None = None
    known: tuple[str, ...] = ()
    path: str | None = None
    media_type: str | None = None
    keep: tuple[str, ...] = ()

    @classmethod
    def named(
        cls, text: str, patient: str | None, id: str | None, known: str | Sequence[str], path: str | None,
        media_type: str | None, keep: str | Sequence[str],
    ) -> Roles:  # fmt: skip
        """Return the roles that a caller names. One name may stand for a list of one."""

        def several(names: str | Sequence[str]) -> tuple[str, ...]:
            return (names,) if isinstance(names, str) else tuple(names)

        return cls(text, patient, id, several(known), path, media_type, several(keep))

    @property
    def linked(self) -> tuple[str, ...]:
        """The columns whose values can identify a person. They become keyed hashes, except those in `keep`."""
        return tuple(dict.fromkeys(name for name in (self.patient, self.id, *self.known, self.path) if name))

    @property
    def read(self) -> tuple[str, ...]:
        """The columns whose values are needed. No other column leaves the JVM."""
        media_type = () if self.media_type is None else (self.media_type,)
        return tuple(dict.fromkeys((self.text, *self.linked, *media_type, *self.keep)))

    @property
    def written(self) -> tuple[str, ...]:
        """The columns of the result, in order."""
        return (*self.read, *ADDED)

    def is_hashed(self, name: str) -> bool:
        """Whether the values of a column become keyed hashes."""
        return name in self.linked and name not in self.keep

    def check(self, schema: StructType) -> None:
        """Compare the roles with the columns of a table.

        Raises:
            UsageError: a column is missing, occurs twice, has two roles or the wrong type, or has the name of a column
                that is added. The message names the argument, the column, and what to do.
        """
        there = schema.fieldNames()
        for argument, names in self._by_argument():
            for name in names:
                if name not in there:
                    columns = ", ".join(there) or "none"
                    raise UsageError(f"{argument}: the table has no column {name!r}. Its columns: {columns}.")
                if there.count(name) > 1:
                    raise UsageError(f"{argument}: the table has several columns {name!r}. Rename all but one.")
        for name in ADDED:
            if name in self.read:
                raise UsageError(f"The table already has a column {name!r}, which is added here. Rename it.")
        if self.text in (*self.linked, *self.keep, self.media_type):
            raise UsageError(f"text: the column {self.text!r} cannot be used for something else, too.")
        if self.type_of(schema) not in ("string", "binary"):
            raise UsageError(
                f"text: the column {self.text!r} is neither string nor binary. Cast it, as with "
                f"df.withColumn({self.text!r}, df[{self.text!r}].cast('string'))."
            )
        for argument, other in (("path", self.path), ("media_type", self.media_type)):
            if other is None:
                continue
            if schema[other].dataType.typeName() != "string":
                raise UsageError(f"{argument}: the column {other!r} is not a string. Cast it.")
            if self.type_of(schema) != "binary":
                raise UsageError(f"{argument} is only for documents (binary). Remove it, or read with binaryFile.")

    def type_of(self, schema: StructType) -> str:
        """Return the type of the text: `string` or `binary` if it is supported."""
        return str(schema[self.text].dataType.typeName())

    def output(self, schema: StructType) -> StructType:
        """Return the schema of the result."""
        from pyspark.sql.types import StringType, StructField, StructType

        fields = [
            StructField(name, StringType() if self.is_hashed(name) else schema[name].dataType) for name in self.read
        ]
        added = _added()
        return StructType([*fields, *added.fields])

    def _by_argument(self) -> list[tuple[str, tuple[str, ...]]]:
        ones = {name: getattr(self, name) for name in ("text", "patient", "id", "path", "media_type")}
        single = [(argument, (name,)) for argument, name in ones.items() if name is not None]
        return [*single, ("known", self.known), ("keep", self.keep)]


def _added() -> StructType:
    from pyspark.sql.types import ArrayType, IntegerType, MapType, StringType, StructField, StructType

    word, number = StringType(), IntegerType()
    reason = StructType([StructField("code", word), StructField("field", word)])
    manifest = StructType(
        [
            *(StructField(name, word) for name in WORDS),
            *(StructField(name, number) for name in COUNTS),
            StructField("by_type", MapType(word, number)),
        ]
    )
    return StructType(
        [StructField("verdict", word), StructField("reasons", ArrayType(reason)), StructField("manifest", manifest)]
    )
