"""Where every span of a provider ends: it goes on to files and endpoints, to captures and to handlers.

What runs on the application's threads here counts, looks whose a span is, and puts it into queues; all else happens on
the queues' own threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, cast
from weakref import ref

from opentelemetry import baggage
from opentelemetry.context import Context, get_current
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.trace import SpanContext, TraceFlags

from pixie_otel import attributes as keys
from pixie_otel.exporters.forks import in_child
from pixie_otel.exporters.handlers import InstrumentationHandler
from pixie_otel.exporters.memory import MAX_BYTES, MemoryTraceHandler
from pixie_otel.exporters.readback import record_or_reason
from pixie_otel.exporters.redaction import Redactor
from pixie_otel.exporters.span_queue import span_size
from pixie_otel.exporters.work_queue import Outcome, QueueStats, WorkQueue
from pixie_otel.traces.record import SpanRecord
from pixie_otel.tracing.dispatch import Dispatcher
from pixie_otel.tracing.faults import report
from pixie_otel.tracing.open_spans import CAPTURES, CAPTURES_HERE, CaptureRef, OpenSpans
from pixie_otel.tracing.spans import end_unfinished
from pixie_otel.tracing.statistics import HubStats

__all__ = ["SpanHub"]

_SAMPLED: Final = TraceFlags.SAMPLED
_TRUNCATED: Final = keys.PIXIE_TRUNCATED
# Private, and asked for each span that starts; the public way takes four times as long.
_BAGGAGE: Final[str | None] = getattr(baggage, "_BAGGAGE_KEY", None)
_FROM_BAGGAGE: Final = (keys.SESSION_ID, keys.USER_ID)
_CAPTURE_ITEMS: Final = 1_000_000
_CAPTURE_BYTES: Final = MAX_BYTES


@dataclass(slots=True)
class _Captured:
    """A span on its way to captures."""

    span: ReadableSpan
    handlers: tuple[MemoryTraceHandler, ...]


class _Handled(NamedTuple):
    """A span on its way to handlers."""

    span: ReadableSpan
    handlers: tuple[InstrumentationHandler, ...]


class SpanHub(SpanProcessor):
    """Takes every span of one provider; attached to it once, and inert while it has nothing to serve.

    Args:
        redactor: Hides what captures and handlers are not to see; by default, credentials.

    Attributes:
        redactor: The same; a later `init` may replace it.
        destinations: The queues that get every sampled span.
    """

    def __init__(self, redactor: Redactor | None = None) -> None:
        self.redactor = redactor or Redactor()
        self.destinations: tuple[WorkQueue[ReadableSpan], ...] = ()
        self._lock = threading.RLock()
        self._captures: Mapping[CaptureRef, MemoryTraceHandler] = {}
        self._handlers: tuple[InstrumentationHandler, ...] = ()
        self._capture_queue: WorkQueue[_Captured] | None = None
        self._handler_queue: WorkQueue[_Handled] | None = None
        self._dispatcher = Dispatcher()
        self._open = OpenSpans()
        self._is_forked = False
        self._closed: tuple[QueueStats, ...] = ()
        self._is_closed = False
        self._is_handling = False
        self._reset_counts()
        in_child(self._after_fork)

    def _reset_counts(self) -> None:
        self._ended = self._unsampled = self._inherited = self._after_shutdown = 0
        self._truncated = self._unattributed = 0

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Give a span its session from the baggage, and remember whose it is while it is open."""
        try:
            context = get_current() if parent_context is None else parent_context
            if _BAGGAGE is None or _BAGGAGE in context:
                _take_baggage(span, context)
            if self._captures or self._is_forked:
                self._track(span, context)
        except Exception as error:  # noqa: BLE001 - OpenTelemetry would let it through to the application
            report("starting a span", error)

    def on_end(self, span: ReadableSpan) -> None:
        """Send a span that has ended on its ways."""
        try:
            context = span.get_span_context()
            if context is None or not self._take(span, context):
                return
            for queue in self.destinations:
                queue.put(span)
            handlers = self._handlers
            # A handler that makes spans itself would never come to an end.
            if handlers and self._handler_queue is not None and not self._dispatcher.is_within():
                self._handler_queue.put(_Handled(span, handlers))
        except Exception as error:  # noqa: BLE001 - OpenTelemetry would let it through to the application
            report("ending a span", error)

    def _take(self, span: ReadableSpan, context: SpanContext) -> bool:
        """Count a span and give it to its captures; say whether it goes anywhere else."""
        is_sampled = context.trace_flags & _SAMPLED
        is_truncated = _is_truncated(span)
        with self._lock:
            self._ended += 1
            captures: tuple[CaptureRef, ...] | None = ()
            if self._open.by_key or self._is_forked:
                captures = self._open.pop(context)
                if captures is None and self._is_forked:
                    self._inherited += 1
                    return False
            if not is_sampled:
                self._unsampled += 1
                return False
            if is_truncated:
                self._truncated += 1
            if self._is_closed:
                self._after_shutdown += 1
            if captures:
                self._put_captured(span, captures)
            return True

    def _put_captured(self, span: ReadableSpan, captures: tuple[CaptureRef, ...]) -> None:
        # Under the lock, so that a capture that ends now finds a span either here or among those that are open.
        handlers = tuple(self._captures[capture] for capture in captures if capture in self._captures)
        if handlers and self._capture_queue is not None:
            for handler in handlers:
                handler.store.expect()
            self._capture_queue.put(_Captured(span, handlers))

    def _track(self, span: Span, context: Context) -> None:
        captures = self._captures_of(span, context)
        if captures or self._is_forked:
            self._open.add(span, captures)
        if self._captures and not captures:
            with self._lock:
                self._unattributed += 1
                for capture in self._captures.values():
                    capture.store.unattributed += 1

    def _captures_of(self, span: Span, context: Context) -> tuple[CaptureRef, ...]:
        """Find the captures of a span: those of its context, else of the thread's, of its parent, of the task."""
        found = context.get(CAPTURES) or get_current().get(CAPTURES) or self._open.captures(span.parent)
        known = self._captures
        return tuple(
            capture for capture in cast("tuple[CaptureRef, ...]", found or CAPTURES_HERE.get()) if capture in known
        )

    def add_destination(self, queue: WorkQueue[ReadableSpan]) -> None:
        """Let a queue have every sampled span that ends from now on."""
        with self._lock:
            self._closed, self._is_closed = (), False
            self.destinations = *self.destinations, queue

    def add_handler(self, handler: InstrumentationHandler) -> None:
        """Let a handler have every sampled span that ends from now on, once."""
        with self._lock:
            if self._handler_queue is None or not self._is_handling:
                self._handler_queue = WorkQueue("handlers", self._handle, _size, close=self._dispatcher.close)
                self._is_handling = True
            if not any(known is handler for known in self._handlers):
                self._handlers = *self._handlers, handler

    def remove_handler(self, handler: InstrumentationHandler) -> None:
        """Let a handler have no span that ends from now on."""
        with self._lock:
            self._handlers = tuple(known for known in self._handlers if known is not handler)

    def open_capture(self, handler: MemoryTraceHandler) -> None:
        """Let a handler have the spans that are started from now on in a context that names it."""
        with self._lock:
            if self._capture_queue is None:
                self._capture_queue = WorkQueue(
                    "captures", self._capture, _size, max_items=_CAPTURE_ITEMS, max_bytes=_CAPTURE_BYTES
                )
            handler.store.refresh = self._capture_queue.flush
            self._captures = {**self._captures, ref(handler): handler}

    def close_capture(self, handler: MemoryTraceHandler, timeout: float | None = 30.0) -> bool:
        """Let a handler have no span that ends from now on, and wait for those that have.

        Args:
            handler: One that was opened.
            timeout: How many seconds to wait at most; ``None`` for as long as it takes.

        Returns:
            Whether every span that had ended is with the handler, or is known to be lost.
        """
        reference = ref(handler)
        end_unfinished()
        with self._lock:
            if reference not in self._captures:
                return True
            self._captures = {known: value for known, value in self._captures.items() if known is not reference}
            handler.store.late += self._open.count(reference)
            queue = self._capture_queue
        done = True
        if handler.store.is_waiting() and queue is not None:
            done = queue.flush(timeout)
            if done:
                handler.store.give_up()
        handler.store.refresh = None
        return done

    def flush(self, timeout: float | None = 30.0) -> bool:
        """Wait until every span that has ended is where it belongs.

        Args:
            timeout: How many seconds all queues together may take; ``None`` for as long as it takes.
        """
        left = _countdown(timeout)
        end_unfinished()
        done = True
        for queue in (self._capture_queue, *self.destinations, self._handler_queue):
            if queue is not None:
                done = queue.flush(left()) and done
        return done

    def close(self, timeout: float | None = 30.0) -> bool:
        """Shut the destinations down and let them go; open captures stay, handlers get nothing more.

        Args:
            timeout: How many seconds that may take; ``None`` for as long as it takes.

        Returns:
            Whether every span that had ended is where it belongs.
        """
        left = _countdown(timeout)
        with self._lock:
            destinations, self.destinations = self.destinations, ()
            self._handlers, self._is_handling = (), False
            self._is_closed = self._is_closed or bool(destinations)
            captures = self._capture_queue
            if not self._captures:
                self._capture_queue = None
        done = True
        # What has nothing to do closes at once; behind one that hangs, there would be no time left for it.
        for queue in sorted(destinations, key=lambda queue: queue.stats().queued):
            done = queue.shutdown(left()) and done
        if self._handler_queue is not None:
            done = self._handler_queue.shutdown(left()) and done
        if destinations:
            self._closed = tuple(queue.stats() for queue in destinations)
        if captures is None:
            return done
        return (captures.flush if captures is self._capture_queue else captures.shutdown)(left()) and done

    def shutdown(self) -> None:
        """Shut down, as the provider does when it is shut down."""
        try:
            self.close()
        except Exception as error:  # noqa: BLE001 - OpenTelemetry would let it through to the application
            report("shutting down", error)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Flush, as the provider does when it is flushed."""
        try:
            return self.flush(timeout_millis / 1000)
        except Exception as error:  # noqa: BLE001 - OpenTelemetry would let it through to the application
            report("flushing", error)
            return False

    def stats(self) -> HubStats:
        """Give the counts as they are."""
        captures, handlers = self._capture_queue, self._handler_queue
        with self._lock:
            return HubStats(
                ended=self._ended,
                unsampled=self._unsampled,
                inherited=self._inherited,
                after_shutdown=self._after_shutdown,
                truncated=self._truncated,
                unattributed=self._unattributed,
                handler_errors=self._dispatcher.errors,
                destinations=self._closed or tuple(queue.stats() for queue in self.destinations),
                captures=None if captures is None else captures.stats(),
                handlers=None if handlers is None else handlers.stats(),
            )

    def _after_fork(self) -> None:
        """Begin anew in a child process: the spans that are open are the parent's."""
        self._lock = threading.RLock()
        self._open = OpenSpans()
        self._is_forked = True
        self._reset_counts()
        self._dispatcher.forget()

    def _capture(self, batch: Sequence[_Captured]) -> Outcome:
        dropped: dict[str, int] = {}
        for item in batch:
            held = self._read(item.span, dropped)
            for handler in item.handlers:
                handler.store.arrive(held)
            # The queue may hold its last item for long, which must not hold a closed capture with all of its spans.
            item.handlers = ()
        return Outcome(len(batch) - sum(dropped.values()), dropped)

    def _handle(self, batch: Sequence[_Handled]) -> Outcome:
        dropped: dict[str, int] = {}
        for span, handlers in batch:
            held = self._read(span, dropped)
            if held is not None:
                self._dispatcher.deliver(held, handlers)
        return Outcome(len(batch) - sum(dropped.values()), dropped)

    def _read(self, span: ReadableSpan, dropped: dict[str, int]) -> SpanRecord | None:
        """Read a span as from a file; count it where that cannot be done."""
        found = record_or_reason(span, self.redactor)
        if isinstance(found, SpanRecord):
            return found
        dropped[found] = dropped.get(found, 0) + 1
        return None


def _take_baggage(span: Span, context: Context) -> None:
    """Copy session and user from the baggage that came with a request, where the span has none of its own."""
    given = baggage.get_all(context)
    if not given:
        return
    for key in _FROM_BAGGAGE:
        value = given.get(key)
        if isinstance(value, str) and value and not (span.attributes or {}).get(key):
            span.set_attribute(key, value)


def _is_truncated(span: ReadableSpan) -> bool:
    # Private, and several times as quick as the public way.
    inner: object = getattr(getattr(span, "_attributes", None), "_dict", None)
    return _TRUNCATED in (inner if type(inner) is dict else span.attributes or {})


def _size(item: _Captured | _Handled) -> int:
    return span_size(item.span)


def _countdown(timeout: float | None) -> Callable[[], float | None]:
    """Give what says how much is left of a timeout."""
    end = None if timeout is None else time.monotonic() + timeout
    return lambda: None if end is None else max(0.0, end - time.monotonic())
