"""Ids and times that are the same in every run, for tests that compare whole traces."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator
from typing import Final
from unittest.mock import patch

from opentelemetry.sdk import trace as sdk_trace
from opentelemetry.sdk.trace.id_generator import IdGenerator

__all__ = ["FixedIds", "fixed_clock"]

_START: Final = 1_764_500_000_000_000_000
_STEP: Final = 1_000_000
_MAX_TRACE_ID: Final = 2**128 - 1
_MAX_SPAN_ID: Final = 2**64 - 1


class FixedIds(IdGenerator):
    """Counts up: trace ids ``1``, ``2``, ``3`` …, and span ids likewise.

    provider = TracerProvider(id_generator=FixedIds())

    For tests only: two processes would use the same ids.

    Args:
        seed: What it begins after, so that two of them can go side by side; 0 or more.

    Raises:
        ValueError: The seed is out of range.
    """

    def __init__(self, seed: int = 0) -> None:
        if not 0 <= seed < _MAX_SPAN_ID:
            raise ValueError(f"seed is {seed}: give 0 or more, and less than {_MAX_SPAN_ID}")
        self._lock = threading.Lock()
        self._seed = seed
        self._traces = seed
        self._spans = seed

    def reset(self) -> None:
        """Begin again."""
        with self._lock:
            self._traces = self._spans = self._seed

    def generate_trace_id(self) -> int:
        """Give the next trace id, which is never the invalid 0."""
        with self._lock:
            self._traces = self._traces % _MAX_TRACE_ID + 1
            return self._traces

    def generate_span_id(self) -> int:
        """Give the next span id."""
        with self._lock:
            self._spans = self._spans % _MAX_SPAN_ID + 1
            return self._spans


@contextlib.contextmanager
def fixed_clock(start: int = _START, step: int = _STEP) -> Generator[None]:
    """Make the times of spans and their events deterministic: each look at the clock is a step later.

    with fixed_clock():
        with tracer.start_as_current_span("answer"): ...      # starts at `start`, ends a millisecond later

    For tests only: it replaces the clock of OpenTelemetry's SDK in the whole process, also for spans of other threads.

    Args:
        start: The first time, in nanoseconds since 1970; a moment in November 2025 if not given.
        step: Nanoseconds between two looks; a millisecond if not given.

    Raises:
        RuntimeError: This version of the SDK reads its clock in a way that is not known here.
    """
    if not hasattr(sdk_trace, "time_ns"):
        raise RuntimeError(
            "this version of opentelemetry-sdk has no opentelemetry.sdk.trace.time_ns to replace; give start_time and "
            "end_time to the spans instead"
        )
    lock = threading.Lock()
    now = start - step

    def tick() -> int:
        nonlocal now
        with lock:
            now += step
            return now

    with patch.object(sdk_trace, "time_ns", tick):
        yield
