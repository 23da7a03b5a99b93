"""The registry of record schemas: the shipped ones, and those of the folders a site names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from incognote.errors import BadSchema, UnapprovedSchema, UnknownDataType, UsageError
from incognote.schemas.approval import FILE, Approval, State, read_approvals, read_text, state
from incognote.schemas.check import Problem, advice, problems, read_definition, refuse
from incognote.schemas.record_schema import FieldRule, Schema, compile_schema


@dataclass(frozen=True, slots=True)
class Row:
    """One schema as `schema list` shows it.

    Args:
        file: its file's name. shipped: whether it came with the package.
        version: of its content; "" where it is malformed.
        state: approved, changed since, or unapproved; by, at: who approved it and when, if anybody did.
        problems: how many stand against its use, undecided fields included.
    """

    data_type: str
    file: str
    shipped: bool
    version: str
    state: State
    by: str
    at: str
    problems: int


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One field as `schema show` shows it; `flag` is "undecided" where the schema leaves it open."""

    path: str
    types: str
    flag: str
    entity_type: str
    known_as: str
    about: str


@dataclass(frozen=True, slots=True)
class _Entry:
    file: str
    shipped: bool
    definition: Mapping[str, Any]
    approval: Approval | None


class Registry:
    """Record schemas by data type.

    Args:
        folders: a site's own; every `*.json` in one, but `approvals.json`, is a schema.

    Raises:
        UsageError: a folder that is none.
        BadSchema: a file that is no schema, or a data type that two files claim; a shipped one cannot be shadowed.
    """

    def __init__(self, folders: Sequence[str | Path] = ()) -> None:
        self._entries: dict[str, _Entry] = {}
        self._compiled: dict[str, Schema] = {}
        self._add(files("incognote.schemas").joinpath("shipped"), shipped=True)
        for folder in folders:
            place = Path(folder).expanduser()
            if not place.is_dir():
                raise UsageError("a folder of schemas does not exist (schemas, INCOGNOTE_SCHEMAS)")
            self._add(place, shipped=False)

    def __contains__(self, data_type: object) -> bool:
        return data_type in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def get(self, data_type: str) -> Schema:
        """The approved schema of a data type.

        Raises:
            UnknownDataType: there is none; the message names those there are. `data_type` is quoted, so a name that
                was read from a record is looked up with `in` first.
            UnapprovedSchema: nobody approved it, or it was changed since.
            BadSchema: approved by hand although it has problems.
        """
        found = self._compiled.get(data_type)
        if found is not None:
            return found
        entry = self._entries.get(data_type)
        if entry is None:
            raise UnknownDataType(f"no schema serves {data_type!r}; there are: {', '.join(sorted(self))}")
        standing = state(entry.approval, entry.definition)
        if standing != "approved":
            why = "was changed after its approval" if standing == "changed" else "is not approved by anybody"
            raise UnapprovedSchema(f"the schema {data_type} ({entry.file}) {why}: "
                                   "read it and approve it with `incognote schema approve`")
        if not entry.shipped:  # the shipped ones are checked by our tests; their approval vouches for the content
            refuse(problems(entry.definition), entry.file)
        schema = self._compiled[data_type] = compile_schema(entry.definition)
        return schema

    def all(self) -> list[Schema]:
        """Every approved schema, by data type."""
        return [self.get(name) for name, entry in sorted(self._entries.items())
                if state(entry.approval, entry.definition) == "approved"]

    def rows(self) -> list[Row]:
        """Every schema, approved or not, by data type."""
        rows = []
        for name, entry in sorted(self._entries.items()):
            found = problems(entry.definition)
            sound = all(problem.undecided for problem in found)
            rows.append(Row(
                name, entry.file, entry.shipped, compile_schema(entry.definition).version if sound else "",
                state(entry.approval, entry.definition), entry.approval.by if entry.approval else "",
                entry.approval.at if entry.approval else "", len(found),
            ))
        return rows

    def show(self, data_type: str) -> list[FieldRow]:
        """The fields of a schema, approved or not.

        Raises:
            UnknownDataType: there is none.
            BadSchema: it is malformed beyond undecided fields.
        """
        if data_type not in self:
            self.get(data_type)
        return field_rows(_sound(self._entries[data_type].definition, self._entries[data_type].file))

    def definition(self, data_type: str) -> Mapping[str, Any]:
        """A schema's file content, for `diff` and for printing.

        Raises:
            UnknownDataType: there is none.
        """
        if data_type not in self:
            self.get(data_type)
        return self._entries[data_type].definition

    def _add(self, folder: Traversable, *, shipped: bool) -> None:
        book = folder.joinpath(FILE)
        approvals = read_approvals(book.read_text(encoding="utf-8")) if book.is_file() else {}
        for file in sorted(folder.iterdir(), key=lambda f: f.name):
            if not file.name.endswith(".json") or file.name == FILE or not file.is_file():
                continue
            try:
                definition = read_definition(file.read_text(encoding="utf-8"))
            except (BadSchema, UnicodeDecodeError) as error:
                why = error if isinstance(error, BadSchema) else "not UTF-8"
                raise BadSchema(f"{file.name}: {why}; a folder of schemas holds nothing else") from None
            name = definition.get("dataType")
            if not isinstance(name, str):
                raise BadSchema(f"{file.name}: dataType is absent")
            other = self._entries.get(name)
            if other is not None:
                whose = "a shipped schema" if other.shipped else other.file
                raise BadSchema(f"{file.name} claims the data type {name}, which {whose} has: give it another")
            self._entries[name] = _Entry(file.name, shipped, definition, approvals.get(file.name))


def load_schema(path: str | Path) -> Schema:
    """A schema from a file, approved or not.

    Raises:
        UsageError: it cannot be read.
        BadSchema: it has problems other than undecided fields.
    """
    return _sound(read_definition(read_text(Path(path))), Path(path).name)


def check(path: str | Path) -> list[Problem]:
    """What is wrong with a schema file; what cannot even be read as a schema is one problem.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        definition = read_definition(read_text(Path(path)))
        return problems(definition) or advice(definition)
    except BadSchema as error:
        return [Problem("", str(error))]


def field_rows(schema: Schema) -> list[FieldRow]:
    """The fields of a compiled schema, in the file's order."""
    return [_field_row(path, rule) for path, rule in schema.fields()]


def _field_row(path: str, rule: FieldRule) -> FieldRow:
    return FieldRow(path, " | ".join(sorted(rule.types)), rule.flag or "undecided", rule.entity_type or "",
                    rule.known_as or "", rule.about)


def _sound(definition: Mapping[str, Any], name: str) -> Schema:
    refuse([problem for problem in problems(definition) if not problem.undecided], name)
    return compile_schema(definition)
