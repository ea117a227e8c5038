"""Capturing the traces of one piece of code."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context as ThreadContext
from pathlib import Path

import pytest
from captured_spans import make, names
from opentelemetry.context import Context, attach, detach
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Tracer, set_span_in_context
from programs import run_program
from tracing_runtime import recording

from pixie_otel.errors import ConfigError
from pixie_otel.exporters.memory import MemoryTraceHandler
from pixie_otel.tracing import runtime
from pixie_otel.tracing.capture import capture_traces
from pixie_otel.tracing.hub import SpanHub


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything be said, as if nothing had been before."""
    monkeypatch.setattr("pixie_otel.diagnostics._last", {})


class TestWhatIsCaptured:
    """What belongs to a capture."""

    def test_the_spans_within_the_block(self, tracer: Tracer) -> None:
        """Spans before and after the block are not captured, those within it are, as trees."""
        make(tracer, "before")
        with capture_traces() as handler, tracer.start_as_current_span("outer"):
            make(tracer, "inner")
        make(tracer, "after")

        (trace,) = handler.get_all_traces().values()
        assert [root.span.name for root in trace] == ["outer"]
        assert [child.span.name for child in trace[0].children] == ["inner"]
        assert names(handler) == ["inner", "outer"]
        assert (handler.dropped, handler.late, handler.unattributed) == (0, 0, 0)

    def test_what_a_server_does_in_a_context_of_its_own(self, tracer: Tracer) -> None:
        """Spans are captured also where a server begins each request with an empty context of OpenTelemetry."""

        async def serve() -> None:
            token = attach(Context())
            with tracer.start_as_current_span("request"):
                await asyncio.to_thread(make, tracer, "endpoint")
            detach(token)

        with capture_traces() as handler:
            asyncio.run(serve())
        asyncio.run(serve())

        assert names(handler) == ["endpoint", "request"]
        assert handler.unattributed == 0

    def test_what_has_ended_is_there_within_the_block(self, tracer: Tracer) -> None:
        """Whoever looks while the capture is open waits for what has ended, and `clear` lets go of that."""
        with capture_traces() as handler:
            make(tracer, "first")
            assert names(handler) == ["first"]
            assert len(handler.get_all_traces()) == 1
            make(tracer, "second")
            handler.clear()
            assert not handler.spans
            make(tracer, "third")
            (trace_id,) = handler.get_all_traces()

        assert names(handler) == ["third"]
        assert handler.get_trace(trace_id)[0].span.name == "third"

    def test_nested_captures(self, tracer: Tracer) -> None:
        """The outer one has what the inner one has, and more."""
        with capture_traces() as outer:
            make(tracer, "one")
            with capture_traces() as inner:
                make(tracer, "two")
            make(tracer, "three")

        assert names(inner) == ["two"]
        assert names(outer) == ["one", "three", "two"]
        assert (outer.unattributed, inner.unattributed) == (0, 0)

    def test_the_same_capture_within_itself(self, tracer: Tracer) -> None:
        """One that is entered twice gives a handler each time."""
        capture = capture_traces()
        with capture as outer:
            with capture as inner:
                make(tracer, "both")
            make(tracer, "outer only")
        with capture as again:
            make(tracer, "again")

        assert names(inner) == ["both"]
        assert names(outer) == ["both", "outer only"]
        assert names(again) == ["again"]

    def test_captures_in_threads(self, tracer: Tracer) -> None:
        """Captures that run at the same time in threads see their own traces only."""
        gate = threading.Barrier(4)

        def work(number: int) -> MemoryTraceHandler:
            with capture_traces() as handler:
                gate.wait(10)
                for step in range(20):
                    make(tracer, f"{number}/{step}")
                gate.wait(10)
            return handler

        with ThreadPoolExecutor(4) as pool:
            handlers = list(pool.map(work, range(4)))

        for number, handler in enumerate(handlers):
            assert names(handler) == sorted(f"{number}/{step}" for step in range(20))
            assert handler.unattributed == 0

    def test_captures_in_tasks(self, tracer: Tracer) -> None:
        """Captures that run at the same time in one event loop see their own traces only, tasks within them too."""

        async def step(name: str) -> None:
            with tracer.start_as_current_span(name):
                await asyncio.sleep(0)

        async def work(number: int) -> MemoryTraceHandler:
            async with capture_traces() as handler:
                await asyncio.gather(*(step(f"{number}/{part}") for part in range(5)))
            return handler

        async def main() -> list[MemoryTraceHandler]:
            return await asyncio.gather(*map(work, range(5)))

        for number, handler in enumerate(asyncio.run(main())):
            assert names(handler) == [f"{number}/{part}" for part in range(5)]

    def test_threads_and_pools_that_are_used_within(self, tracer: Tracer) -> None:
        """Threads, timers, pools and `to_thread` take the capture with them; their spans hang below the caller's."""

        async def elsewhere() -> None:
            await asyncio.to_thread(make, tracer, "to_thread")

        with ThreadPoolExecutor(1) as old:
            old.submit(make, tracer, "before").result()
            with capture_traces() as handler, tracer.start_as_current_span("root"):
                thread = threading.Thread(target=make, args=(tracer, "thread"))
                timer = threading.Timer(0, make, (tracer, "timer"))
                for started in (thread, timer):
                    started.start()
                    started.join()
                old.submit(make, tracer, "old pool").result()
                with ThreadPoolExecutor(2) as pool:
                    list(pool.map(lambda name: make(tracer, name), ["pool 1", "pool 2"]))
                asyncio.run(elsewhere())

        (root,) = next(iter(handler.get_all_traces().values()))
        below = sorted(child.span.name for child in root.children)
        assert below == ["old pool", "pool 1", "pool 2", "thread", "timer", "to_thread"]
        assert handler.unattributed == 0

    def test_a_thread_that_ran_before(self, tracer: Tracer, hub: SpanHub) -> None:
        """Spans of a thread that knows nothing of the capture are not in it, and are counted."""
        go, done = threading.Event(), threading.Event()

        def work() -> None:
            go.wait(10)
            make(tracer, "stranger")
            done.set()

        thread = threading.Thread(target=work)
        thread.start()
        with capture_traces() as handler:
            go.set()
            assert done.wait(10)
            make(tracer, "own")
            assert handler.unattributed == 1
        thread.join()

        assert names(handler) == ["own"]
        assert handler.unattributed == hub.stats().unattributed == 1

    def test_a_child_whose_context_was_not_carried(self, tracer: Tracer) -> None:
        """Where the context is lost but the parent is known, the span goes where its parent goes."""
        with capture_traces() as handler:
            parent = tracer.start_span("parent")

            def work() -> None:
                tracer.start_span("child", context=set_span_in_context(parent, Context())).end()

            thread = threading.Thread(target=ThreadContext().run, args=(work,))
            # Its own start method, which knows nothing of contexts.
            threading.Thread.start.__wrapped__(thread)  # type: ignore[attr-defined]
            thread.join()
            parent.end()

        assert names(handler) == ["child", "parent"]

    def test_a_span_that_is_given_an_empty_context(self, tracer: Tracer) -> None:
        """A new root that the application asks for belongs to the capture that its code runs in."""
        with capture_traces() as handler:
            tracer.start_span("root", context=Context()).end()

        assert names(handler) == ["root"]


class TestBounds:
    """Captures of much."""

    def test_more_spans_than_it_holds(self, tracer: Tracer, caplog: pytest.LogCaptureFixture) -> None:
        """The first ones stay, the others are counted, and it is said once."""
        with capture_traces(max_spans=3) as handler:
            make(tracer, *"abcdef")

        assert names(handler) == ["a", "b", "c"]
        assert handler.dropped == 3
        assert caplog.text.count("MemoryTraceHandler holds 3 spans") == 1

    def test_more_bytes_than_it_holds(self, tracer: Tracer) -> None:
        """A span that is too large is left out, and a small one after it is taken."""
        with capture_traces(max_bytes=5000) as handler:
            with tracer.start_as_current_span("large") as span:
                span.set_attribute("text", "x" * 10_000)
            make(tracer, "small")

        assert (names(handler), handler.dropped) == (["small"], 1)

    def test_spans_that_the_queue_could_not_take(self, tracer: Tracer, hub: SpanHub) -> None:
        """A span that got lost on its way to the capture is counted there."""
        with capture_traces() as handler:
            handler.store.expect()
            make(tracer, "a span")

        assert (names(handler), handler.dropped) == (["a span"], 1)


class TestSettingUp:
    """Where nothing called `init`."""

    def test_it_is_called(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What it puts in force is used."""
        hub = SpanHub()
        with recording(processors=[hub], hub=hub):
            in_force = runtime.current()
            assert in_force is not None
            runtime.install(None)

            def init() -> runtime.Runtime:
                runtime.install(in_force)
                return in_force

            monkeypatch.setattr("pixie_otel.tracing.setup.init_for_capture", init)
            with capture_traces() as handler:
                make(in_force.tracer, "a span")

        assert names(handler) == ["a span"]

    def test_it_gives_nothing(self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
        """Where tracing cannot be set up, the block runs, and it is said."""
        monkeypatch.setattr("pixie_otel.tracing.setup.init_for_capture", lambda: None)
        with capture_traces() as handler:
            pass

        assert handler.spans == []
        assert "captures nothing" in caplog.text

    def test_it_is_strict(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is wrong with the settings is raised where that is asked for."""

        def init() -> None:
            raise ConfigError("wrong")

        monkeypatch.setattr("pixie_otel.tracing.setup.init_for_capture", init)
        with pytest.raises(ConfigError), capture_traces():
            pass


class TestBesideOthers:
    """Captures in an application that has its own."""

    def test_an_application_s_own_provider_and_exporter(self) -> None:
        """Its exporter gets every span as without us, and the capture has its own."""
        hub, exporter = SpanHub(), InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        provider.add_span_processor(hub)
        tracer = provider.get_tracer("app")
        with recording(hub=hub):
            make(tracer, "before")
            with capture_traces() as handler:
                make(tracer, "within")

        assert names(handler) == ["within"]
        assert [span.name for span in exporter.get_finished_spans()] == ["before", "within"]
        provider.shutdown()

    def test_an_application_s_own_global_provider(self, tmp_path: Path) -> None:
        """Capturing without `init` uses it, and afterwards it goes on as before, without instrumentation of ours."""
        program = """
            from opentelemetry import trace
            from opentelemetry.sdk.trace import SpanLimits, TracerProvider
            from opentelemetry.sdk.trace.export import SimpleSpanProcessor
            from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

            exporter = InMemorySpanExporter()
            provider = TracerProvider(span_limits=SpanLimits(max_span_attributes=10_000))
            provider.add_span_processor(SimpleSpanProcessor(exporter))
            trace.set_tracer_provider(provider)
            tracer = trace.get_tracer("app")
            processors = provider._active_span_processor._span_processors

            import openai
            import pixie_otel
            from pixie_otel.tracing import runtime
            from pixie_otel.tracing.capture import capture_traces
            request = openai.OpenAI.request
            for number in range(2):
                with capture_traces() as handler:
                    tracer.start_span(f"within {number}").end()
                tracer.start_span("between").end()
                print([span.name for span in handler.spans], handler.dropped, handler.unattributed)
                print(runtime.current(), openai.OpenAI.request is request)
                print(provider._active_span_processor._span_processors == processors)
            print(trace.get_tracer_provider() is provider, [span.name for span in exporter.get_finished_spans()])
            pixie_otel.init(instrument=False)
            in_force = runtime.current()
            with capture_traces() as handler:
                tracer.start_span("after init").end()
            print([span.name for span in handler.spans], runtime.current() is in_force)
        """
        out, err = run_program(program, tmp_path)

        assert out.splitlines() == [
            "['within 0'] 0 0",
            "None True",
            "True",
            "['within 1'] 0 0",
            "None True",
            "True",
            "True ['within 0', 'between', 'within 1', 'between']",
            "['after init'] True",
        ]
        assert err == ""

    def test_where_tracing_is_off(self, tmp_path: Path) -> None:
        """The block runs, the capture is empty, and it is said."""
        program = """
            import logging; logging.basicConfig()
            from pixie_otel.tracing.capture import capture_traces
            with capture_traces() as handler:
                print("ran")
            print(handler.spans, handler.get_all_traces())
        """
        out, err = run_program(program, tmp_path, {"OTEL_SDK_DISABLED": "true"})

        assert out.splitlines() == ["ran", "[] {}"]
        assert "captures nothing" in err
