"""The service's log lines, metrics, and optional traces. None of them can contain PHI."""

from incognote.service.telemetry.events import Telemetry, telemetry_of

__all__ = ["Telemetry", "telemetry_of"]
