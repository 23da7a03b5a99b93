"""Traces by OpenTelemetry, sent only to the collector that the settings name.

No exception is recorded on a span, since messages of libraries can quote a record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from incognote.errors import MissingExtra
from incognote.service.vocabulary import Fact

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter


class Tracing:
    """Spans for one exporter.

    Args:
        exporter: receives the spans.
        at_once: send each span when it ends, not in batches.

    Raises:
        MissingExtra: OpenTelemetry is not installed.
    """

    def __init__(self, exporter: SpanExporter, *, at_once: bool = False) -> None:
        try:
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
        except ImportError:
            raise MissingExtra("telemetry", "otel_endpoint") from None
        # Resource(), not Resource.create(): detectors would add the command line and OTEL_* variables
        self._provider = TracerProvider(resource=Resource({"service.name": "incognote"}), shutdown_on_exit=False)
        self._provider.add_span_processor((SimpleSpanProcessor if at_once else BatchSpanProcessor)(exporter))
        self._tracer = self._provider.get_tracer("incognote")

    @classmethod
    def to(cls, endpoint: str) -> Self:
        """Trace to a collector that supports OTLP over HTTP.

        Args:
            endpoint: its full address, such as http://collector:4318/v1/traces.

        Raises:
            MissingExtra: OpenTelemetry is not installed.
        """
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        except ImportError:
            raise MissingExtra("telemetry", "otel_endpoint") from None
        return cls(OTLPSpanExporter(endpoint))

    @contextmanager
    def span(self, event: str, facts: Mapping[str, Fact]) -> Iterator[Callable[[Mapping[str, Fact]], None]]:
        """Open a span around the block.

        It yields a function that adds facts. Exceptions of the block are not recorded.
        """
        with self._tracer.start_as_current_span(
            event, attributes=dict(facts), record_exception=False, set_status_on_exception=False
        ) as span:
            yield lambda more: span.set_attributes(dict(more))

    def close(self) -> None:
        """Send what is pending, and stop."""
        self._provider.shutdown()
