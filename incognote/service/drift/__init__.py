"""Alarms when the rate of identifiers in a source's records changes."""

from __future__ import annotations

from incognote.service.drift.rates import Alarm, Day, alarms
from incognote.service.drift.store import DriftStore

__all__ = ["Alarm", "Day", "DriftStore", "alarms"]
