"""Ids and times that are the same in every run."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from opentelemetry.sdk import trace as sdk_trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pixie_otel.testing import FixedIds, fixed_clock


def two_spans(ids: FixedIds) -> tuple[ReadableSpan, ...]:
    """Trace a span within another one."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(id_generator=ids, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    with tracer.start_as_current_span("outer"), tracer.start_as_current_span("inner") as inner:
        inner.add_event("seen")
    provider.shutdown()
    return exporter.get_finished_spans()


def test_ids_count_up() -> None:
    """Trace ids and span ids count from 1, or from after the seed, and are valid."""
    inner, outer = two_spans(FixedIds())
    other = two_spans(FixedIds(41))[1]

    assert (outer.context.trace_id, outer.context.span_id, inner.context.span_id) == (1, 1, 2)
    assert outer.context.is_valid
    assert (other.context.trace_id, other.context.span_id) == (42, 42)


def test_ids_begin_again() -> None:
    """`reset` begins with the first again."""
    ids = FixedIds(7)
    first = [ids.generate_trace_id(), ids.generate_span_id(), ids.generate_span_id()]
    ids.reset()

    assert [ids.generate_trace_id(), ids.generate_span_id(), ids.generate_span_id()] == first == [8, 8, 9]


def test_ids_of_threads_differ() -> None:
    """No id is given twice, however many threads ask."""
    ids = FixedIds()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: ids.generate_span_id(), range(1000)))

    assert sorted(found) == list(range(1, 1001))


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_without_ids_is_refused(seed: int) -> None:
    """A seed after which there is no valid id is an error."""
    with pytest.raises(ValueError, match="seed is"):
        FixedIds(seed)


def test_the_clock_goes_in_steps() -> None:
    """Every look at the clock is a step later, and afterwards the clock is the real one."""
    before = sdk_trace.time_ns
    with fixed_clock(1_000, 10):
        inner, outer = two_spans(FixedIds())

    assert (outer.start_time, inner.start_time) == (1_000, 1_010)
    assert [event.timestamp for event in inner.events] == [1_020]
    assert (inner.end_time, outer.end_time) == (1_030, 1_040)
    assert sdk_trace.time_ns is before


def test_whole_traces_can_be_compared() -> None:
    """With both, the same program makes the same trace to the last digit."""

    def traced() -> list[str]:
        with fixed_clock():
            return [span.to_json() for span in two_spans(FixedIds())]

    assert traced() == traced()


def test_an_unknown_clock_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the SDK's clock is not where it was, that is an error, and not a test that fails now and then."""
    monkeypatch.delattr(sdk_trace, "time_ns")

    with pytest.raises(RuntimeError, match="no opentelemetry"), fixed_clock():
        pass
