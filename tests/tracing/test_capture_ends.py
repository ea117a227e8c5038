"""The end of a capture, whatever happens then, and what is as it was afterwards."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import Context as ThreadContext

import pytest
from captured_spans import make, names
from opentelemetry.context import get_current
from opentelemetry.instrumentation.threading import ThreadingInstrumentor
from opentelemetry.trace import Tracer

from pixie_otel.diagnostics import internal_errors
from pixie_otel.evaluable import JsonValue
from pixie_otel.exporters.memory import MemoryTraceHandler
from pixie_otel.exporters.redaction import Redactor
from pixie_otel.tracing.capture import capture_traces
from pixie_otel.tracing.hub import SpanHub
from pixie_otel.tracing.open_spans import CAPTURES


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything be said, as if nothing had been before."""
    monkeypatch.setattr("pixie_otel.diagnostics._last", {})


class TestLeaving:
    """The end of a capture."""

    def test_spans_that_are_still_open(self, tracer: Tracer, caplog: pytest.LogCaptureFixture) -> None:
        """They are counted and said; that they end later changes nothing."""
        with capture_traces() as handler:
            late = tracer.start_span("late")
            make(tracer, "in time")
        assert handler.late == 1
        late.end()
        with capture_traces() as other:
            pass

        assert names(handler) == ["in time"]
        assert (handler.late, other.late, other.spans) == (1, 0, [])
        assert "1 spans were still open when their capture ended" in caplog.text

    def test_a_late_span_of_an_inner_capture(self, tracer: Tracer) -> None:
        """It is late for the inner one, and in time for the outer one."""
        with capture_traces() as outer:
            with capture_traces() as inner:
                span = tracer.start_span("both")
            span.end()

        assert (inner.late, names(inner)) == (1, [])
        assert (outer.late, names(outer)) == (0, ["both"])

    def test_a_task_that_outlives_the_capture(self, tracer: Tracer, hub: SpanHub) -> None:
        """What it starts afterwards is in no capture, though its context still names the closed one."""

        async def work(begin: asyncio.Event) -> None:
            await begin.wait()
            make(tracer, "afterwards")

        async def main() -> tuple[MemoryTraceHandler, MemoryTraceHandler]:
            begin = asyncio.Event()
            async with capture_traces() as handler:
                task = asyncio.create_task(work(begin))
                await asyncio.sleep(0)
            async with capture_traces() as other:
                begin.set()
                await task
            return handler, other

        handler, other = asyncio.run(main())
        assert (handler.spans, handler.late, other.spans, other.unattributed) == ([], 0, [], 1)

    def test_a_span_that_never_ends(self, tracer: Tracer) -> None:
        """One that nobody holds any more cannot end, is not waited for and is not late."""
        with capture_traces() as handler:
            tracer.start_span("forgotten")
            gc.collect()

        assert (handler.late, handler.spans) == (0, [])

    def test_the_application_s_exception(self, tracer: Tracer) -> None:
        """It comes out of the block, and the failed span is in the capture."""
        capture = capture_traces()
        with pytest.raises(ValueError, match="broken"), capture as handler, tracer.start_as_current_span("failing"):
            raise ValueError("broken")

        assert [span.error.message for span in handler.spans if span.error] == ["ValueError: broken"]

    def test_in_another_context(self, tracer: Tracer, caplog: pytest.LogCaptureFixture) -> None:
        """A capture that is left in another context than it was entered in neither raises nor logs."""
        capture = capture_traces()
        handler = ThreadContext().run(capture.__enter__)
        ThreadContext().run(capture.__exit__, None, None, None)
        make(tracer, "afterwards")

        assert not handler.spans
        assert not [line for line in caplog.records if line.levelno >= logging.WARNING]

    def test_the_context_is_as_it_was(self, tracer: Tracer) -> None:
        """Nothing of a capture stays in the context, and a span that was current still is."""
        with tracer.start_as_current_span("current"):
            before = get_current()
            with capture_traces():
                assert CAPTURES in get_current()
            assert get_current() == before

    def test_leaving_twice(self) -> None:
        """Leaving what is not open does nothing."""
        capture = capture_traces()
        capture.__exit__(None, None, None)
        asyncio.run(capture.__aexit__(None, None, None))

    def test_a_cancelled_task(self, tracer: Tracer) -> None:
        """The capture of a task that is cancelled is closed, and has what ended before."""
        handlers: list[MemoryTraceHandler] = []

        async def work() -> None:
            async with capture_traces() as handler:
                handlers.append(handler)
                make(tracer, "before")
                await asyncio.Event().wait()

        async def main() -> None:
            task = asyncio.create_task(work())
            await asyncio.sleep(0)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

        asyncio.run(main())
        assert names(handlers[0]) == ["before"]

    def test_nothing_holds_the_spans_afterwards(self, tracer: Tracer) -> None:
        """A thread that was started within a capture keeps its context, and not the capture's spans."""
        stop = threading.Event()
        with capture_traces() as handler:
            thread = threading.Thread(target=stop.wait, args=(10,))
            thread.start()
            make(tracer, "a span")
        gone = weakref.ref(handler)
        del handler
        gc.collect()

        assert gone() is None
        stop.set()
        thread.join()


class TestThreadingInstrumentation:
    """Carrying the context into threads."""

    def test_it_is_there_while_a_capture_is_open(self, hub: SpanHub) -> None:
        """Threads are as they were before the first capture once the last one is closed."""
        before = [{**kind.__dict__} for kind in (threading.Thread, threading.Timer, ThreadPoolExecutor)]
        for _ in range(2):
            with capture_traces():
                with capture_traces():
                    pass
                assert ThreadingInstrumentor().is_instrumented_by_opentelemetry
            assert not ThreadingInstrumentor().is_instrumented_by_opentelemetry

        assert [{**kind.__dict__} for kind in (threading.Thread, threading.Timer, ThreadPoolExecutor)] == before

    def test_the_application_s_own_stays(self, hub: SpanHub) -> None:
        """Where the application switched it on, it stays on."""
        ThreadingInstrumentor().instrument(skip_dep_check=True)
        try:
            with capture_traces():
                pass
            assert ThreadingInstrumentor().is_instrumented_by_opentelemetry
        finally:
            ThreadingInstrumentor().uninstrument()
            threading.Timer.__dict__.get("start") and delattr(threading.Timer, "start")


class TestFaults:
    """What fails inside stays inside."""

    def test_opening_fails(self, hub: SpanHub, monkeypatch: pytest.MonkeyPatch) -> None:
        """The block runs, with a handler that stays empty, and threads are left alone."""

        def fail(_: object) -> None:
            raise RuntimeError

        monkeypatch.setattr(hub, "open_capture", fail)
        before = internal_errors().get("opening a capture", 0)
        with capture_traces() as handler:
            assert not ThreadingInstrumentor().is_instrumented_by_opentelemetry

        assert handler.spans == []
        assert internal_errors()["opening a capture"] == before + 1

    def test_leaving_and_closing_fail(self, tracer: Tracer, hub: SpanHub, monkeypatch: pytest.MonkeyPatch) -> None:
        """What follows the block runs as ever."""

        def fail(*_: object) -> bool:
            raise RuntimeError

        with monkeypatch.context() as patch, capture_traces() as handler:
            patch.setattr("pixie_otel.tracing.capture._detach", fail)
            patch.setattr(hub, "close_capture", fail)
            with capture_traces():
                pass
        hub.close_capture(handler)

        assert not ThreadingInstrumentor().is_instrumented_by_opentelemetry

    def test_leaving_takes_too_long(
        self, tracer: Tracer, hub: SpanHub, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is said, and the spans still come."""
        go_on = threading.Event()

        def wait(_: str, value: JsonValue) -> JsonValue:
            go_on.wait(30)
            return value

        hub.redactor = Redactor(wait)
        with capture_traces(timeout=0.01) as handler, tracer.start_as_current_span("slow") as span:
            span.set_attribute("a", 1)
        assert "before all of its spans were there" in caplog.text
        go_on.set()

        assert hub.flush()
        assert names(handler) == ["slow"]
        assert handler.dropped == 0


def test_another_event_loop_than_asyncio_s(tracer: Tracer) -> None:
    """Where no loop of asyncio runs, leaving an ``async with`` block waits in place."""

    async def work() -> MemoryTraceHandler:
        async with capture_traces() as handler:
            make(tracer, "a span")
        return handler

    with pytest.raises(StopIteration) as end:
        work().send(None)
    assert names(end.value.value) == ["a span"]
