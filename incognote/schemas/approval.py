"""Approval of record schemas: who, when, and the content hash, in `approvals.json` beside the files.

A schema whose content hash is not the approved one is unapproved again, whoever changed it and why.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from incognote.errors import BadSchema, UsageError
from incognote.schemas.check import problems, read_definition, refuse
from incognote.schemas.record_schema import content_hash

FILE = "approvals.json"
State = Literal["approved", "changed", "unapproved"]


@dataclass(frozen=True, slots=True)
class Approval:
    """Who approved a schema, when (ISO 8601, UTC), and the content hash that was approved."""

    by: str
    at: str
    sha256: str

    def covers(self, definition: Mapping[str, Any]) -> bool:
        return self.sha256 == content_hash(definition)


def state(approval: Approval | None, definition: Mapping[str, Any]) -> State:
    """`changed` where something was approved, but not what stands there now."""
    if approval is None:
        return "unapproved"
    return "approved" if approval.covers(definition) else "changed"


def read_approvals(text: str) -> dict[str, Approval]:
    """The approvals of a folder, by file name.

    Raises:
        BadSchema: the file is not what `approve` writes.
    """
    try:
        return {name: Approval(**{k: str(entry[k]) for k in ("by", "at", "sha256")})
                for name, entry in json.loads(text).items()}
    except (ValueError, AttributeError, KeyError, TypeError):
        raise BadSchema(f"{FILE} is damaged: restore it, or approve the schemas anew") from None


def approve(path: str | Path, by: str, now: datetime | None = None, *, version: str = "") -> Approval:
    """Approve one schema file as it stands.

    Args:
        by: the name of the person who read it and answers for it.
        version: that was read, or its beginning.
        now: the time of approval; default the clock.

    Raises:
        UsageError: no name, no such file, a time without zone, or the file is of another version.
        BadSchema: it has problems, or fields that await a decision; all are listed.
    """
    by = " ".join(by.split())
    if not any(c.isalpha() for c in by):
        raise UsageError("an approval bears the name of a person: --by NAME")
    at = now or datetime.now(UTC)
    if at.tzinfo is None:
        raise UsageError("the time of an approval needs a time zone")
    target = Path(path)
    definition = read_definition(read_text(target))
    refuse(problems(definition), f"{target.name} cannot be approved")
    if not content_hash(definition).startswith(version):
        raise UsageError(f"{target.name} was changed since it was read: read it anew")
    approval = Approval(by, at.astimezone(UTC).isoformat(timespec="seconds"), content_hash(definition))
    book = target.parent / FILE
    approvals = read_approvals(read_text(book)) if book.exists() else {}
    approvals[target.name] = approval
    _write(book, json.dumps({name: asdict(a) for name, a in sorted(approvals.items())}, indent=2) + "\n")
    return approval


def read_text(path: Path) -> str:
    """A schema file's text.

    Raises:
        UsageError: it cannot be read.
        BadSchema: it is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        raise UsageError(f"{path.name} cannot be read") from None
    except UnicodeDecodeError:
        raise BadSchema(f"{path.name} is not UTF-8") from None


def _write(path: Path, text: str) -> None:
    """Whole or not at all: a run that reads approvals meanwhile sees the old ones or the new."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".approvals-")
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.write(text)
    os.chmod(name, 0o644)  # mkstemp makes it readable by its owner only; approvals hold no secret
    os.replace(name, path)
