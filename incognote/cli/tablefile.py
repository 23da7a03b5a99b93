"""`--tables FILE`: the layouts of different tables in one folder, selected by file name."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from incognote.errors import UsageError
from incognote.formats.tables import Columns, Layout, Layouts

if TYPE_CHECKING:
    from incognote.schemas.record_schema import Schema


class TableEntry(BaseModel):
    """One `[[table]]` of the file.

    Attributes:
        files: patterns such as `visits*.csv`, for the name of a file or its path below the input folder.
        text: columns with free text.
        id, patient: columns to hash. The patient is also searched for in the texts.
        known: columns to hash and to search for in the texts, with the type of each.
        keep, hash, drop: columns to keep unchanged, to hash, or to remove.
        group, order: the column that groups rows into one note, and the column that orders these rows.
        delimiter: the column delimiter; detected from the header by default.
        data_type: a record schema, instead of the columns.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    files: tuple[str, ...] | str
    text: tuple[str, ...] = ()
    id: str | None = None
    patient: str | None = None
    known: dict[str, str] = {}
    keep: tuple[str, ...] = ()
    hash: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    group: str | None = None
    order: str | None = None
    delimiter: str | None = None
    data_type: str | None = None

    def layout(self, schema_of: Callable[[str], Schema]) -> Layout:
        """Return the layout of such a table.

        Raises:
            UsageError: the entry has both columns and a schema, or neither; a type is unknown; or the delimiter has
                more than one character.
        """
        from incognote.schemas.catalogue import catalogue

        columns = Columns(self.text, self.id, self.patient, self.keep, self.hash, self.drop, self.known)
        if (columns == Columns(())) == (self.data_type is None):
            raise UsageError("Set either `data_type` or columns such as `text`.")
        if unknown := sorted(set(self.known.values()) - set(catalogue())):
            raise UsageError(f"`known`: there is no entity type {unknown[0]!r}. `incognote policy explain` lists them.")
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise UsageError("`delimiter` must be one character.")
        if self.data_type is None:
            columns.schema()  # refuses a column that is named twice
        schema = schema_of(self.data_type) if self.data_type else columns
        return Layout(schema, self.group, self.order, self.delimiter)


def read_tables(path: str, schema_of: Callable[[str], Schema]) -> Layouts:
    """Return the layouts of a `--tables` file, in file order.

    Raises:
        UsageError: the file cannot be read, or an entry is invalid. The message names file, entry, and key.
        UnknownDataType, UnapprovedSchema: a schema cannot be used.
    """
    try:
        data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--tables: {path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"--tables: {path} is not valid TOML: {error}.") from None
    entries: Any = data.pop("table", None)
    if data or not isinstance(entries, list) or not entries:
        raise UsageError(f'--tables: {path} must hold [[table]] entries only, each with files = "PATTERN".')
    made = []
    for number, written in enumerate(entries, 1):
        place = f"--tables: {path}, table {number}"
        try:
            entry = TableEntry.model_validate(written)
            patterns = (entry.files,) if isinstance(entry.files, str) else entry.files
            made.append((patterns, entry.layout(schema_of)))
        except ValidationError as error:
            fault = error.errors(include_input=False)[0]
            unknown = fault["type"] == "extra_forbidden"
            allowed = f" Allowed keys: {', '.join(TableEntry.model_fields)}." if unknown else ""
            says = 'Write a list, such as ["NAME"]' if fault["type"] == "tuple_type" else fault["msg"]
            raise UsageError(f"{place}: {'.'.join(map(str, fault['loc'][:1]))}: {says}.{allowed}") from None
        except UsageError as error:
            raise UsageError(f"{place}: {error}") from None
    return Layouts(tuple(made))
