"""The steps of the end of a process, one by one, in a process that goes on."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from opentelemetry import trace

from pixie_otel import diagnostics
from pixie_otel.tracing import lifecycle, runtime

if TYPE_CHECKING:
    from pixie_otel.tracing.hub import SpanHub

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="signals and forks are POSIX's")


class _Hub:
    """A hub that keeps what it is asked, and may fail."""

    def __init__(self, error: Exception | None = None) -> None:
        self.asked: list[str] = []
        self._error = error

    def flush(self, timeout: float) -> bool:
        """Flush."""
        return self._did(f"flush {timeout:g}")

    def close(self, timeout: float) -> bool:
        """Close."""
        return self._did(f"close {timeout:g}")

    def _did(self, what: str) -> bool:
        self.asked.append(what)
        if self._error is not None:
            raise self._error
        return True


@contextmanager
def _in_force(hub: _Hub | None) -> Iterator[None]:
    before, handler = runtime.current(), signal.getsignal(signal.SIGTERM)
    runtime.install(None if hub is None else runtime.Runtime(trace.get_tracer("t"), cast("SpanHub", hub)))
    try:
        yield
    finally:
        runtime.install(before)
        signal.signal(signal.SIGTERM, handler)


@pytest.mark.parametrize("error", [None, RuntimeError("broken")])
def test_the_handler_flushes_and_hands_the_signal_on(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> None:
    """Whatever fails in a flush, the signal then goes to the system, and a second one does not come between."""
    hub, sent = _Hub(error), list[tuple[int, int]]()

    def kill(process: int, number: int) -> None:
        sent.append((process, number))

    monkeypatch.setattr(diagnostics, "_errors", {})
    monkeypatch.setattr(lifecycle.os, "kill", kill)
    with _in_force(hub):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        lifecycle.arm()
        signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        lifecycle.arm()
        monkeypatch.setattr(lifecycle, "_ending", _held())
        signal.raise_signal(signal.SIGTERM)
        lifecycle.disarm()
    assert hub.asked == ["flush 1.5"]
    assert sent == [(os.getpid(), signal.SIGTERM)]
    assert diagnostics.internal_errors() == ({} if error is None else {"flushing on SIGTERM": 1})


def _held() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


@pytest.mark.parametrize("error", [None, RuntimeError("broken")])
def test_the_exit_closes_what_is_in_force(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> None:
    """At the end everything is closed within seconds, and a fault goes no further; without tracing nothing happens."""
    hub = _Hub(error)
    monkeypatch.setattr(diagnostics, "_errors", {})
    with _in_force(hub):
        lifecycle._at_exit()
    with _in_force(None):
        lifecycle._at_exit()
    assert hub.asked == ["flush 1.5", "close 0.5"]
    faults = {"flushing at exit": 1, "shutting down at exit": 1}
    assert diagnostics.internal_errors() == ({} if error is None else faults)


@pytest.mark.parametrize("error", [None, RuntimeError("broken")])
def test_the_end_of_a_process_of_celery_flushes(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> None:
    """What Celery announces is a flush, of which no fault goes further; without tracing nothing happens."""
    hub = _Hub(error)
    monkeypatch.setattr(diagnostics, "_errors", {})
    with _in_force(hub):
        lifecycle._on_celery_end(sender=None, pid=1, exitcode=0)
    with _in_force(None):
        lifecycle._on_celery_end(sender=None, pid=1, exitcode=0)
    assert hub.asked == ["flush 1.5"]
    assert diagnostics.internal_errors() == ({} if error is None else {"flushing for Celery": 1})


def test_a_flush_goes_on_for_as_long_as_spans_get_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue that empties slowly is waited for; one in which nothing moves any more is given up."""
    counts = [(10, 6), (10, 3), (10, 3), (10, 0)]

    class Slow:
        flushes = 0

        def flush(self, timeout: float) -> bool:
            self.flushes += 1
            return not counts[0][1]

        def stats(self) -> SimpleNamespace:
            ended, queued = counts.pop(0)
            return SimpleNamespace(destinations=[SimpleNamespace(ended=ended, queued=queued)])

    dead = Slow()
    lifecycle._flush(cast("SpanHub", dead), 60)
    assert (dead.flushes, counts) == (3, [(10, 0)])
    counts[:] = [(10, 6), (10, 3), (10, 0)]
    slow = Slow()
    lifecycle._flush(cast("SpanHub", slow), 60)
    assert (slow.flushes, counts) == (3, [(10, 0)])


def test_an_interpreter_that_may_not_set_handlers_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Python refuses to set handlers, as in interpreters beside the main one, `init` and `shutdown` go on."""

    def refuse(*_: object) -> None:
        raise ValueError("signal only works in main thread of the main interpreter")

    with _in_force(None):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with monkeypatch.context() as patch:
            patch.setattr(lifecycle.signal, "signal", refuse)
            lifecycle.arm()
            lifecycle.disarm()
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        lifecycle.arm()
        with monkeypatch.context() as patch:
            patch.setattr(lifecycle.signal, "signal", refuse)
            lifecycle.disarm()
        lifecycle.disarm()
