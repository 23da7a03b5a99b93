"""The ledger's tables, and the migrations from older versions of them."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    insert,
    inspect,
    select,
    update,
)

from incognote.errors import LedgerRejected

METADATA = MetaData()
_LOCK = 0x494E434C  # "INCL": PostgreSQL's advisory lock for changes to the tables

META = Table("ledger_meta", METADATA, Column("name", String(16), primary_key=True), Column("value", Text))

WORKERS = Table(
    "ledger_workers",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("beat", Float(53), nullable=False),
    Column("since", Float(53), nullable=False),  # no gap in its heartbeats since then
    Column("lease", Float(53), nullable=False),
    Column("last", String(32)),  # the token of what it last settled
)

RELEASES = Table(
    "ledger_releases",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("name", String(64), nullable=False, unique=True),
    Column("digest", String(16), nullable=False),
    Column("frozen", Text, nullable=False),
    Column("made", Float(53), nullable=False),
)

FILES = Table(
    "ledger_files",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("release_id", ForeignKey(RELEASES.c.id), nullable=False),
    Column("location", String(32), nullable=False),
    Column("stamp", String(32), nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("code", String(64)),  # why it is not, or not completely, read
    UniqueConstraint("location", "stamp", "release_id"),
)

PARTS = Table(
    "ledger_parts",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("file_id", ForeignKey(FILES.c.id), nullable=False, index=True),
    Column("release_id", ForeignKey(RELEASES.c.id), nullable=False),
    Column("start", BigInteger, nullable=False),
    Column("stop", BigInteger),
    Column("size", BigInteger, nullable=False),
    Column("state", String(12), nullable=False),  # found, claimed, done
    Column("owner", String(16), index=True),
    Column("tries", Integer, nullable=False),
    Index("ledger_parts_to_do", "release_id", "state", "id"),
)

SHARDS = Table(
    "ledger_shards",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("release_id", ForeignKey(RELEASES.c.id), nullable=False),
    Column("name", String(64), nullable=False, unique=True),
    Column("state", String(12), nullable=False, index=True),  # staging, committed, placed
    Column("owner", String(16), nullable=False),
    Column("records", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("at", Float(53), nullable=False),
)

RECORDS = Table(
    "ledger_records",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("release_id", ForeignKey(RELEASES.c.id), nullable=False),
    Column("part_id", ForeignKey(PARTS.c.id), nullable=False, index=True),
    Column("source", String(32), nullable=False),
    Column("content", String(32), nullable=False),
    Column("subject", String(32), index=True),
    Column("state", String(12), nullable=False),
    Column("owner", String(16), index=True),
    Column("tries", Integer, nullable=False),
    Column("shard_id", ForeignKey(SHARDS.c.id), index=True),
    Column("line", Integer),
    Column("codes", Text, nullable=False),
    Column("manifest", String(32)),
    Column("at", Float(53), nullable=False),
    Column("version", BigInteger),  # the watermark of a row of a database
    Column("replaces", Integer, index=True),  # the released record that this one replaces as a newer version
    UniqueConstraint("source", "content", "release_id"),  # one output per record, version and release
    Index("ledger_records_by_state", "release_id", "state"),
)

Step = Callable[[Connection], None]


def _versions(db: Connection) -> None:
    """Add the columns that link the versions of a record."""
    there = {column["name"] for column in inspect(db).get_columns(RECORDS.name)}
    for column, kind in (("version", "BIGINT"), ("replaces", "INTEGER")):
        if column not in there:
            db.exec_driver_sql(f"ALTER TABLE {RECORDS.name} ADD COLUMN {column} {kind}")
    for index in RECORDS.indexes:
        index.create(db, checkfirst=True)


STEPS: tuple[Step, ...] = (METADATA.create_all, _versions)
"""Each step migrates the tables from the previous version. A later step alters tables and never recreates them."""


def bring_up(db: Connection) -> None:
    """Create the tables, or migrate those of an older version. Concurrent callers wait.

    Raises:
        LedgerRejected: a newer version of incognote made them.
    """
    if db.dialect.name == "postgresql":
        db.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
    version = 0
    if inspect(db).has_table(META.name):
        version = int(db.execute(select(META.c.value).where(META.c.name == "version")).scalar_one())
    if version > len(STEPS):
        raise LedgerRejected("The ledger was made by a newer version of incognote. Use that version.")
    for step in STEPS[version:]:
        step(db)
    if version == 0:
        db.execute(insert(META).values(name="version", value=str(len(STEPS))))
    elif version < len(STEPS):
        db.execute(update(META).where(META.c.name == "version").values(value=str(len(STEPS))))
