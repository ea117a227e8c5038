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
_KEPT_BYTES: Final = 8 * 1024 * 1024
_RESPONSE_ID: Final = f'"{keys.GENAI_RESPONSE_ID}"'.encode()
_CONTENT: Final = (f'"{keys.GENAI_INPUT_MESSAGES}"'.encode(), f'"{keys.GENAI_OUTPUT_MESSAGES}"'.encode())


class RecentTraces:
    """The few traces that started last; tells when the next one only repeats a call of theirs.

    Args:
        most_bytes: How much of the input the traces held may stand for together; they take several times as much.
    """

    def __init__(self, most_bytes: int = _KEPT_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: deque[tuple[Trace, int]] = deque()
        self._bytes = 0

    def add(self, trace: Trace, size: int) -> None:
        """Look at the next trace, in order of start; where it repeats a call, say so on it.

        Args:
            trace: The trace.
            size: How many bytes of the input it stands for.
        """
        if _may_repeat(trace):
            self._compare(trace)
        self._kept.append((trace, size))
        self._bytes += size
        while len(self._kept) > _KEPT or self._bytes > self._most_bytes:
            self._bytes -= self._kept.popleft()[1]

    def _compare(self, trace: Trace) -> None:
        calls = trace.llm_calls
        if len(calls) != 1 or calls[0].input_messages or calls[0].output_messages or calls[0].response_id is None:
            return
        repeated = calls[0]
        for earlier, _ in self._kept:
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
    """Say, without decoding, whether a trace is a single span that names an answer and does not hold it.

    Within JSON's strings every quote has a backslash before it, so what is found is a key. One spelled with escapes is
    not found, and then the call counts like any other.
    """
    if len(trace.roots) != 1 or trace.roots[0].children:
        return False
    span, *_ = trace.roots[0].wire_bytes() or [b""]
    return _RESPONSE_ID in span and not any(key in span for key in _CONTENT)
