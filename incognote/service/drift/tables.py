"""The tables of drift: numbers only, under keyed names of sources."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Integer, MetaData, String, Table, Text

_METADATA = MetaData()
META = Table("drift_meta", _METADATA, Column("name", String(32), primary_key=True), Column("value", Text))
DAYS = Table(
    "drift_days",
    _METADATA,
    Column("source", String(16), primary_key=True),
    Column("day", String(10), primary_key=True),
    Column("type", String(64), primary_key=True),
    Column("records", Integer, nullable=False),  # of the row of all types; 0 in the others
    Column("total", BigInteger, nullable=False),
    Column("squares", BigInteger, nullable=False),
)
ALARMS = Table(
    "drift_alarms",
    _METADATA,
    Column("source", String(16), primary_key=True),
    Column("type", String(64), primary_key=True),
    Column("since", String(10), nullable=False),
)
