"""The tables of the review queue. What is PHI stands in `sealed` and `decision`; `patient` is a keyed hash."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, LargeBinary, MetaData, String, Table, Text, UniqueConstraint

_METADATA = MetaData()
META = Table("review_meta", _METADATA, Column("name", String(32), primary_key=True), Column("value", Text))
REVIEWS = Table(
    "reviews",
    _METADATA,
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
