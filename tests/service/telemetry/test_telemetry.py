"""Log lines, metrics, and traces: what they contain, and that they cannot contain anything else."""

from __future__ import annotations

import io
import json
import logging
import urllib.request
import warnings
from typing import Any

import pytest

from incognote.errors import SettingError, UnknownName, UsageError
from incognote.service.telemetry import Telemetry, telemetry_of
from incognote.service.telemetry.events import _table
from incognote.service.telemetry.tracing import Tracing
from incognote.service.vocabulary import events, facts
from incognote.settings import ServiceSettings

CANARY = "Zebulon Quackenbosh 77120943"


@pytest.fixture
def stream() -> io.StringIO:
    """Where the log lines are written."""
    return io.StringIO()


@pytest.fixture
def telemetry(stream: io.StringIO) -> Telemetry:
    """Telemetry that includes the worker's name."""
    return Telemetry(stream, worker="w1")


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    """Return the log lines."""
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def metric(telemetry: Telemetry, name: str, **labels: str) -> float | None:
    """Return a metric's value."""
    return telemetry.metrics.registry.get_sample_value(name, labels)


def test_an_event_is_a_line_of_json_with_its_level_and_time(telemetry: Telemetry, stream: io.StringIO) -> None:
    telemetry.tell("worker.paused", reason="model-unavailable")
    (line,) = lines(stream)
    assert line.pop("timestamp").endswith("Z")
    assert line == {"event": "worker.paused", "level": "warning", "reason": "model-unavailable", "worker": "w1"}


def test_what_is_not_of_the_vocabulary_is_refused_and_nothing_is_written(
    telemetry: Telemetry, stream: io.StringIO
) -> None:
    for event, told in [
        ("patient.seen", {}),
        ("worker.paused", {"note": "x"}),
        ("worker.paused", {"reason": CANARY}),
        ("worker.paused", {"record": CANARY}),
        ("review.decided", {"by": "Ada"}),
    ]:
        with pytest.raises((UnknownName, UsageError)) as complaint:
            telemetry.tell(event, **told)
        assert "Quackenbosh" not in str(complaint.value)
    assert stream.getvalue() == ""
    assert metric(telemetry, "incognote_events_total", event="worker.paused") is None


def test_quiet_events_are_counted_and_not_written(telemetry: Telemetry, stream: io.StringIO) -> None:
    telemetry.tell("records.claimed", record="0123456789abcdef")
    assert stream.getvalue() == ""
    assert metric(telemetry, "incognote_events_total", event="records.claimed") == 1


def test_a_commit_feeds_the_metrics_of_every_outcome(telemetry: Telemetry) -> None:
    telemetry.tell("records.committed", release="r1", released=40, review=2, quarantined=1, refused=0)
    telemetry.tell("records.committed", release="r1", released=2, review=0, quarantined=0, refused=0)
    records = "incognote_records_total"
    assert metric(telemetry, records, release="r1", outcome="release") == 42
    assert metric(telemetry, records, release="r1", outcome="review") == 2
    telemetry.tell("api.request", method="post", route="v1-deidentify", status=200, seconds=0.2)
    assert metric(telemetry, "incognote_request_seconds_count", route="v1-deidentify") == 1
    telemetry.tell("worker.paused", reason="index-unavailable")
    assert metric(telemetry, "incognote_paused") == 1
    telemetry.tell("worker.resumed")
    assert metric(telemetry, "incognote_paused") == 0


def test_every_metric_is_fed_by_events_and_facts_that_there_are() -> None:
    assert _table()
    for told in _table().values():
        for feed in told["of"]:
            assert feed["event"] in events()
            assert {feed.get("fact", "count"), *feed.get("by", ())} <= facts().keys()
            assert [*feed.get("by", ()), *feed.get("labels", ())] == [
                *told["of"][0].get("by", ()),
                *told["of"][0].get("labels", ()),
            ]


def test_metrics_are_served_over_http(telemetry: Telemetry) -> None:
    telemetry.tell("sentinels.scored", count=10, found=9, leaked=1)
    server = telemetry.metrics.serve("127.0.0.1:0")
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/metrics", timeout=10) as answer:
            text = answer.read().decode()
    finally:
        server.shutdown()
        server.server_close()
    assert "incognote_sentinel_found_total 9.0" in text
    with pytest.raises(SettingError, match="HOST:PORT"):
        telemetry.metrics.serve("nowhere")


def test_libraries_are_heard_but_not_quoted(telemetry: Telemetry, stream: io.StringIO) -> None:
    own = logging.getLogger("json.decoder")
    own.addHandler(logging.StreamHandler(stream))
    telemetry.take_over()
    own.error("cannot decode %s", CANARY)
    own.info("read %s", CANARY)
    logging.getLogger(CANARY).warning("by name")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn(CANARY, stacklevel=1)
    told = [(line["event"], line["library"], line["severity"]) for line in lines(stream)]
    assert told[:2] == [("library.complained", "json", "error"), ("library.complained", "unknown", "warning")]
    assert told[2:] in ([("library.complained", name, "warning")] for name in ("py", "unknown"))  # from `py.warnings`
    assert "Quackenbosh" not in stream.getvalue()
    before = stream.getvalue()
    telemetry.close()
    assert len(own.handlers) == 1
    own.handlers.clear()
    logging.getLogger(CANARY).error("after")
    assert stream.getvalue() == before


def test_a_fault_is_told_by_class_and_place_alone(telemetry: Telemetry, stream: io.StringIO) -> None:
    try:
        telemetry.metrics.registry.register(CANARY)  # type: ignore[arg-type]  # the error is intended
    except Exception as bug:  # of any kind
        telemetry.unexpected(bug)
    try:
        telemetry.tell("worker.paused", reason=CANARY)
    except UsageError as error:
        telemetry.unexpected(error)
    (first, second) = lines(stream)
    assert (first["event"], second["error"]) == ("error.unexpected", "UsageError")
    assert second["place"] == "service/vocabulary.py"
    assert "Quackenbosh" not in stream.getvalue()


def test_a_timed_block_tells_its_seconds_and_what_was_found_in_it(telemetry: Telemetry, stream: io.StringIO) -> None:
    with telemetry.timed("sentinels.scored", release="r1") as more:
        more["count"] = 3
    (line,) = lines(stream)
    assert (line["count"], line["release"]) == (3, "r1")
    assert line["seconds"] >= 0


def test_a_span_holds_the_facts_and_nothing_of_what_was_raised() -> None:
    export = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    exporter = export.InMemorySpanExporter()
    tracing = Tracing(exporter, at_once=True)
    traced = Telemetry(io.StringIO(), tracing=tracing)
    with pytest.raises(ValueError, match="Quackenbosh"), traced.timed("records.committed", release="r1"):
        raise ValueError(CANARY)
    (span,) = exporter.get_finished_spans()
    assert (span.name, dict(span.attributes), span.events) == ("records.committed", {"release": "r1"}, ())
    assert dict(span.resource.attributes) == {"service.name": "incognote"}
    assert "Quackenbosh" not in span.to_json()
    traced.close()


def test_requests_and_batches_are_spans_with_what_was_found_in_them() -> None:
    export = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    exporter = export.InMemorySpanExporter()
    traced = Telemetry(io.StringIO(), tracing=Tracing(exporter, at_once=True), worker="w1")
    with traced.span("records.claimed", records=3):
        pass
    with traced.timed("api.request", method="get") as more:
        more.update(route="livez", status=200)
    spans = [(span.name, dict(span.attributes)) for span in exporter.get_finished_spans()]
    assert spans == [
        ("records.claimed", {"worker": "w1", "records": 3}),
        ("api.request", {"worker": "w1", "method": "get", "route": "livez", "status": 200}),
    ]
    traced.close()


def test_traces_go_nowhere_unless_an_address_is_set(stream: io.StringIO) -> None:
    made = telemetry_of(ServiceSettings(log_level="warning"), stream)
    made.tell("worker.started", worker="w1")
    assert made._tracing is None
    assert stream.getvalue() == ""
    made.close()
