"""Prometheus metrics, read off events by the table `metrics.toml`."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from incognote.errors import MissingExtra
from incognote.service.words import Fact

if TYPE_CHECKING:
    from prometheus_client import Counter

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class Metrics:
    """A registry of its own: none of the process's, whose collectors nobody of us looked at.

    Raises:
        MissingExtra: prometheus-client is not installed.
    """

    def __init__(self) -> None:
        try:
            from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
        except ImportError:
            raise MissingExtra("service", "metrics") from None
        self.registry = CollectorRegistry(auto_describe=True)
        self._events: Counter = Counter("incognote_events", "Events by name.", ["event"], registry=self.registry)
        self._fed: dict[str, list[tuple[Any, dict[str, Any]]]] = defaultdict(list)
        kinds: dict[str, Any] = {"counter": Counter, "gauge": Gauge, "histogram": Histogram}
        for name, told in _table().items():
            labels = [*told["of"][0].get("by", ()), *told["of"][0].get("labels", ())]
            more: dict[str, Any] = {"buckets": _BUCKETS} if told["kind"] == "histogram" else {}
            made = kinds[told["kind"]](f"incognote_{name}", told["help"], labels, registry=self.registry, **more)
            for feed in told["of"]:
                self._fed[feed["event"]].append((made, feed))

    def count(self, event: str, facts: Mapping[str, Fact]) -> None:
        """Take in an event whose facts were checked. A metric whose fact is not told stays as it is."""
        self._events.labels(event=event).inc()
        for metric, feed in self._fed.get(event, ()):
            value = facts.get(feed["fact"]) if "fact" in feed else feed.get("value", 1)
            if value is None:
                continue
            labels = {name: str(facts.get(name, "")) for name in feed.get("by", ())} | feed.get("labels", {})
            child = metric.labels(**labels) if labels else metric
            for way in ("observe", "set", "inc"):  # a histogram has the first, a gauge the second and third
                if hasattr(child, way):
                    getattr(child, way)(float(value))
                    break

    def text(self) -> bytes:
        """All of them in Prometheus's text format."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry)

    def serve(self, address: str) -> Any:
        """Serve them over HTTP from a thread of their own -> the server, whose `shutdown` ends it.

        Args:
            address: HOST:PORT.

        Raises:
            SettingError: it is no address, or is taken.
        """
        from prometheus_client import start_http_server

        from incognote.errors import SettingError

        host, _, port = address.rpartition(":")
        try:
            server, _ = start_http_server(int(port), host or "127.0.0.1", registry=self.registry)
        except (OSError, ValueError, OverflowError):
            raise SettingError("metrics: HOST:PORT, one that nobody else serves on") from None
        return server


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files("incognote.service.telemetry").joinpath("metrics.toml").read_text(encoding="utf-8"))
