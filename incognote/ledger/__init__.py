"""The state of every record, and which worker processed it, in SQLite or PostgreSQL.

    ledger = Ledger("sqlite:///ledger.db", keyring)
    release = ledger.freeze("2026-w12", {"policy": ...})
    worker = ledger.join(lease=30)
    for part in ledger.claim_parts(worker, release.id, most=64, bytes=2**24): ...

The ledger contains no text of a record. Keys are keyed hashes, and file names are sealed.
"""

from incognote.errors import MissingExtra

try:
    import sqlalchemy  # noqa: F401 -- imported here to raise our own error if it is missing
except ImportError:
    raise MissingExtra("service", "the ledger") from None

from incognote.ledger.ledger import Ledger
from incognote.ledger.nouns import (
    UNREADABLE,
    FilePart,
    FoundFile,
    LedgerEntry,
    RecordClaim,
    Release,
    SettledRecord,
    Shard,
    State,
    Wanted,
)

__all__ = [
    "UNREADABLE",
    "FilePart",
    "FoundFile",
    "Ledger",
    "LedgerEntry",
    "RecordClaim",
    "Release",
    "SettledRecord",
    "Shard",
    "State",
    "Wanted",
]  # fmt: skip
