"""An event and its facts become a log line, metrics, and a span of a trace.

Only words of `vocabulary.toml` are accepted. Messages of libraries are not trusted: only the name of the library and
the severity are logged. The table `metrics.toml` defines how metrics are computed from events.
"""

from __future__ import annotations

import logging
import sys
import time
import tomllib
import traceback
from collections import defaultdict
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from incognote.errors import MissingExtra
from incognote.service.vocabulary import Fact, checked, level

if TYPE_CHECKING:
    from prometheus_client import Counter

    from incognote.service.telemetry.tracing import Tracing
    from incognote.settings import ServiceSettings

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class Metrics:
    """A separate metrics registry. The process's default registry is not used, since its collectors were not reviewed.

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
        """Count an event whose facts were checked. A metric is unchanged if its fact is absent."""
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
        """Return all metrics in Prometheus's text format."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry)

    def serve(self, address: str) -> Any:
        """Serve the metrics over HTTP from a separate thread. Return the server, whose `shutdown` ends it.

        Args:
            address: HOST:PORT.

        Raises:
            SettingError: it is not an address, or is in use.
        """
        from prometheus_client import start_http_server

        from incognote.errors import SettingError

        host, _, port = address.rpartition(":")
        try:
            server, _ = start_http_server(int(port), host or "127.0.0.1", registry=self.registry)
        except (OSError, ValueError, OverflowError):
            raise SettingError("metrics must be HOST:PORT, with a free port.") from None
        return server


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files("incognote.service.telemetry").joinpath("metrics.toml").read_text(encoding="utf-8"))


_PACKAGE = Path(__file__).resolve().parents[2]
_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


class Telemetry:
    """Reports events.

    Args:
        stream: where lines go; None is the standard error.
        least: the lowest level that becomes a line. Metrics count every event.
        tracing: receives spans; None for no tracing.
        always: facts of every event, such as the worker's name.

    Raises:
        MissingExtra: structlog or prometheus-client is not installed.
    """

    def __init__(
        self, stream: TextIO | None = None, *, least: str = "info", tracing: Tracing | None = None, **always: Fact
    ) -> None:
        try:
            import structlog
        except ImportError:
            raise MissingExtra("service", "telemetry") from None
        self.metrics = Metrics()
        self._tracing = tracing
        self._former: list[tuple[logging.Logger, list[logging.Handler], int, bool]] = []
        self._always = {name: always[name] for name in sorted(always)}
        self._logger: Any = structlog.wrap_logger(
            structlog.PrintLogger(stream or sys.stderr),
            processors=[
                _only_words,
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.JSONRenderer(),
            ],
            wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[least]),
        )

    def tell(self, event: str, **facts: Fact) -> None:
        """Report an event.

        Raises:
            UnknownName, UsageError: a word that is not in the vocabulary.
        """
        told = {**self._always, **checked(event, facts)}
        self.metrics.count(event, told)
        getattr(self._logger, level(event))(event, **told)

    @contextmanager
    def timed(self, event: str, **facts: Fact) -> Iterator[dict[str, Fact]]:
        """Report an event with its `seconds` when the block ends.

        The dict takes more facts. It is also a span if traced.
        """
        started = time.perf_counter()
        with self.span(event, **facts) as more:
            yield more
        self.tell(event, **facts, **more, seconds=round(time.perf_counter() - started, 6))

    @contextmanager
    def span(self, event: str, **facts: Fact) -> Iterator[dict[str, Fact]]:
        """Open a span of that name if tracing is on. The dict takes more facts. No event is reported."""
        more: dict[str, Fact] = {}
        if self._tracing is None:
            yield more
            return
        with self._tracing.span(event, {**self._always, **checked(event, facts)}) as noted:
            try:
                yield more
            finally:
                noted(checked(event, more))

    def unexpected(self, bug: BaseException) -> None:
        """Report an unexpected error: its class and the innermost place in our code. Its message may quote a record."""
        places = [(Path(frame.filename).resolve(), frame.lineno) for frame in traceback.extract_tb(bug.__traceback__)]
        ours = [(path, line) for path, line in places if path.is_relative_to(_PACKAGE)]
        path, line = ours[-1] if ours else (_PACKAGE / "unknown", 0)
        place = path.relative_to(_PACKAGE).as_posix().lstrip("_")
        self.tell("error.unexpected", error=type(bug).__name__, place=place, line=line or 0)

    def take_over(self) -> None:
        """Take over logging until `close`. Libraries' log records and warnings come here, without their messages."""
        root = logging.getLogger()
        loggers = [root, *(logging.getLogger(name) for name in list(logging.root.manager.loggerDict))]
        self._former = [(logger, logger.handlers[:], logger.level, logger.propagate) for logger in loggers]
        for logger in loggers[1:]:
            logger.handlers.clear()
            logger.propagate = True
        root.handlers[:] = [_Hush(self)]
        root.setLevel(logging.WARNING)
        logging.captureWarnings(True)

    def close(self) -> None:
        """Send what is pending, and restore logging."""
        for logger, handlers, least, propagate in self._former:
            logger.handlers[:] = handlers
            logger.setLevel(least)
            logger.propagate = propagate
        if self._former:
            logging.captureWarnings(False)
            self._former = []
        if self._tracing is not None:
            self._tracing.close()


def telemetry_of(settings: ServiceSettings, stream: TextIO | None = None, **always: Fact) -> Telemetry:
    """Return the Telemetry for the settings.

    Raises:
        MissingExtra: an address for traces is set, and OpenTelemetry is not installed.
    """
    tracing = None
    if settings.otel_endpoint is not None:
        from incognote.service.telemetry.tracing import Tracing

        tracing = Tracing.to(settings.otel_endpoint)
    return Telemetry(stream, least=settings.log_level, tracing=tracing, **always)


class _Hush(logging.Handler):
    """Takes the log records of libraries, and reports only that they exist."""

    def __init__(self, telemetry: Telemetry) -> None:
        super().__init__(logging.WARNING)
        self._telemetry = telemetry

    def emit(self, record: logging.LogRecord) -> None:
        library = record.name.split(".")[0]
        known = library in sys.modules  # a logger can have any name, but a loaded module's name is code
        self._telemetry.tell(
            "library.complained",
            library=library if known else "unknown",
            severity="error" if record.levelno >= logging.ERROR else "warning",
        )


def _only_words(_: Any, __: str, line: MutableMapping[str, Any]) -> dict[str, Any]:
    """Check every line a last time, whatever its origin."""
    event = line.pop("event")
    return {"event": event, **checked(event, line)}
