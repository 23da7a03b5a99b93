"""The tables of the service: API keys (hashed), jobs and their documents, the review queue, drift.

PHI is in sealed columns (`given`, `answer`, `sealed`, `decision`). `patient` and `source` are keyed hashes.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

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

_OF_REVIEW = MetaData()
REVIEW_META = Table("review_meta", _OF_REVIEW, Column("name", String(32), primary_key=True), Column("value", Text))
REVIEWS = Table(
    "reviews",
    _OF_REVIEW,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("record_key", String(255), nullable=False),
    Column("release", String(255), nullable=False),
    Column("origin", String(32), nullable=False),
    Column("state", String(16), nullable=False),
    Column("reasons", Text, nullable=False),
    Column("policy", String(255), nullable=False),
    Column("data_type", String(255)),
    Column("characters", Integer, nullable=False),
    Column("spans", Integer, nullable=False),
    Column("patient", String(64)),
    Column("since", String(32), nullable=False),
    Column("decided", String(32)),
    Column("decided_by", String(255)),
    Column("changes", Text),
    Column("delivered", String(32)),
    Column("sealed", LargeBinary, nullable=False),
    Column("decision", LargeBinary),
    UniqueConstraint("record_key", "release"),
    Index("reviews_state", "state", "number"),
    Index("reviews_patient", "patient"),
)

REVIEW_ASSIGNEES = Table(
    "review_assignees",
    _OF_REVIEW,
    Column("item", String(32), primary_key=True),
    Column("assignee", String(64)),
)
REVIEW_COMMENTS = Table(
    "review_comments",
    _OF_REVIEW,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("item", String(32), nullable=False),
    Column("by", String(64), nullable=False),
    Column("at", String(32), nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Index("review_comments_item", "item", "number"),
)

_OF_DRIFT = MetaData()
DRIFT_META = Table("drift_meta", _OF_DRIFT, Column("name", String(32), primary_key=True), Column("value", Text))
DAYS = Table(
    "drift_days",
    _OF_DRIFT,
    Column("source", String(16), primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("type", String(64), primary_key=True),
    Column("records", Integer, nullable=False),  # in the row of all types; 0 in the others
    Column("total", BigInteger, nullable=False),
    Column("squares", BigInteger, nullable=False),
)
ALARMS = Table(
    "drift_alarms",
    _OF_DRIFT,
    Column("source", String(16), primary_key=True),
    Column("type", String(64), primary_key=True),
    Column("since", String(10), nullable=False),
)
