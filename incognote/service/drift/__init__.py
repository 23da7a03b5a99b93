"""Alarms when a source's records hold other identifiers than they used to."""

from __future__ import annotations

from incognote.service.drift.rates import Alarm, Day, alarms
from incognote.service.drift.store import DriftStore

__all__ = ["Alarm", "Day", "DriftStore", "alarms"]
