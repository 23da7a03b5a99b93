"""Agreements that notes may be sent to an external model: `agreements.json` in the home folder.

Each has a person, a time and terms. Entries are only added. Each contains a SHA-256 of its own content. An entry that
was edited by hand is ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from incognote.errors import EgressRefused, SettingError
from incognote.llm.egress import EgressAddress

FILE = "agreements.json"
LONGEST_NOTE = 200


@dataclass(frozen=True, slots=True)
class AgreementTerms:
    """The terms that the provider has signed.

    Args:
        baa: the reference of the business associate agreement (or its equivalent).
        retention_days: how long the provider keeps prompts and replies; 0 for not at all.
    """

    baa: str
    retention_days: int

    def __post_init__(self) -> None:
        if not self.baa.strip():
            raise SettingError("terms: give a reference to the agreement (BAA).")
        if self.retention_days < 0:
            raise SettingError("terms: the retention must be 0 days or more.")


@dataclass(frozen=True, slots=True)
class ModelAgreement:
    """One person's agreement that a model may receive notes.

    Args:
        model: vendor and model as in the settings.
        address: scheme, host and port.
        by: the person.
        at: the time, ISO 8601, UTC.
        terms: what was signed.
        note: additional information, such as a contract's number. It must not contain PHI, since it is listed in clear
            text.
    """

    model: str
    address: str
    by: str
    at: str
    terms: AgreementTerms
    note: str = ""

    @property
    def hash(self) -> str:
        """SHA-256 of the content, in hexadecimal.

        An empty note is left out, so that entries from before notes existed match.
        """
        content = {name: value for name, value in asdict(self).items() if (name, value) != ("note", "")}
        written = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
        return hashlib.sha256(written.encode()).hexdigest()


class Agreements:
    """The agreements in a folder.

    Args:
        home: the folder. It need not exist yet.
    """

    def __init__(self, home: Path) -> None:
        self._path = home.expanduser() / FILE

    def all(self) -> list[ModelAgreement]:
        """Return every unchanged agreement, oldest first.

        Raises:
            SettingError: the file exists but cannot be read as agreements.
        """
        return [a for a, recorded in self._entries() if a.hash == recorded]

    def record(self, model: str, api_base: str, *, by: str, terms: AgreementTerms, note: str = "") -> ModelAgreement:
        """Add an agreement, dated now.

        Raises:
            SettingError: no person, a malformed address, a note of more than one line or 200 characters, or a file that
                cannot be read or written.
        """
        if not by.strip():
            raise SettingError("by: name the person who agrees.")
        note = note.strip()
        if len(note) > LONGEST_NOTE or not note.isprintable():
            raise SettingError(f"note: must be one printable line of at most {LONGEST_NOTE} characters.")
        at = datetime.now(UTC).isoformat(timespec="seconds")
        new = ModelAgreement(model, str(EgressAddress.of(api_base)), by.strip(), at, terms, note)
        entries = [*self._entries(), (new, new.hash)]
        content = {"agreements": [{**asdict(a), "hash": recorded} for a, recorded in entries]}
        try:
            _write(self._path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
        except OSError as error:
            raise SettingError(f"{FILE} cannot be written: {error.strerror or type(error).__name__}.") from None
        return new

    def require(self, model: str, api_base: str) -> ModelAgreement | None:
        """Return the latest agreement for a model at an address; None if it is on the loopback and needs none.

        Raises:
            EgressRefused: no agreement is recorded, or the entry was changed later.
        """
        address = EgressAddress.of(api_base)
        if address.loopback:
            return None
        entries = [(a, recorded) for a, recorded in self._entries() if (a.model, a.address) == (model, str(address))]
        valid = [a for a, recorded in entries if a.hash == recorded]
        if valid:
            return valid[-1]
        why = "the recorded agreement was changed after it was made" if entries else "no agreement is recorded"
        raise EgressRefused(
            f"{model} is not on this machine, and {why}. The responsible person must run: incognote model agree "
            f"{model} --api-base {address}"
        )

    def _entries(self) -> list[tuple[ModelAgreement, str]]:
        try:
            content = json.loads(self._path.read_text(encoding="utf-8"))
            return [_entry(row) for row in content["agreements"]]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError):
            raise SettingError(
                f"{FILE} in the home folder cannot be read. Restore it, or record the agreements again."
            ) from None


def _entry(row: dict[str, Any]) -> tuple[ModelAgreement, str]:
    terms = AgreementTerms(**row["terms"])
    return ModelAgreement(row["model"], row["address"], row["by"], row["at"], terms, row.get("note", "")), row["hash"]


def _write(path: Path, text: str) -> None:
    """Write a file completely or not at all. (`files.atomic` does this for outputs, one layer up.)"""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
