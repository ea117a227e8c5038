"""Calling an application's own handlers for every span that ends, off the application's path."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Sequence
from typing import Final

from pixie_otel.diagnostics import LOGGER, internal_error, warn
from pixie_otel.exporters.handlers import InstrumentationHandler
from pixie_otel.exporters.memory import MemoryTraceHandler
from pixie_otel.traces.record import SpanRecord
from pixie_otel.traces.spans import LLMSpan, ObserveSpan
from pixie_otel.tracing import runtime

__all__ = ["Dispatcher", "add_handler", "hand_over", "remove_handler"]

_SECONDS: Final = 30.0

_lock = threading.RLock()
_handlers: list[InstrumentationHandler] = []


def add_handler(handler: InstrumentationHandler) -> None:
    """Call a handler for every span that ends from now on.

    It may be added before `init`, and stays when tracing is shut down and set up again.

    Args:
        handler: Its methods are called on a thread of their own, for 30 seconds at most where they are coroutines;
            what they raise is counted and logged.
    """
    try:
        with _lock:
            if not any(known is handler for known in _handlers):
                _handlers.append(handler)
        current = runtime.current()
        if current is not None:
            current.hub.add_handler(handler)
    except Exception as error:  # noqa: BLE001 - the application must not notice
        internal_error("adding a handler", error)


def remove_handler(handler: InstrumentationHandler) -> None:
    """Call a handler no more for spans that end from now on; those that ended before still come.

    Args:
        handler: One that was added; any other is no error.
    """
    try:
        with _lock:
            _handlers[:] = [known for known in _handlers if known is not handler]
        current = runtime.current()
        if current is not None:
            current.hub.remove_handler(handler)
    except Exception as error:  # noqa: BLE001 - the application must not notice
        internal_error("removing a handler", error)


def hand_over() -> None:
    """Give the handlers that were added to the hub in force, once there is one."""
    current = runtime.current()
    if current is not None:
        with _lock:
            known = [*_handlers]
        for handler in known:
            current.hub.add_handler(handler)


class Dispatcher:
    """Gives spans to handlers, one after another; belongs to one worker.

    Args:
        seconds: How long a coroutine of a handler may take.

    Attributes:
        errors: How many calls of handlers failed.
    """

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._runner: asyncio.Runner | None = None
        self._thread: int | None = None
        self.errors = 0

    def is_within(self) -> bool:
        """Say whether a handler is being called on the caller's thread."""
        return self._thread == threading.get_ident()

    def deliver(self, record: SpanRecord, handlers: Sequence[InstrumentationHandler]) -> None:
        """Call handlers for a span.

        Args:
            record: The span.
            handlers: Those that were there when it ended.
        """
        self._thread = threading.get_ident()
        try:
            span = record.observe()
            for handler in handlers:
                if isinstance(handler, MemoryTraceHandler):
                    handler.store.keep(record)
                else:
                    self._call(handler, span)
        finally:
            self._thread = None

    def _call(self, handler: InstrumentationHandler, span: ObserveSpan) -> None:
        method = "on_llm" if isinstance(span, LLMSpan) else "on_observe"
        try:
            result: object = handler.on_llm(span) if isinstance(span, LLMSpan) else handler.on_observe(span)
            if inspect.isawaitable(result):
                self._await(result)
        except BaseException as error:  # noqa: BLE001 - one handler must not end the thread that the others need
            self.errors += 1
            name = f"{type(handler).__name__}.{method}"
            why = f"took more than {self._seconds:g} s" if isinstance(error, TimeoutError) else type(error).__name__
            warn(f"handler-error:{name}", f"the span handler {name} failed ({why}); the span was recorded all the same")
            LOGGER.debug("%s failed", name, exc_info=error)

    def _await(self, awaitable: Awaitable[object]) -> None:
        async def wait() -> None:
            await asyncio.wait_for(awaitable, self._seconds)

        if self._runner is None:
            self._runner = asyncio.Runner()
        self._runner.run(wait())

    def forget(self) -> None:
        """Begin anew in a child process: the loop belongs to the parent."""
        self._runner, self._thread, self.errors = None, None, 0

    def close(self) -> None:
        """End the loop in which coroutines ran."""
        runner, self._runner = self._runner, None
        if runner is not None:
            runner.close()
