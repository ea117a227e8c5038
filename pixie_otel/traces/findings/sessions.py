"""Whether traces name their session, which shows only over all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pixie_otel.traces.report import Problem
from pixie_otel.traces.trace import Trace

__all__ = ["Sessions"]

_SEVERAL: Final = 2


class Sessions:
    """Counts the traces with model calls that name a session."""

    def __init__(self) -> None:
        self._named = 0
        self._nameless = 0
        self._first: tuple[int, str, str] | None = None

    def add(self, trace: Trace) -> None:
        """Count a trace.

        Args:
            trace: The trace.
        """
        if not trace.llm_calls:
            return
        if trace.session_id:
            self._named += 1
            return
        self._nameless += 1
        place = trace.start_time_unix_nano, trace.trace_id, trace.source
        self._first = place if self._first is None else min(self._first, place)

    def problems(self) -> Iterator[Problem]:
        """Say what is wrong with all of them together."""
        total = self._named + self._nameless
        if self._first is None or total < _SEVERAL:
            return
        _, trace_id, source = self._first
        kind, said = "no-session", f"none of {total} traces with model calls names a session"
        if self._named:
            kind, said = "lost-session", f"{self._nameless} of {total} traces with model calls name no session"
        yield Problem(kind, f"{said} (first: {trace_id})", source, trace_id=trace_id)
