"""The end of a process: what has been recorded is written before it is gone, and the end is not held up for long.

Python ends with its exit handlers, unless a signal ends it first. Of the signals only SIGTERM is taken, and only where
the application left it to the system: then the process still dies of it, a moment later. Celery's pool kills a process
that has done its tasks, and says so inside it before; uvicorn dies of the SIGTERM that it handled, as if nobody had
taken it where `init` was called inside it.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from functools import wraps
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from pixie_otel.diagnostics import internal_error
from pixie_otel.tracing.runtime import current

if TYPE_CHECKING:
    from pixie_otel.tracing.hub import SpanHub

__all__ = ["arm", "disarm", "end_open_streams"]

_EXIT_SECONDS: Final = 15.0
_SIGNAL_SECONDS: Final = 5.0
_STANDSTILL_SECONDS: Final = 1.5
"""How long nothing may have got anywhere before the rest is given up: a dead endpoint must not hold up the end."""
_CLOSING_SECONDS: Final = 0.5

_ending = threading.Lock()


def arm() -> None:
    """Write what has been recorded when the process ends, by itself or of SIGTERM."""
    # Handlers run last in, first out: this one before that of the provider, which is older.
    atexit.unregister(_at_exit)
    atexit.register(_at_exit)
    _arm_celery()
    if threading.current_thread() is not threading.main_thread():
        return
    try:
        handler = signal.getsignal(signal.SIGTERM)
        if handler is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, _on_sigterm)
        else:
            _guarded("connecting to uvicorn", lambda: _arm_uvicorn(handler))
    except ValueError:
        # Another interpreter than the main one may not set handlers.
        return


def disarm() -> None:
    """Leave the end of the process as it was before `arm`."""
    atexit.unregister(_at_exit)
    if threading.current_thread() is not threading.main_thread():
        return
    try:
        if signal.getsignal(signal.SIGTERM) is _on_sigterm:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
    except ValueError:
        return


def end_open_streams() -> None:
    """End the spans of streams that are still open: nobody will read on."""
    # Loaded where there was a stream; the end of a process is no time to import.
    streams = sys.modules.get("pixie_otel.tracing.streams")
    if streams is not None:
        _guarded("ending open streams", streams.end_open_streams)


def _arm_celery() -> None:
    signals = sys.modules.get("celery.signals")
    if signals is not None:
        shutdown = signals.worker_process_shutdown
        _guarded(
            "connecting to Celery", lambda: shutdown.connect(_on_celery_end, weak=False, dispatch_uid="pixie_otel")
        )


def _arm_uvicorn(handler: object) -> None:
    """Flush after the shutdown of a server that runs already, as in each process of ``uvicorn --workers``."""
    server_module = sys.modules.get("uvicorn.server")
    server: Any = getattr(handler, "__self__", None)
    if server_module is None or not isinstance(server, server_module.Server) or "shutdown" in vars(server):
        return
    shutdown: Callable[..., Awaitable[None]] = server.shutdown

    @wraps(shutdown)
    async def shutdown_and_flush(*arguments: object, **named: object) -> None:
        try:
            await shutdown(*arguments, **named)
        finally:
            _flush_for("uvicorn")

    server.shutdown = shutdown_and_flush


def _before_fork() -> None:
    # Celery may have been imported after `init`, and has been before it forks.
    if current() is not None:
        _arm_celery()


def _on_celery_end(**_arguments: object) -> None:
    _flush_for("Celery")


def _flush_for(whom: str) -> None:
    runtime = current()
    if runtime is not None:
        end_open_streams()
        _guarded(f"flushing for {whom}", lambda: _flush(runtime.hub, _SIGNAL_SECONDS))


def _at_exit() -> None:
    runtime = current()
    if runtime is None:
        return
    end_open_streams()
    _guarded("flushing at exit", lambda: _flush(runtime.hub, _EXIT_SECONDS))
    _guarded("shutting down at exit", lambda: runtime.hub.close(_CLOSING_SECONDS))


def _on_sigterm(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - what a signal handler is called with
    # Whoever ends processes may do so twice, and the second time must not cut the first one short.
    if not _ending.acquire(blocking=False):
        return
    try:
        runtime = current()
        if runtime is not None:
            end_open_streams()
            _guarded("flushing on SIGTERM", lambda: _flush(runtime.hub, _SIGNAL_SECONDS))
    finally:
        signal.signal(number, signal.SIG_DFL)
        _ending.release()
        os.kill(os.getpid(), number)


def _flush(hub: SpanHub, most: float) -> None:
    """Flush for as long as spans get somewhere: what is slow is worth the wait, what is dead is not."""
    end = time.monotonic() + most
    before = -1
    while not hub.flush(max(min(_STANDSTILL_SECONDS, end - time.monotonic()), 0.0)):
        done = sum(queue.ended - queue.queued for queue in hub.stats().destinations)
        if done == before or time.monotonic() >= end:
            return
        before = done


def _guarded(what: str, action: Callable[[], object]) -> None:
    try:
        action()
    except Exception as error:  # noqa: BLE001 - the process ends as it would have
        internal_error(what, error)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)
