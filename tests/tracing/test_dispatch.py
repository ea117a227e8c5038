"""Calling an application's own handlers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from opentelemetry.trace import Tracer
from sdk_spans import sdk_span
from tracing_runtime import recording

from pixie_otel.exporters.handlers import InstrumentationHandler
from pixie_otel.exporters.memory import MemoryTraceHandler
from pixie_otel.exporters.otlp_json import encode
from pixie_otel.exporters.readback import record
from pixie_otel.exporters.redaction import RedactionError
from pixie_otel.traces.record import SpanRecord
from pixie_otel.traces.spans import LLMSpan, ObserveSpan
from pixie_otel.tracing import dispatch, runtime
from pixie_otel.tracing.capture import capture_traces
from pixie_otel.tracing.dispatch import Dispatcher, add_handler, hand_over, remove_handler
from pixie_otel.tracing.hub import SpanHub

LLM = {"openinference.span.kind": "LLM", "llm.model_name": "gpt-4o"}


class Sync(InstrumentationHandler):
    """Notes what it is called with, and on which thread."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.threads: set[str] = set()

    def on_llm(self, span: LLMSpan) -> None:
        """Note a call."""
        self._note("llm", span)

    def on_observe(self, span: ObserveSpan) -> None:
        """Note any other span."""
        self._note("observe", span)

    def _note(self, kind: str, span: ObserveSpan) -> None:
        self.calls.append((kind, span.name))
        self.threads.add(threading.current_thread().name)


class Async(InstrumentationHandler):
    """Notes the same in coroutines."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.loops: set[int] = set()

    async def on_llm(self, span: LLMSpan) -> None:
        """Note a call."""
        await self._note("llm", span)

    async def on_observe(self, span: ObserveSpan) -> None:
        """Note any other span."""
        await self._note("observe", span)

    async def _note(self, kind: str, span: ObserveSpan) -> None:
        await asyncio.sleep(0)
        self.loops.add(id(asyncio.get_running_loop()))
        self.calls.append((kind, span.name))


@pytest.fixture(autouse=True)
def none_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take away what a test added, and let everything be said as if nothing had been before."""
    monkeypatch.setattr("pixie_otel.diagnostics._last", {})
    yield
    for handler in [*dispatch._handlers]:
        remove_handler(handler)


class TestAdding:
    """`add_handler` and `remove_handler`."""

    def test_each_span_goes_to_one_method(self, hub: SpanHub, tracer: Tracer) -> None:
        """Model calls go to one, all others to the other, off the application's thread, for sync and async handlers."""
        sync, coroutines = Sync(), Async()
        for handler in (sync, sync, coroutines):
            add_handler(handler)
        tracer.start_span("a call", attributes=LLM).end()
        tracer.start_span("a step").end()

        assert hub.flush()
        assert sync.calls == coroutines.calls == [("llm", "a call"), ("observe", "a step")]
        assert sync.threads == {"pixie-otel handlers"}
        assert len(coroutines.loops) == 1
        handlers = hub.stats().handlers
        assert handlers is not None
        assert handlers.written == 2

    def test_removing_takes_effect_at_once(self, hub: SpanHub, tracer: Tracer) -> None:
        """What ended before comes, what ends after does not."""
        handler = Sync()
        add_handler(handler)
        tracer.start_span("before").end()
        remove_handler(handler)
        remove_handler(handler)
        tracer.start_span("after").end()

        assert hub.flush()
        assert handler.calls == [("observe", "before")]

    def test_before_tracing_is_set_up(self) -> None:
        """A handler that is added early is kept, and handed over to every hub that comes."""
        handler = Sync()
        add_handler(handler)
        hand_over()
        for name in ("first", "second"):
            hub = SpanHub()
            with recording(processors=[hub], hub=hub) as recorded:
                hand_over()
                recorded.provider.get_tracer("app").start_span(name).end()
                assert hub.close()
                recorded.provider.get_tracer("app").start_span("after the shutdown").end()

        assert handler.calls == [("observe", "first"), ("observe", "second")]

    def test_again_after_a_shutdown(self, hub: SpanHub, tracer: Tracer) -> None:
        """A hub that was closed takes handlers once more."""
        handler = Sync()
        add_handler(handler)
        hub.close()
        hand_over()
        tracer.start_span("again").end()

        assert hub.flush()
        assert handler.calls == [("observe", "again")]

    def test_a_memory_handler(self, hub: SpanHub, tracer: Tracer) -> None:
        """It gets every span of the provider, whatever its context, with what a file would hold."""
        handler = MemoryTraceHandler()
        add_handler(handler)
        tracer.start_span("a call", attributes=LLM).end()
        tracer.start_span("a step").end()

        assert hub.flush()
        assert [span.name for span in handler.spans] == ["a call", "a step"]
        assert all(node.wire_bytes() for trace in handler.get_all_traces().values() for node in trace.walk())

    def test_a_fault_of_ours(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Adding and removing never raise."""

        def fail() -> None:
            raise RuntimeError

        monkeypatch.setattr(runtime, "current", fail)

        add_handler(Sync())
        remove_handler(Sync())


class TestFaults:
    """Handlers that do not do as they should."""

    def test_errors(self, hub: SpanHub, tracer: Tracer, caplog: pytest.LogCaptureFixture) -> None:
        """They are counted and said, and the other handlers are called all the same."""

        class Broken(InstrumentationHandler):
            def on_observe(self, span: ObserveSpan) -> None:
                raise SystemExit

            async def on_llm(self, span: LLMSpan) -> None:
                raise ValueError("private")

        handler = Sync()
        add_handler(Broken())
        add_handler(handler)
        tracer.start_span("a call", attributes=LLM).end()
        tracer.start_span("a step").end()

        assert hub.flush()
        assert handler.calls == [("llm", "a call"), ("observe", "a step")]
        assert hub.stats().handler_errors == 2
        assert "Broken.on_llm failed (ValueError)" in caplog.text
        assert "private" not in caplog.text

    def test_a_handler_that_hangs(self, hub: SpanHub, tracer: Tracer) -> None:
        """A capture is complete though a handler hangs; a flush tells."""
        go_on = threading.Event()

        class Hanging(InstrumentationHandler):
            def on_observe(self, span: ObserveSpan) -> None:
                go_on.wait(30)

        add_handler(Hanging())
        with capture_traces() as capture:
            tracer.start_span("a span").end()

        assert [span.name for span in capture.spans] == ["a span"]
        assert not hub.flush(0.05)
        go_on.set()
        assert hub.flush()

    def test_a_coroutine_that_takes_too_long(self, caplog: pytest.LogCaptureFixture) -> None:
        """It is cancelled after a while, and counted."""
        cancelled: list[bool] = []

        class Slow(InstrumentationHandler):
            async def on_observe(self, span: ObserveSpan) -> None:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    cancelled.append(True)
                    raise

        dispatcher = Dispatcher(seconds=0.01)
        dispatcher.deliver(a_record(), [Slow()])
        dispatcher.close()
        dispatcher.close()

        assert (dispatcher.errors, cancelled) == (1, [True])
        assert "took more than 0.01 s" in caplog.text

    def test_a_span_that_cannot_be_read(self, hub: SpanHub, tracer: Tracer, monkeypatch: pytest.MonkeyPatch) -> None:
        """Handlers are not called for it, and it is counted."""

        def fail(*_: object) -> None:
            raise RedactionError("unsafe")

        handler = Sync()
        add_handler(handler)
        monkeypatch.setattr("pixie_otel.exporters.readback.encode_redacted", fail)
        tracer.start_span("a span").end()

        assert hub.flush()
        handlers = hub.stats().handlers
        assert handlers is not None
        assert (handler.calls, handlers.dropped) == ([], {"redaction_failed": 1})

    def test_a_handler_that_makes_spans(self, hub: SpanHub, tracer: Tracer) -> None:
        """It is not called for the spans that it makes itself, which would never end."""
        seen: list[str] = []

        class Traced(InstrumentationHandler):
            def on_observe(self, span: ObserveSpan) -> None:
                seen.append(span.name)
                tracer.start_span("within the handler").end()

        add_handler(Traced())
        tracer.start_span("a span").end()

        assert hub.flush()
        assert hub.flush()
        assert seen == ["a span"]

    def test_a_forked_child(self) -> None:
        """It has a loop of its own, and counts from zero."""
        dispatcher = Dispatcher()
        handler = Async()
        dispatcher.deliver(a_record(), [handler])
        parent = dispatcher._runner
        assert parent is not None
        dispatcher.forget()
        dispatcher.deliver(a_record(), [handler])
        dispatcher.close()
        parent.close()

        assert len(handler.calls) == 2
        assert dispatcher.errors == 0


def a_record() -> SpanRecord:
    """Give a span as it comes to handlers."""
    return record(encode(sdk_span()))
