"""Spans in memory."""

from __future__ import annotations

import gc
import logging
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from weakref import ref

import pytest
from observed import observed, observed_call
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from programs import run_program
from sdk_spans import sdk_span

from pixie_otel import diagnostics
from pixie_otel.exporters import otlp_json, readback
from pixie_otel.exporters.handlers import InstrumentationHandler
from pixie_otel.exporters.memory import MemoryTraceHandler
from pixie_otel.exporters.redaction import RedactionError
from pixie_otel.exporters.span_queue import span_queue
from pixie_otel.traces.spans import LLMSpan
from pixie_otel.traces.trace import Trace


def names(handler: MemoryTraceHandler) -> list[str]:
    """Give the names of the spans."""
    return [span.name for span in handler.spans]


class TestExporter:
    """As a span exporter."""

    def test_behind_a_simple_processor(self) -> None:
        """It sees every span of its provider, with no `init` and no capture."""
        handler = MemoryTraceHandler()
        assert isinstance(handler, SpanExporter)
        assert isinstance(handler, InstrumentationHandler)
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(handler))
        tracer = provider.get_tracer("app")
        with tracer.start_as_current_span("outer"), tracer.start_as_current_span("inner"):
            pass

        assert provider.force_flush()
        assert names(handler) == ["inner", "outer"]
        (trace,) = handler.get_all_traces().values()
        assert [node.span.name for node in trace.walk()] == ["outer", "inner"]
        assert handler.get_trace(trace.trace_id) == trace
        provider.shutdown()
        assert handler.export([sdk_span()]) is SpanExportResult.FAILURE
        assert (len(handler.spans), handler.dropped) == (2, 1)

    def test_behind_a_queue(self) -> None:
        """What became of every span is told one by one."""
        handler = MemoryTraceHandler(max_spans=2)
        queue = span_queue("memory", handler)
        for number in range(3):
            queue.put(sdk_span(number=number + 1))

        assert queue.shutdown()
        assert (queue.stats().written, queue.stats().dropped) == (2, {"memory_full": 1})

    def test_secrets(self) -> None:
        """They are hidden, unless that is switched off; a function hides more."""
        span = sdk_span({"input.value": "AKIAZ5QRTWXNV2HGJK7M", "name": "Ada"})
        found: list[str] = []
        for redact in (True, False, lambda key, value: "nobody" if key == "name" else value):
            handler = MemoryTraceHandler(redact=redact)
            assert handler.export([span]) is SpanExportResult.SUCCESS
            found.append(str(handler.spans[0].attributes))

        assert ["AKIAZ5" in text for text in found] == [False, True, False]
        assert ["Ada" in text for text in found] == [True, True, False]

    @pytest.mark.parametrize(
        ("error", "reason"),
        [(ValueError(), "encode_error"), (OSError(), "encode_error"), (RedactionError("x"), "redaction_failed")],
    )
    def test_spans_that_cannot_be_kept(self, error: Exception, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """They are counted with the reason, and those beside them are kept."""
        handler = MemoryTraceHandler()
        handler.export([sdk_span(number=1)])

        def fail(*_: object) -> None:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr("pixie_otel.exporters.readback.encode_redacted", fail)
            outcome = handler.export_counted([sdk_span(number=2)])

        assert (outcome.written, outcome.dropped) == (0, {reason: 1})
        assert (names(handler), handler.dropped) == (["span 1"], 1)


class TestLooking:
    """`spans`, `get_trace`, `get_all_traces` and `clear`."""

    def test_a_trace_that_is_not_there(self) -> None:
        """It is a trace without spans."""
        trace = MemoryTraceHandler().get_trace("0" * 32)

        assert (trace.trace_id, len(trace), trace.spans, trace.llm_calls) == ("0" * 32, 0, [], [])

    def test_in_order_of_start(self) -> None:
        """Traces come as they do from a file, spans as they ended."""
        handler = MemoryTraceHandler()
        handler.export([sdk_span(number=2, trace=1, start_time=9_000_000), sdk_span(number=1, trace=2, start_time=1)])

        assert names(handler) == ["span 2", "span 1"]
        assert [trace.spans[0].name for trace in handler.get_all_traces().values()] == ["span 1", "span 2"]

    def test_what_comes_later_is_seen(self) -> None:
        """A look between two spans does not hide the second, and nobody can change what is here."""
        handler = MemoryTraceHandler()
        handler.export([sdk_span(number=1)])
        handler.spans.clear()
        handler.get_all_traces().clear()
        assert len(handler.get_all_traces()) == 1
        handler.export([sdk_span(number=2)])

        assert names(handler) == ["span 1", "span 2"]
        assert len(handler.get_trace(f"{1:032x}")) == 2

    def test_clearing(self) -> None:
        """It makes room for as many again; what was dropped stays counted."""
        handler = MemoryTraceHandler(max_spans=1)
        handler.export([sdk_span(number=1), sdk_span(number=2)])
        handler.clear()
        handler.export([sdk_span(number=3)])

        assert (names(handler), handler.dropped) == (["span 3"], 1)

    def test_a_look_that_cannot_wait(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where waiting for what is on its way fails, what is here is shown."""
        handler = MemoryTraceHandler()
        handler.export([sdk_span(number=1)])

        def fail() -> None:
            raise RuntimeError

        handler.store.expect()
        handler.store.refresh = fail

        assert names(handler) == ["span 1"]

    def test_clearing_while_somebody_looks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What was looked at is not taken for what came afterwards."""
        handler = MemoryTraceHandler()
        handler.export([sdk_span(number=1)])
        build = readback.traces

        def build_and_clear(held: Iterable[readback.Held]) -> dict[str, Trace]:
            found = build(held)
            handler.clear()
            handler.export([sdk_span(number=2)])
            return found

        with monkeypatch.context() as patch:
            patch.setattr(readback, "traces", build_and_clear)
            handler.get_all_traces()

        assert [span.name for span in handler.get_trace(f"{1:032x}").spans] == ["span 2"]

    def test_while_spans_come(self) -> None:
        """Looks from one thread and spans from others do not get into each other's way."""
        handler = MemoryTraceHandler()
        spans = [[sdk_span(number=50 * part + step + 1) for step in range(50)] for part in range(4)]

        def export(part: int) -> None:
            for span in spans[part]:
                handler.export([span])

        threads = [threading.Thread(target=export, args=(part,)) for part in range(4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            assert len(handler.spans) <= 200
            assert len(handler.get_all_traces()) <= 1
        assert sorted(names(handler)) == sorted(span.name for part in spans for span in part)
        assert len(handler.get_trace(f"{1:032x}").spans) == 200


def test_as_a_handler_that_is_called_by_hand() -> None:
    """Observations are kept as they are, and counted against the bounds."""
    handler = MemoryTraceHandler(max_bytes=10_000)
    call = observed_call({"openinference.span.kind": "LLM"}, span_id="00000000000000b1")
    step = observed({}, span_id="00000000000000a1")
    handler.on_llm(call)
    handler.on_observe(step)
    handler.on_observe(step)

    assert handler.spans == [call, step]
    assert handler.dropped == 1
    (trace,) = handler.get_all_traces().values()
    assert [type(span) is LLMSpan for span in trace.spans] == [False, True]


def test_being_full_is_said(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says how much there is, and what to do; not for every span."""
    monkeypatch.setattr("pixie_otel.diagnostics._last", {})
    handler = MemoryTraceHandler(max_spans=1)
    handler.export([sdk_span(number=number) for number in range(1, 6)])

    assert handler.dropped == 4
    assert caplog.text.count("holds 1 spans") == 1


def test_nothing_holds_a_handler() -> None:
    """It is gone when nobody has it any more."""
    handler = MemoryTraceHandler()
    handler.export([sdk_span()])
    handler.get_all_traces()
    gone = ref(handler)
    del handler
    gc.collect()

    assert gone() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_fork_while_somebody_looks(tmp_path: Path) -> None:
    """A child whose parent was just looking can look too."""
    program = """
        import os, threading
        from pixie_otel.exporters.memory import MemoryTraceHandler
        handler = MemoryTraceHandler()
        handler.store.expect()
        held, go_on = threading.Event(), threading.Event()
        def hold():
            with handler.store._lock:
                held.set()
                go_on.wait(30)
        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(30)
        if pid := os.fork():
            status = os.waitpid(pid, 0)[1]
            go_on.set()
            thread.join()
            print(status)
        else:
            print(handler.spans, handler.store.is_waiting(), flush=True)
            os._exit(0)
    """
    out, _ = run_program(program, tmp_path)

    assert out.splitlines() == ["[] False", "0"]


def test_nobody_waits_for_a_log_handler() -> None:
    """While it is logged that a handler is full, spans that are on their way to it are counted at once."""
    store = MemoryTraceHandler(max_spans=0).store
    counted: list[bool] = []

    class Tracing(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            other = threading.Thread(target=store.expect, daemon=True)
            other.start()
            other.join(10)
            counted.append(not other.is_alive())

    logger, handler = logging.getLogger("pixie_otel"), Tracing()
    logger.addHandler(handler)
    try:
        store.expect()
        diagnostics._last.clear()
        assert not store.arrive(readback.record(otlp_json.encode(sdk_span())))
    finally:
        logger.removeHandler(handler)
    assert counted == [True]
