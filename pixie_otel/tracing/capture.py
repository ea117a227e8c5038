"""`capture_traces`: the spans of one piece of code, in memory, whatever else goes on in the process."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Final, NamedTuple, cast
from weakref import ref

from opentelemetry import trace
from opentelemetry.context import Context, attach, get_current, set_value

from pixie_otel.diagnostics import internal_error, note, warn
from pixie_otel.errors import ConfigError
from pixie_otel.exporters.forks import in_child
from pixie_otel.exporters.memory import MAX_BYTES, MAX_SPANS, MemoryTraceHandler
from pixie_otel.tracing import runtime
from pixie_otel.tracing.hub import SpanHub
from pixie_otel.tracing.open_spans import CAPTURES, CAPTURES_HERE, CaptureRef
from pixie_otel.tracing.thread_contexts import carry, carry_no_more

__all__ = ["TraceCapture", "capture_traces"]

_SECONDS: Final = 30.0
_GIVING_BACK_SECONDS: Final = 5.0


def capture_traces(
    *, max_spans: int = MAX_SPANS, max_bytes: int = MAX_BYTES, timeout: float | None = _SECONDS
) -> TraceCapture:
    """Capture the spans that are started within a ``with`` or ``async with`` block.

    Those of threads, pools and tasks that are started within it belong to it too; those that other code starts at the
    same time do not. Where nothing called `init`, it is called. Captures may be nested, and each sees what is in it.

    What has ended is in the handler's `spans`, and as trees in `get_all_traces`; leaving the block waits for it.

    Args:
        max_spans: How many spans are kept at most; further ones are dropped and counted.
        max_bytes: How many bytes of JSON they may have together, 256 MiB if not given.
        timeout: How many seconds leaving may take; ``None`` for as long as it takes.

    Returns:
        What gives a `MemoryTraceHandler` when it is entered. Entering raises `ConfigError` where `init` is called for
        it, something is wrong with the settings, and ``PIXIE_OTEL_STRICT`` is set; nothing else is raised.
    """
    return TraceCapture(max_spans, max_bytes, timeout)


class _Opened(NamedTuple):
    """A capture that is going on."""

    handler: MemoryTraceHandler
    hub: SpanHub | None


class TraceCapture:
    """A capture, to be entered with ``with`` or ``async with``; made by `capture_traces`.

    Args:
        max_spans: How many spans are kept at most.
        max_bytes: How many bytes of JSON they may have together.
        timeout: How many seconds leaving may take.
    """

    def __init__(self, max_spans: int, max_bytes: int, timeout: float | None) -> None:
        self._max_spans = max_spans
        self._max_bytes = max_bytes
        self._timeout = timeout
        # Entered again while it is open, it is a capture within itself.
        self._opened: list[_Opened] = []

    def __enter__(self) -> MemoryTraceHandler:
        handler = MemoryTraceHandler(max_spans=self._max_spans, max_bytes=self._max_bytes)
        hub = None
        try:
            hub = _open(handler)
        except ConfigError:
            # Only raised where PIXIE_OTEL_STRICT asks for it.
            raise
        except Exception as error:  # noqa: BLE001 - the code that is to be captured runs all the same
            internal_error("opening a capture", error)
        self._opened.append(_Opened(handler, hub))
        return handler

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        opened = self._leave()
        if opened is not None:
            _close(*opened, self._timeout)

    async def __aenter__(self) -> MemoryTraceHandler:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        opened = self._leave()
        if opened is None:
            return
        try:
            loop = asyncio.get_running_loop()
            # Not the loop's own pool, in which the application may have filled every thread.
            pool = ThreadPoolExecutor(1, thread_name_prefix="pixie-otel capture")
            closing = loop.run_in_executor(pool, _close, *opened, self._timeout)
            pool.shutdown(wait=False)
        except RuntimeError:
            # Another event loop than asyncio's, or no thread can be started any more.
            _close(*opened, self._timeout)
            return
        await closing

    def _leave(self) -> _Opened | None:
        """Take the capture out of the context, for what follows in it."""
        if not self._opened:
            return None
        opened = self._opened.pop()
        try:
            _detach(ref(opened.handler))
        except Exception as error:  # noqa: BLE001 - the code behind the block runs on
            internal_error("leaving a capture", error)
        return opened


def _open(handler: MemoryTraceHandler) -> SpanHub | None:
    current = _scope.enter()
    if current is None:
        warn("capture-off", "capture_traces() captures nothing: tracing is off, and could not be set up")
        return None
    try:
        current.hub.open_capture(handler)
        context = get_current()
        attach(set_value(CAPTURES, (*_captures(context), ref(handler)), context))
        CAPTURES_HERE.set((*CAPTURES_HERE.get(), ref(handler)))
    except BaseException:
        _scope.leave()
        raise
    return current.hub


def _close(handler: MemoryTraceHandler, hub: SpanHub | None, timeout: float | None) -> None:
    """Wait for the spans that have ended, and say which ones are missing."""
    if hub is None:
        return
    try:
        try:
            done = hub.close_capture(handler, timeout)
        finally:
            _scope.leave()
        _say(handler, done=done)
    except Exception as error:  # noqa: BLE001 - the code behind the block runs on
        internal_error("closing a capture", error)


def _say(handler: MemoryTraceHandler, *, done: bool) -> None:
    if not done:
        warn("capture-timeout", "a capture ended before all of its spans were there; those that come still join it")
    if handler.late:
        warn(
            "capture-late",
            f"{handler.late} spans were still open when their capture ended, and are not in it: end them within the "
            "block, as by waiting for the threads and tasks that it starts",
        )
    if handler.unattributed:
        note(
            "capture-unattributed",
            f"{handler.unattributed} spans started while a capture was open and belong to none, such as those of "
            "threads that ran before",
        )


def _captures(context: Context) -> tuple[CaptureRef, ...]:
    return cast("tuple[CaptureRef, ...]", context.get(CAPTURES) or ())


def _detach(reference: CaptureRef) -> None:
    CAPTURES_HERE.set(tuple(capture for capture in CAPTURES_HERE.get() if capture is not reference))
    # OpenTelemetry's `detach` would log an error where the block is left in another context than it was entered in.
    # There is nothing to take out there; and in the context that it was entered in, a closed capture takes no spans.
    context = get_current()
    captures = _captures(context)
    if reference in captures:
        left = tuple(capture for capture in captures if capture is not reference)
        others = {key: value for key, value in context.items() if key != CAPTURES}
        attach(Context({**others, CAPTURES: left} if left else others))


class _Scope:
    """What is different in the process while captures are open, and as it was when the last one is closed."""

    def __init__(self) -> None:
        self._renew()
        self._captures = 0
        self._borrowed: runtime.Runtime | None = None
        in_child(self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def enter(self) -> runtime.Runtime | None:
        """Count a capture, and give what is in force for it; ``None``, and no count, where nothing is."""
        with self._lock:
            current = runtime.current() or self._set_up()
            if current is not None:
                carry()
                self._captures += 1
            return current

    def leave(self) -> None:
        """Count a capture that is closed."""
        with self._lock:
            self._captures -= 1
            carry_no_more()
            if not self._captures:
                self._give_back()

    def _set_up(self) -> runtime.Runtime | None:
        from pixie_otel.tracing.setup import init_for_capture

        is_borrowed = not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)
        current = init_for_capture()
        self._borrowed = current if is_borrowed else None
        return current

    def _give_back(self) -> None:
        """Leave a provider that was there before the first capture as it was, unless `init` was called meanwhile."""
        borrowed, self._borrowed = self._borrowed, None
        if borrowed is not None and runtime.current() is borrowed:
            from pixie_otel.tracing.instrumentors import activate
            from pixie_otel.tracing.provider import detach
            from pixie_otel.tracing.setup import shutdown

            activate(wanted=False, provider=trace.get_tracer_provider())
            shutdown(_GIVING_BACK_SECONDS)
            detach(borrowed.hub)


_scope: Final = _Scope()
