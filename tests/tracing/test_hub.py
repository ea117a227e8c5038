"""Where every span of a provider ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from weakref import ref

import pytest
from opentelemetry.context import Context, attach, detach, set_value
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.sampling import Decision, ParentBased, Sampler, SamplingResult
from opentelemetry.trace import Tracer
from programs import run_program
from sdk_spans import sdk_span

from pixie_otel.diagnostics import internal_errors
from pixie_otel.exporters.memory import MemoryTraceHandler
from pixie_otel.exporters.redaction import Redactor
from pixie_otel.exporters.work_queue import Outcome, WorkQueue
from pixie_otel.tracing.hub import SpanHub
from pixie_otel.tracing.open_spans import CAPTURES


class Destination:
    """A queue that keeps what it gets, once it may."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.is_closed = False
        self.queue: WorkQueue[ReadableSpan] = WorkQueue("a test", self._take, lambda _: 1, close=self._close)

    def _take(self, spans: Sequence[ReadableSpan]) -> Outcome:
        self.may_go_on.wait(10)
        self.names += [span.name for span in spans]
        return Outcome(len(spans), {})

    def _close(self) -> None:
        self.is_closed = True


@pytest.fixture
def hub() -> Iterator[SpanHub]:
    """A hub that is attached to nothing."""
    hub = SpanHub()
    yield hub
    hub.close()


@pytest.fixture
def destination(hub: SpanHub) -> Destination:
    """Its destination."""
    destination = Destination()
    hub.add_destination(destination.queue)
    return destination


@pytest.fixture
def tracer(hub: SpanHub) -> Iterator[Tracer]:
    """A tracer whose spans it gets."""
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(hub)
    yield provider.get_tracer("app")
    provider.shutdown()


class TestDestinations:
    """Files and endpoints."""

    def test_each_gets_every_span(self, hub: SpanHub, destination: Destination, tracer: Tracer) -> None:
        """A span goes to every destination there is when it ends."""
        other = Destination()
        tracer.start_span("one").end()
        hub.add_destination(other.queue)
        tracer.start_span("two").end()

        assert hub.flush()
        assert (destination.names, other.names) == (["one", "two"], ["two"])
        assert hub.destinations == (destination.queue, other.queue)
        assert [queue.written for queue in hub.stats().destinations] == [2, 1]

    def test_flush_has_one_timeout_for_all(self, hub: SpanHub, destination: Destination, tracer: Tracer) -> None:
        """A destination that hangs lets a flush fail, and the others have their spans all the same."""
        other = Destination()
        hub.add_destination(other.queue)
        destination.may_go_on.clear()
        tracer.start_span("one").end()

        assert not hub.flush(0.2)
        assert other.queue.flush(10)
        assert (destination.names, other.names) == ([], ["one"])
        destination.may_go_on.set()
        assert hub.force_flush()

    def test_closing(self, hub: SpanHub, destination: Destination, tracer: Tracer) -> None:
        """Closed destinations have what ended before; what ends after is counted, until there are new ones."""
        tracer.start_span("before").end()
        assert hub.close()
        tracer.start_span("after").end()

        assert (destination.names, destination.is_closed, hub.destinations) == (["before"], True, ())
        stats = hub.stats()
        assert (stats.ended, stats.after_shutdown, [queue.ended for queue in stats.destinations]) == (2, 1, [1])
        again = Destination()
        hub.add_destination(again.queue)
        tracer.start_span("again").end()
        assert hub.close()
        assert again.names == ["again"]
        assert hub.stats().after_shutdown == 1

    def test_the_provider_is_shut_down(self, hub: SpanHub, destination: Destination) -> None:
        """An application that shuts its provider down closes the destinations."""
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(hub)
        provider.get_tracer("app").start_span("a span").end()
        assert provider.force_flush()
        assert destination.names == ["a span"]
        provider.shutdown()

        assert destination.is_closed

    def test_one_that_hangs_leaves_the_others_time_to_close(self, hub: SpanHub, tracer: Tracer) -> None:
        """However little time there is, what has nothing left to write is closed."""
        hanging, quick = Destination(), Destination()
        hanging.may_go_on.clear()
        hub.add_destination(hanging.queue)
        hub.add_destination(quick.queue)
        tracer.start_span("a").end()
        assert quick.queue.flush(10)
        assert not hub.close(0.5)
        assert quick.is_closed
        hanging.may_go_on.set()


class RecordOnly(Sampler):
    """Records spans, and lets none of them be exported."""

    def should_sample(self, *args: object, **kwargs: object) -> SamplingResult:
        """Record it."""
        return SamplingResult(Decision.RECORD_ONLY)

    def get_description(self) -> str:
        """Describe it."""
        return "records"


class TestCounting:
    """What the hub says of the spans."""

    def test_spans_that_are_not_sampled(self, hub: SpanHub, destination: Destination) -> None:
        """They are counted, and go nowhere."""
        provider = TracerProvider(sampler=ParentBased(RecordOnly()), shutdown_on_exit=False)
        provider.add_span_processor(hub)
        provider.get_tracer("app").start_span("a span").end()

        assert hub.close()
        stats = hub.stats()
        assert (stats.ended, stats.unsampled, destination.names) == (1, 1, [])
        provider.shutdown()

    def test_values_that_were_cut(self, hub: SpanHub, tracer: Tracer) -> None:
        """Spans that say so are counted; also those whose attributes are no plain dict."""
        tracer.start_span("cut", attributes={"pixie.truncated": ["input.value"]}).end()
        tracer.start_span("whole").end()
        hub.on_end(sdk_span({"pixie.truncated": ["x"]}, cleaned=False))
        hub.on_end(sdk_span())

        assert hub.stats().truncated == 2

    def test_a_span_without_an_identity(self, hub: SpanHub, destination: Destination) -> None:
        """One that has no context goes nowhere, and does no harm."""
        hub.on_end(ReadableSpan("nobody"))

        assert hub.flush()
        assert destination.names == []


class TestFaults:
    """What fails inside stays inside."""

    @pytest.mark.parametrize("error", [RuntimeError, RecursionError, MemoryError, UnicodeError])
    def test_of_our_own(self, error: type[Exception], tracer: Tracer, monkeypatch: pytest.MonkeyPatch) -> None:
        """An exception of ours is counted, and the application's own is the one that comes out."""

        def fail(*_: object) -> None:
            raise error

        monkeypatch.setattr("pixie_otel.tracing.hub.get_current", fail)
        monkeypatch.setattr("pixie_otel.tracing.hub._is_truncated", fail)
        before = internal_errors()
        with pytest.raises(ValueError, match="own"), tracer.start_as_current_span("a span"):
            raise ValueError("own")

        found = internal_errors()
        assert {where: count - before.get(where, 0) for where, count in found.items() if where in _STEPS} == _STEPS

    def test_even_saying_so_fails(self, tracer: Tracer, monkeypatch: pytest.MonkeyPatch) -> None:
        """With no room on the stack even for telling of it, the application goes on."""

        def fail(*_: object) -> None:
            raise RecursionError

        monkeypatch.setattr("pixie_otel.tracing.hub._is_truncated", fail)
        monkeypatch.setattr("pixie_otel.tracing.faults.internal_error", fail)

        tracer.start_span("a span").end()

    def test_flush_and_shutdown(self, hub: SpanHub, monkeypatch: pytest.MonkeyPatch) -> None:
        """A provider that flushes or shuts down hears nothing of a fault of ours."""

        def fail(*_: object) -> bool:
            raise RuntimeError

        with monkeypatch.context() as patch:
            patch.setattr(hub, "flush", fail)
            patch.setattr(hub, "close", fail)
            assert not hub.force_flush()
            hub.shutdown()

    def test_at_the_limit_of_the_stack(self, hub: SpanHub, destination: Destination, tracer: Tracer) -> None:
        """Spans that end as deep as the stack goes raise nothing but what they would raise without us."""

        def dive() -> None:
            try:
                dive()
            except RecursionError:
                span.end()
                raise

        span = tracer.start_span("deep")
        with pytest.raises(RecursionError):
            dive()

        assert hub.flush()


_STEPS = {"starting a span": 1, "ending a span": 1}


class TestCapturing:
    """The hub's part in captures."""

    def test_a_span_that_cannot_be_encoded(self, hub: SpanHub, tracer: Tracer, monkeypatch: pytest.MonkeyPatch) -> None:
        """It is counted with the queue and with the capture, whatever is wrong with it."""
        errors = iter([ValueError(), OSError()])

        def fail(*_: object) -> None:
            raise next(errors)

        monkeypatch.setattr("pixie_otel.exporters.readback.encode_redacted", fail)
        handler = MemoryTraceHandler()
        hub.open_capture(handler)
        token = attach(set_value(CAPTURES, (ref(handler),)))
        tracer.start_span("one").end()
        tracer.start_span("two").end()
        detach(token)

        assert hub.close_capture(handler)
        assert hub.close_capture(handler)
        assert (handler.spans, handler.dropped) == ([], 2)
        captures = hub.stats().captures
        assert captures is not None
        assert captures.dropped == {"encode_error": 2}

    def test_a_shutdown_within_a_capture(self, hub: SpanHub, tracer: Tracer) -> None:
        """An open capture goes on; when there is none, its thread ends, and the next one has another."""
        for name in ("first", "second"):
            handler = MemoryTraceHandler()
            hub.open_capture(handler)
            context = set_value(CAPTURES, (ref(handler),), Context())
            assert hub.close()
            tracer.start_span(name, context=context).end()
            assert hub.close_capture(handler)
            assert [span.name for span in handler.spans] == [name]
            captures = hub.stats().captures
            assert captures is not None
            assert captures.written == 1
            assert hub.close()
            assert hub.stats().captures is None

    def test_secrets_are_hidden(self, tracer: Tracer, hub: SpanHub) -> None:
        """A capture sees what a file would hold; the hub's redactor may be replaced."""
        handler = MemoryTraceHandler()
        hub.open_capture(handler)
        context = set_value(CAPTURES, (ref(handler),), Context())
        tracer.start_span("one", context=context, attributes={"api_key": "AKIAZ5QRTWXNV2HGJK7M"}).end()
        hub.flush()
        hub.redactor = Redactor(redact=False)
        tracer.start_span("two", context=context, attributes={"api_key": "AKIAZ5QRTWXNV2HGJK7M"}).end()
        hub.close_capture(handler)

        assert ["AKIAZ5" in str(span.attributes) for span in handler.spans] == [False, True]


def test_in_a_forked_child(hub: SpanHub, destination: Destination, tracer: Tracer) -> None:
    """There, spans are followed from their start, and those without one are the parent's."""
    across = tracer.start_span("across")
    tracer.start_span("before").end()
    hub.flush()
    hub._after_fork()
    own = tracer.start_span("own")
    tracer.start_span("never ended")
    across.end()
    own.end()

    assert hub.flush()
    stats = hub.stats()
    assert (stats.ended, stats.inherited, destination.names) == (2, 1, ["before", "own"])
    assert not hub._open.by_key


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
class TestForks:
    """Processes that are forked off."""

    def test_spans_that_are_open_across_the_fork(self, tmp_path: Path) -> None:
        """They are the parent's: the child counts them as inherited, and exports its own only."""
        program = """
            import os, sys
            from opentelemetry.sdk.trace import TracerProvider
            from pixie_otel.exporters.work_queue import Outcome, WorkQueue
            from pixie_otel.tracing.hub import SpanHub

            names = []
            def take(spans):
                names.extend(span.name for span in spans)
                return Outcome(len(spans), {})

            hub = SpanHub()
            hub.add_destination(WorkQueue("list", take, lambda span: 1))
            provider = TracerProvider(shutdown_on_exit=False)
            provider.add_span_processor(hub)
            tracer = provider.get_tracer("app")
            tracer.start_span("ended before").end()
            across = tracer.start_span("across")
            hub.flush()
            if pid := os.fork():
                status = os.waitpid(pid, 0)[1]
                across.end()
                hub.flush()
                stats = hub.stats()
                print("parent", names, stats.ended, stats.inherited, status)
            else:
                names.clear()
                with tracer.start_as_current_span("own"):
                    across.end()
                hub.flush()
                stats = hub.stats()
                print("child", names, stats.ended, stats.inherited, flush=True)
                os._exit(0)
        """
        out, _ = run_program(program, tmp_path)

        assert out.splitlines() == [
            "child ['own'] 2 1",
            "parent ['ended before', 'across'] 2 0 0",
        ]

    def test_a_child_that_is_forked_within_a_capture(self, tmp_path: Path) -> None:
        """Parent and child have a capture each, with their own spans."""
        program = """
            import os
            from pixie_otel.tracing.capture import capture_traces
            from opentelemetry import trace

            with capture_traces() as handler:
                tracer = trace.get_tracer("app")
                tracer.start_span("before").end()
                handler.spans
                pid = os.fork()
                name = "parent" if pid else "child"
                tracer.start_span(name).end()
                if pid:
                    os.waitpid(pid, 0)
            print([span.name for span in handler.spans], handler.dropped, flush=True)
            if not pid:
                os._exit(0)
        """
        out, _ = run_program(program, tmp_path)

        assert out.splitlines() == ["['before', 'child'] 0", "['before', 'parent'] 0"]
