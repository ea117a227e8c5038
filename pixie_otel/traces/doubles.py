"""The same model call in two traces: two instrumentations at work, neither of which knows of the other.

Providers' SDKs that make spans themselves (Anthropic's, from version 2.14) do so beside an instrumentation, and where
the two share no context, the SDK's span is a trace of its own, without content. It describes a call that the other
trace holds in full, so it is no second call.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.traces.report import Problem
from pixie_otel.traces.trace import Trace

__all__ = ["RecentTraces"]

_KEPT: Final = 16
_RESPONSE_ID: Final = f'"{keys.GENAI_RESPONSE_ID}"'.encode()
_CONTENT: Final = (f'"{keys.GENAI_INPUT_MESSAGES}"'.encode(), f'"{keys.GENAI_OUTPUT_MESSAGES}"'.encode())


class RecentTraces:
    """The traces that started last; tells when the next one only repeats a call of theirs."""

    def __init__(self) -> None:
        self._kept: deque[Trace] = deque(maxlen=_KEPT)

    def add(self, trace: Trace) -> None:
        """Look at the next trace, in order of start; where it repeats a call, say so on it.

        Args:
            trace: The trace.
        """
        if _may_repeat(trace):
            self._compare(trace)
        self._kept.append(trace)

    def _compare(self, trace: Trace) -> None:
        calls = trace.llm_calls
        if len(calls) != 1 or calls[0].input_messages or calls[0].output_messages or calls[0].response_id is None:
            return
        repeated = calls[0]
        for earlier in self._kept:
            for call in earlier.llm_calls:
                same = (
                    call.response_id == repeated.response_id
                    and call.start_time_unix_nano <= repeated.start_time_unix_nano
                )
                if same and call.output_messages:
                    message = (
                        f"its one model call, {repeated.response_id}, is recorded with its content in trace "
                        f"{earlier.trace_id}, and counts there"
                    )
                    trace.count_no_calls()
                    trace.add_problem(Problem("doubled-call", message, trace.source, trace_id=trace.trace_id))
                    return


def _may_repeat(trace: Trace) -> bool:
    """Say, without decoding, whether a trace is a single span that names an answer and does not hold it."""
    if len(trace.roots) != 1 or trace.roots[0].children:
        return False
    attributes, *_ = trace.roots[0].wire_bytes() or [b""]
    return _RESPONSE_ID in attributes and not any(key in attributes for key in _CONTENT)
