"""Taking OpenTelemetry's context into the threads and pools that a block uses, as long as some block asks for it."""

from __future__ import annotations

import threading
from typing import Final

from opentelemetry.instrumentation.threading import ThreadingInstrumentor

from pixie_otel.exporters.forks import in_child

__all__ = ["carry", "carry_no_more"]


class _Carrier:
    """Counts who asks, and instruments threads for the first of them, unless the application does so itself."""

    def __init__(self) -> None:
        self._renew()
        self._asked = 0
        self._carries = False
        self._timer_start: object = None
        in_child(self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def carry(self) -> None:
        """Count one that asks."""
        with self._lock:
            instrumentor = ThreadingInstrumentor()
            if not self._asked and not instrumentor.is_instrumented_by_opentelemetry:
                self._timer_start = threading.Timer.__dict__.get("start")
                instrumentor.instrument(skip_dep_check=True)
                self._carries = True
            self._asked += 1

    def carry_no_more(self) -> None:
        """Count one that asked and does so no more."""
        with self._lock:
            self._asked -= 1
            if self._asked or not self._carries:
                return
            self._carries = False
            ThreadingInstrumentor().uninstrument()
            # It leaves behind what it had wrapped twice: the method that a timer has from `Thread`.
            if self._timer_start is None and "start" in threading.Timer.__dict__:
                del threading.Timer.start


_carrier: Final = _Carrier()


def carry() -> None:
    """Let threads and pools take over the context of whoever uses them, until `carry_no_more` is called as often."""
    _carrier.carry()


def carry_no_more() -> None:
    """Take one call of `carry` back."""
    _carrier.carry_no_more()
