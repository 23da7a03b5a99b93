"""What has been done and by whom: every record's state, in SQLite or PostgreSQL.

    ledger = Ledger("sqlite:///ledger.db", keyring)
    release = ledger.freeze("2026-w12", {"policy": ...})
    worker = ledger.join(lease=30)
    for part in ledger.claim_parts(worker, release.id, most=64, bytes=2**24): ...

The words of a record are nowhere in it: keys are keyed hashes, names of files are sealed.
"""

from incognote.errors import MissingExtra

try:
    import sqlalchemy  # noqa: F401 -- asked for here, so that its absence is said in our words
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
