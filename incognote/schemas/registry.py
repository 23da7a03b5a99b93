"""The registry of record schemas (the shipped ones, and those in a site's own folders) and of their approvals.

An approval records who, when, and the content hash, in `approvals.json` next to the files. A schema whose content hash
differs from the approved one is unapproved again, whatever the change.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal

from incognote.errors import BadSchema, UnapprovedSchema, UnknownDataType, UsageError
from incognote.schemas.check import Defect, advice, problems, read_definition, refuse
from incognote.schemas.record_schema import FieldRule, Schema, compile_schema, content_hash

FILE = "approvals.json"
State = Literal["approved", "changed", "unapproved"]


@dataclass(frozen=True, slots=True)
class Approval:
    """An approval of a schema: by whom, when (ISO 8601, UTC), and the approved content hash."""

    by: str
    at: str
    sha256: str

    def covers(self, definition: Mapping[str, Any]) -> bool:
        return self.sha256 == content_hash(definition)


def state(approval: Approval | None, definition: Mapping[str, Any]) -> State:
    """Return the state of a schema: `changed` if an earlier version was approved, but not the current one."""
    if approval is None:
        return "unapproved"
    return "approved" if approval.covers(definition) else "changed"


def read_approvals(text: str) -> dict[str, Approval]:
    """Return the approvals of a folder by file name.

    Raises:
        BadSchema: the text does not have the format that `approve` writes.
    """
    try:
        return {name: Approval(**{k: str(entry[k]) for k in ("by", "at", "sha256")})
                for name, entry in json.loads(text).items()}
    except (ValueError, AttributeError, KeyError, TypeError):
        raise BadSchema(f"{FILE} is damaged. Restore it, or approve the schemas again.") from None


def approve(path: str | Path, by: str, now: datetime | None = None, *, version: str = "") -> Approval:
    """Approve the current content of a schema file.

    Args:
        path: the schema file.
        by: the name of the person who read the schema and is responsible for it.
        now: the time of the approval; by default, the current time.
        version: the version that was read, or its first digits.

    Raises:
        UsageError: there is no name or no such file, the time has no zone, or the file has another version.
        BadSchema: the schema has problems or undecided fields. The message lists all of them.
    """
    by = " ".join(by.split())
    if not any(c.isalpha() for c in by):
        raise UsageError("An approval needs the name of a person: --by NAME.")
    at = now or datetime.now(UTC)
    if at.tzinfo is None:
        raise UsageError("The time of an approval needs a time zone.")
    target = Path(path)
    definition = read_definition(read_text(target))
    refuse(problems(definition), f"{target.name} cannot be approved")
    if not content_hash(definition).startswith(version):
        raise UsageError(f"{target.name} was changed after it was read. Read it again.")
    approval = Approval(by, at.astimezone(UTC).isoformat(timespec="seconds"), content_hash(definition))
    book = target.parent / FILE
    approvals = read_approvals(read_text(book)) if book.exists() else {}
    approvals[target.name] = approval
    _write(book, json.dumps({name: asdict(a) for name, a in sorted(approvals.items())}, indent=2) + "\n")
    return approval


def read_text(path: Path) -> str:
    """Return the text of a schema file.

    Raises:
        UsageError: the file cannot be read.
        BadSchema: the file is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        raise UsageError(f"{path.name} cannot be read. Check the path.") from None
    except UnicodeDecodeError:
        raise BadSchema(f"{path.name} is not UTF-8 text.") from None


def _write(path: Path, text: str) -> None:
    """Write a file atomically: a run that reads approvals at the same time sees either the old ones or the new."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".approvals-")
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.write(text)
    os.chmod(name, 0o644)  # mkstemp makes it readable only by its owner; approvals are not secret
    os.replace(name, path)


@dataclass(frozen=True, slots=True)
class SchemaRow:
    """One schema as `schema list` shows it.

    Args:
        file: the file name. shipped: whether it is part of the package.
        version: the version of the content; "" if it is malformed.
        state: approved, changed since the approval, or unapproved. by, at: who approved it and when, if approved.
        problems: the number of problems that prevent its use, including undecided fields.
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
    """One field as `schema show` shows it. `flag` is "undecided" if the schema sets none."""

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
        folders: the site's own folders. Every `*.json` file in them, except `approvals.json`, is a schema.

    Raises:
        UsageError: a folder does not exist.
        BadSchema: a file is not a schema, or two files have the same data type. A shipped schema cannot be replaced.
    """

    def __init__(self, folders: Sequence[str | Path] = ()) -> None:
        self._entries: dict[str, _Entry] = {}
        self._compiled: dict[str, Schema] = {}
        self._add(files("incognote.schemas").joinpath("shipped"), shipped=True)
        for folder in folders:
            place = Path(folder).expanduser()
            if not place.is_dir():
                raise UsageError("A folder of schemas does not exist. Check `schemas` (--schemas, INCOGNOTE_SCHEMAS).")
            self._add(place, shipped=False)

    def __contains__(self, data_type: object) -> bool:
        return data_type in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def get(self, data_type: str) -> Schema:
        """Return the approved schema of a data type.

        Raises:
            UnknownDataType: there is no such schema. The message lists the data types and quotes `data_type`, so check
                a name from a record with `in` first.
            UnapprovedSchema: the schema is not approved, or was changed after its approval.
            BadSchema: the approval was written by hand although the schema has problems.
        """
        found = self._compiled.get(data_type)
        if found is not None:
            return found
        entry = self._entries.get(data_type)
        if entry is None:
            raise UnknownDataType(f"there is no schema for {data_type!r}. Known: {', '.join(sorted(self))}")
        standing = state(entry.approval, entry.definition)
        if standing != "approved":
            why = "was changed after its approval" if standing == "changed" else "is not approved"
            raise UnapprovedSchema(f"the schema {data_type} ({entry.file}) {why}. "
                                   "Read it, then approve it with `incognote schema approve`")
        if not entry.shipped:  # our tests check the shipped ones, and their approval covers the content
            refuse(problems(entry.definition), entry.file)
        schema = self._compiled[data_type] = compile_schema(entry.definition)
        return schema

    def all(self) -> list[Schema]:
        """Return every approved schema, sorted by data type."""
        return [self.get(name) for name, entry in sorted(self._entries.items())
                if state(entry.approval, entry.definition) == "approved"]

    def rows(self) -> list[SchemaRow]:
        """Return a row for every schema, approved or not, sorted by data type."""
        rows = []
        for name, entry in sorted(self._entries.items()):
            found = problems(entry.definition)
            sound = all(problem.undecided for problem in found)
            rows.append(SchemaRow(
                name, entry.file, entry.shipped, compile_schema(entry.definition).version if sound else "",
                state(entry.approval, entry.definition), entry.approval.by if entry.approval else "",
                entry.approval.at if entry.approval else "", len(found),
            ))
        return rows

    def show(self, data_type: str) -> list[FieldRow]:
        """Return the fields of a schema, approved or not.

        Raises:
            UnknownDataType: there is no such schema.
            BadSchema: the schema has problems other than undecided fields.
        """
        if data_type not in self:
            self.get(data_type)
        return field_rows(_sound(self._entries[data_type].definition, self._entries[data_type].file))

    def definition(self, data_type: str) -> Mapping[str, Any]:
        """Return the content of a schema's file, for `diff` and for printing.

        Raises:
            UnknownDataType: there is no such schema.
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
                raise BadSchema(f"{file.name}: {why}. A folder of schemas must contain only schemas.") from None
            name = definition.get("dataType")
            if not isinstance(name, str):
                raise BadSchema(f"{file.name}: dataType is missing.")
            other = self._entries.get(name)
            if other is not None:
                whose = "a shipped schema" if other.shipped else other.file
                raise BadSchema(f"{file.name}: the data type {name} already belongs to {whose}. Choose another.")
            self._entries[name] = _Entry(file.name, shipped, definition, approvals.get(file.name))


def load_schema(path: str | Path) -> Schema:
    """Load a schema from a file, approved or not.

    Raises:
        UsageError: the file cannot be read.
        BadSchema: the schema has problems other than undecided fields.
    """
    return _sound(read_definition(read_text(Path(path))), Path(path).name)


def check(path: str | Path) -> list[Defect]:
    """Return the problems of a schema file, or its advice if there are none. A malformed file is one problem.

    Raises:
        UsageError: the file cannot be read.
    """
    try:
        definition = read_definition(read_text(Path(path)))
        return problems(definition) or advice(definition)
    except BadSchema as error:
        return [Defect("", str(error))]


def field_rows(schema: Schema) -> list[FieldRow]:
    """Return the fields of a compiled schema, in the order of the file."""
    return [_field_row(path, rule) for path, rule in schema.fields()]


def _field_row(path: str, rule: FieldRule) -> FieldRow:
    return FieldRow(path, " | ".join(sorted(rule.types)), rule.flag or "undecided", rule.entity_type or "",
                    rule.known_as or "", rule.about)


def _sound(definition: Mapping[str, Any], name: str) -> Schema:
    refuse([problem for problem in problems(definition) if not problem.undecided], name)
    return compile_schema(definition)
