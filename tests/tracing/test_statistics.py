"""Facts about the counts that `stats` gives."""

from __future__ import annotations

import json

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pixie_otel import diagnostics
from pixie_otel.exporters.span_queue import span_queue
from pixie_otel.exporters.work_queue import QueueStats
from pixie_otel.tracing.hub import SpanHub
from pixie_otel.tracing.statistics import TracingStats, collect

_FULL = TracingStats(
    ended=10,
    unsampled=2,
    inherited=1,
    after_shutdown=3,
    truncated=4,
    handler_errors=5,
    internal_errors={"wrap": 6},
    destinations=(
        QueueStats("file traces/", 8, 4, 1, {"queue_full": 2, "io_error": 1, "too_large": 0}),
        QueueStats("otlp", 8, 8, 0, {}),
    ),
    handlers=QueueStats("handlers", 8, 7, 0, {"queue_full": 1}),
)


def test_a_hub_s_counts_are_gathered() -> None:
    """What the hub counted is there, each destination by its name."""
    hub = SpanHub()
    hub.add_destination(span_queue("one", InMemorySpanExporter()))
    hub.add_destination(span_queue("two", InMemorySpanExporter()))
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(hub)
    for number in range(3):
        provider.get_tracer("t").start_span(f"s{number}").end()
    assert hub.flush()
    stats = collect(hub)
    assert (stats.ended, stats.unsampled, stats.inherited, stats.truncated) == (3, 0, 0, 0)
    assert [(queue.name, queue.written, queue.queued) for queue in stats.destinations] == [("one", 3, 0), ("two", 3, 0)]
    assert hub.close()
    assert collect(hub).destinations == stats.destinations


def test_without_a_hub_there_is_nothing() -> None:
    """Before anything is set up all counts are zero, but for faults that were met on the way."""
    assert collect(None) == TracingStats(internal_errors=diagnostics.internal_errors())


def test_the_counts_are_json() -> None:
    """All counts are in the JSON text, by their names."""
    document = json.loads(_FULL.to_json())
    assert document == {
        "ended": 10,
        "unsampled": 2,
        "inherited": 1,
        "after_shutdown": 3,
        "truncated": 4,
        "handler_errors": 5,
        "internal_errors": {"wrap": 6},
        "destinations": [
            {
                "name": "file traces/",
                "ended": 8,
                "written": 4,
                "queued": 1,
                "dropped": {"queue_full": 2, "io_error": 1, "too_large": 0},
            },
            {"name": "otlp", "ended": 8, "written": 8, "queued": 0, "dropped": {}},
        ],
        "handlers": {"name": "handlers", "ended": 8, "written": 7, "queued": 0, "dropped": {"queue_full": 1}},
    }


def test_the_counts_can_be_read_in_a_few_lines() -> None:
    """Text has a line for all spans and one for each destination, and says only what is not zero."""
    assert str(_FULL) == (
        "10 spans ended, 2 not sampled, 1 left to the parent process, 3 after the shutdown, 4 with values cut\n"
        "  file traces/: 4 of 8 written, 1 waiting, 3 dropped (io_error 1, queue_full 2)\n"
        "  otlp: 8 of 8 written\n"
        "  handlers: 7 of 8 written, 1 dropped (queue_full 1)\n"
        "  5 calls of span handlers failed\n"
        "  failed inside pixie-otel: wrap (6)"
    )
    assert str(TracingStats()) == "0 spans ended"
