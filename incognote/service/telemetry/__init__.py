"""What the service tells of itself: log lines, metrics, and traces where they are wanted; none can hold PHI."""

from incognote.service.telemetry.events import Telemetry, telemetry_of

__all__ = ["Telemetry", "telemetry_of"]
