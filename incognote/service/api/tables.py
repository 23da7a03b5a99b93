"""The tables of the API: keys (hashed), jobs and their documents. What is PHI stands in the sealed columns."""

from __future__ import annotations

from sqlalchemy import Column, Float, Index, Integer, LargeBinary, MetaData, String, Table, Text

_OF_KEYS, _OF_JOBS = MetaData(), MetaData()
KEYS_META = Table("api_key_meta", _OF_KEYS, Column("name", String(32), primary_key=True), Column("value", Text))
KEYS = Table(
    "api_keys",
    _OF_KEYS,
    Column("id", String(16), primary_key=True),
    Column("name", String(64), nullable=False, unique=True),
    Column("roles", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("made", String(32), nullable=False),
    Column("expires", String(32)),
    Column("revoked", String(32)),
)

JOBS_META = Table("api_job_meta", _OF_JOBS, Column("name", String(32), primary_key=True), Column("value", Text))
JOBS = Table(
    "api_jobs",
    _OF_JOBS,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("owner", String(64), nullable=False),
    Column("operation", String(16), nullable=False),
    Column("cancelled", String(32)),
    Column("submitted", String(32), nullable=False),
)
DOCUMENTS = Table(
    "api_documents",
    _OF_JOBS,
    Column("job", String(32), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("state", String(16), nullable=False),  # waiting, running, released, review, quarantined, cancelled
    Column("claimed", Float(53)),
    Column("patient", String(64)),
    Column("given", LargeBinary),  # until it is settled
    Column("answer", LargeBinary),
    Index("api_documents_state", "state", "job", "number"),
    Index("api_documents_patient", "patient"),
)
