"""Spans in memory: for tests and evaluations, which look at a trace right after it was made."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from pixie_otel.diagnostics import internal_error, warn
from pixie_otel.exporters import readback
from pixie_otel.exporters.forks import in_child
from pixie_otel.exporters.handlers import InstrumentationHandler
from pixie_otel.exporters.readback import Held
from pixie_otel.exporters.redaction import Redact, Redactor, hide_from_environment
from pixie_otel.exporters.work_queue import Outcome
from pixie_otel.traces.record import SpanRecord
from pixie_otel.traces.spans import LLMSpan, ObserveSpan
from pixie_otel.traces.trace import Trace

__all__ = ["MAX_BYTES", "MAX_SPANS", "MemoryTraceHandler", "SpanStore"]

MAX_SPANS: Final = 100_000
"""How many spans are kept where nothing else is said."""
MAX_BYTES: Final = 256 * 2**20
"""How many bytes of JSON they may have together."""
_SPAN_BYTES: Final = 512
"""What a span takes beside its JSON, roughly."""
_OBSERVATION_BYTES: Final = 4096
"""What is counted for an observation whose size is not known."""


class SpanStore:
    """The spans of a handler, bounded, with an account of those that are not among them.

    Args:
        max_spans: How many spans it holds at most.
        max_bytes: How many bytes of JSON they have together at most.

    Attributes:
        lost: How many spans should be here and are not.
        late: How many spans were still open when their capture ended.
        unattributed: How many spans started meanwhile that belong to no capture.
        refresh: Called before somebody looks, so that what has ended is here; ``None`` where nothing is on its way.
    """

    def __init__(self, max_spans: int, max_bytes: int) -> None:
        self._max_spans = max_spans
        self._max_bytes = max_bytes
        self._lock = threading.RLock()
        self._held: list[Held] = []
        self._observed: list[ObserveSpan] = []
        self._traces: dict[str, Trace] | None = None
        self._bytes = 0
        self._changes = 0
        self._expected = 0
        self._arrived = 0
        self.lost = 0
        self.late = 0
        self.unattributed = 0
        self.refresh: Callable[[], object] | None = None
        in_child(self._after_fork)

    def expect(self) -> None:
        """Count a span that is on its way here; never called twice at a time.

        An application's thread comes here, and must not wait for the lock of what a worker or a signal has interrupted.
        """
        self._expected += 1

    def is_waiting(self) -> bool:
        """Say whether spans are on their way here."""
        with self._lock:
            return self._arrived < self._expected

    def arrive(self, span: Held | None) -> bool:
        """Take a span that was on its way; ``None`` for one that got lost."""
        try:
            if span is not None:
                return self.keep(span)
            self.lose()
            return False
        finally:
            with self._lock:
                self._arrived += 1

    def give_up(self) -> None:
        """Count what is still on its way as lost."""
        with self._lock:
            missing = max(0, self._expected - self._arrived)
            self._arrived += missing
            self.lost += missing

    def lose(self) -> None:
        """Count a span that should be here and is not."""
        with self._lock:
            self.lost += 1

    def keep(self, span: Held) -> bool:
        """Keep a span; say whether there was room."""
        size = _SPAN_BYTES + (len(span.data) if isinstance(span, SpanRecord) else _OBSERVATION_BYTES)
        with self._lock:
            if len(self._held) < self._max_spans and self._bytes + size <= self._max_bytes:
                self._held.append(span)
                self._bytes += size
                self._traces = None
                self._changes += 1
                return True
            self.lost += 1
        warn(
            "memory-full",
            f"a MemoryTraceHandler holds {len(self._held)} spans of {self._bytes} bytes, and drops the next: give "
            "capture_traces() more max_spans or max_bytes, or call clear() from time to time",
        )
        return False

    def observed(self) -> list[ObserveSpan]:
        """Give the spans as observations."""
        self._refresh()
        with self._lock:
            held, known = [*self._held], self._observed
            count = len(known)
        # Not under the lock, which what brings further spans needs, too.
        found = [*known[:count], *(span if isinstance(span, ObserveSpan) else span.observe() for span in held[count:])]
        with self._lock:
            if self._observed is known:
                self._observed = found
        return [*found]

    def traces(self) -> dict[str, Trace]:
        """Give the spans as traces."""
        self._refresh()
        with self._lock:
            held, known, changes = [*self._held], self._traces, self._changes
        if known is None:
            known = readback.traces(held)
            with self._lock:
                if self._changes == changes:
                    self._traces = known
        return dict(known)

    def clear(self) -> None:
        """Let go of the spans."""
        self._refresh()
        with self._lock:
            self._held, self._observed, self._traces, self._bytes = [], [], None, 0
            self._changes += 1

    def _refresh(self) -> None:
        refresh = self.refresh
        if refresh is not None and self.is_waiting():
            try:
                refresh()
            except Exception as error:  # noqa: BLE001 - what is here can be looked at all the same
                internal_error("waiting for captured spans", error)

    def _after_fork(self) -> None:
        """Begin anew in a child process, where whoever held the lock does not exist, and nothing is on its way."""
        self._lock = threading.RLock()
        self._arrived = self._expected


class MemoryTraceHandler(SpanExporter, InstrumentationHandler):
    """Keeps spans in memory, as what the reader makes of them.

    `capture_traces` gives one that has the spans of one context. It is also a span exporter, and a handler for
    `add_handler`; then it gets every span of its provider.

    Args:
        max_spans: How many spans are kept at most; further ones are dropped and counted.
        max_bytes: How many bytes of JSON they may have together, 256 MiB if not given.
        redact: What is hidden of the spans that it gets as an exporter: ``True`` for credentials, ``False`` for
            nothing, or a function that gets each attribute's key and value and gives the value to keep, for more.
    """

    def __init__(self, *, max_spans: int = MAX_SPANS, max_bytes: int = MAX_BYTES, redact: bool | Redact = True) -> None:
        self.store = SpanStore(max_spans, max_bytes)
        self._redactor = Redactor(redact, hide=hide_from_environment())
        self._is_shut_down = False

    @property
    def spans(self) -> list[ObserveSpan]:
        """The spans that have ended, as observations, in the order in which they ended."""
        return self.store.observed()

    def get_trace(self, trace_id: str) -> Trace:
        """Give a trace as far as its spans have ended; one without spans where none of them is here.

        Args:
            trace_id: The trace's id, 32 hex digits.
        """
        return self.store.traces().get(trace_id) or Trace(trace_id, [], source="memory")

    def get_all_traces(self) -> dict[str, Trace]:
        """Give all traces by their ids, in order of start."""
        return self.store.traces()

    def clear(self) -> None:
        """Forget the spans, not the counts."""
        self.store.clear()

    @property
    def dropped(self) -> int:
        """How many spans should be here and are not: there was no room, or they could not be encoded."""
        return self.store.lost

    @property
    def late(self) -> int:
        """How many spans of the capture were still open when it ended, and are not here."""
        return self.store.late

    @property
    def unattributed(self) -> int:
        """How many spans started while the capture was open that belong to no capture, such as those of old threads."""
        return self.store.unattributed

    def on_llm(self, span: LLMSpan) -> None:
        """Keep a call of a language model."""
        self.store.keep(span)

    def on_observe(self, span: ObserveSpan) -> None:
        """Keep any other span."""
        self.store.keep(span)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Keep spans that have ended; a failure where some of them could not be kept."""
        outcome = self.export_counted(spans)
        return SpanExportResult.FAILURE if outcome.dropped else SpanExportResult.SUCCESS

    def export_counted(self, spans: Sequence[ReadableSpan]) -> Outcome:
        """Keep spans that have ended, and say how many were, and why others were not."""
        dropped: dict[str, int] = {}
        for span in spans:
            reason = self._export(span)
            if reason is not None:
                dropped[reason] = dropped.get(reason, 0) + 1
        return Outcome(len(spans) - sum(dropped.values()), dropped)

    def _export(self, span: ReadableSpan) -> str | None:
        """Keep a span; give the reason where it could not be kept."""
        found = "after_shutdown" if self._is_shut_down else readback.record_or_reason(span, self._redactor)
        if isinstance(found, SpanRecord):
            return None if self.store.keep(found) else "memory_full"
        self.store.lose()
        return found

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002 - there is nothing to wait for
        """Say that every exported span is here."""
        return True

    def shutdown(self) -> None:
        """Keep what is here and take no more."""
        self._is_shut_down = True
