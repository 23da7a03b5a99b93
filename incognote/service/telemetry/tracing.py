"""Traces by OpenTelemetry, to a collector that the settings name and to nobody else.

No exception is recorded on a span: messages of libraries can quote a record.
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
        exporter: where spans go.
        at_once: send each when it ends, not in batches.

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
        # Resource(), not Resource.create(): detectors would add the command line and what OTEL_* variables say
        self._provider = TracerProvider(resource=Resource({"service.name": "incognote"}), shutdown_on_exit=False)
        self._provider.add_span_processor((SimpleSpanProcessor if at_once else BatchSpanProcessor)(exporter))
        self._tracer = self._provider.get_tracer("incognote")

    @classmethod
    def to(cls, endpoint: str) -> Self:
        """To a collector that speaks OTLP over HTTP.

        Args:
            endpoint: its whole address, such as http://collector:4318/v1/traces.

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
        """A span around the block, which is given what notes further facts; what is raised in it leaves no trace."""
        with self._tracer.start_as_current_span(
            event, attributes=dict(facts), record_exception=False, set_status_on_exception=False
        ) as span:
            yield lambda more: span.set_attributes(dict(more))

    def close(self) -> None:
        """Send what waits, and end."""
        self._provider.shutdown()
