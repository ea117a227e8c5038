"""The same model call in two traces: two instrumentations at work, neither of which knows of the other.

An instrumentation of a framework and one of the provider's SDK, or an SDK that makes spans itself (Anthropic's, from
version 2.14), may share no context; the second one's span is a trace of its own then. So is the answer of a stream that
is used up where no span is open. What such a trace describes is a call of the other trace, and counts there.

The reading goes trace by trace in order of start. What records a call again starts within the call, so traces are held
back until the next one starts after them, in bounds, and are given away complete.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Final

from pixie_otel import attributes as keys
from pixie_otel.traces.beside import Beside
from pixie_otel.traces.calls import Call
from pixie_otel.traces.repeats import REASONS, Repeat, Rule
from pixie_otel.traces.report import Problem
from pixie_otel.traces.spans import LLMSpan, ObservationKind
from pixie_otel.traces.stream_pairs import call_of_answer, can_be_answered, is_stream_answer
from pixie_otel.traces.trace import Trace

__all__ = ["RecentTraces"]

_KEPT: Final = 256
_KEPT_BYTES: Final = 8 * 1024 * 1024
_LARGE: Final = 4
"""A trace of so many times the bytes kept is too large to be held at all; a smaller one counts half of them at most."""
_PLAIN_KINDS: Final = frozenset({ObservationKind.LLM, ObservationKind.OTHER})
_MOMENT_NANO: Final = 1 << 15
"""Traces that start no further apart come in any order."""
_LONGEST_STREAM_NANO: Final = 600 * 1_000_000_000
_STREAMING_SCOPE: Final = "logfire"
_CALL_KEYS: Final = (b".model", b".response.id", b'"llm.', b'"mlflow.')
"""What is in the keys of model calls, in every dialect."""
_MODEL: Final = f'"{keys.GENAI_REQUEST_MODEL}"'.encode()
_USAGE: Final = f'"{keys.GENAI_OUTPUT_TOKENS}"'.encode()
_RESPONSE_ID: Final = f'"{keys.GENAI_RESPONSE_ID}"'.encode()
_CONTENT: Final = (f'"{keys.GENAI_INPUT_MESSAGES}"'.encode(), f'"{keys.GENAI_OUTPUT_MESSAGES}"'.encode())


@dataclass(slots=True)
class _Held:
    """A trace that is held back: its size, and until when something may be added to it.

    Attributes:
        waiting: Streamed calls whose answer has not come yet.
        is_small: Whether it may itself repeat a call, of a trace that starts at the same moment and comes after it.
        is_compared: Whether its calls are among those that are compared with.
    """

    trace: Trace
    size: int
    until: int
    waiting: list[LLMSpan]
    is_small: bool
    is_compared: bool = False

    def is_over(self, next_start: int | None, next_small_start: int | None) -> bool:
        """Say whether nothing that comes can have to do with it."""
        if not _is_before(self.until, next_small_start):
            return False
        return not self.is_small or _is_before(self.trace.start_time_unix_nano, next_start)


class RecentTraces:
    """The few traces that started last; tells when the next one only repeats a call of theirs.

    Args:
        most_bytes: How much of the input the traces held may stand for together; they take several times as much.
    """

    def __init__(self, most_bytes: int = _KEPT_BYTES) -> None:
        self._most_bytes = most_bytes
        self._held: deque[_Held] = deque()
        self._bytes = 0
        self._beside: Beside[tuple[str, str]] = Beside()
        self._scopes: set[str] = set()
        self._small_scopes: set[str] = set()

    def passes(self, trace: Trace, next_small_start: int | None) -> bool:
        """Say whether a trace can be given at once: nothing is held, and no other trace has to do with it.

        Args:
            trace: The next trace, in order of start; where it passes, it must not be added.
            next_small_start: No later than when the next trace starts that is small enough to repeat a call, in
                nanoseconds since 1970; ``None`` where none comes.
        """
        scopes = trace.scopes
        if self._held or _is_small(trace) or _may_stream(scopes):
            return False
        if next_small_start is not None and trace.end_time_unix_nano >= next_small_start:
            return False
        self._scopes |= scopes
        return True

    def add(self, trace: Trace, size: int, next_start: int | None = 0, next_small_start: int | None = 0) -> list[Trace]:
        """Look at the next trace, in order of start; where it repeats a call, the call is completed from it.

        Args:
            trace: The trace.
            size: How many bytes of the input it stands for.
            next_start: No later than when the next trace starts, in nanoseconds since 1970; ``None`` where none comes.
            next_small_start: The same of the next one that is small enough to repeat a call.

        Returns:
            The traces to which nothing will be added any more, in order.
        """
        held, is_small = self._held, _is_small(trace)
        self._scopes |= trace.scopes
        if is_small and self._may_repeat(trace):
            self._compare(trace)
        half = self._most_bytes // 2
        if half < size <= self._most_bytes * _LARGE:
            size = half
        waiting = _waiting(trace) if _may_stream(trace.scopes) else []
        until = trace.end_time_unix_nano + (_LONGEST_STREAM_NANO if waiting else 0)
        held.append(_Held(trace, size, until, waiting, is_small))
        self._compare_earlier(held[-1])
        self._bytes += size
        given: list[Trace] = []
        while self._bytes > self._most_bytes or len(held) > _KEPT:
            given.append(self._forced().trace)
        return given + self.before(next_start, next_small_start)

    def before(self, start: int | None, small_start: int | None) -> list[Trace]:
        """Give the traces that are still held and to which nothing will be added.

        Args:
            start: When the next trace starts, in nanoseconds since 1970; ``None`` where no more come.
            small_start: When the next small one does.
        """
        given: list[Trace] = []
        while self._held and self._held[0].is_over(start, small_start):
            given.append(self._next().trace)
        return given

    def _next(self) -> _Held:
        held = self._held.popleft()
        self._bytes -= held.size
        return held

    def _forced(self) -> _Held:
        """Give the first trace away for want of room; what its calls are is kept where others may repeat them."""
        held = self._next()
        if self._held and not self._small_scopes <= held.trace.scopes:
            self._compare_with(held)
        return held

    def _may_repeat(self, trace: Trace) -> bool:
        """Say, without decoding, whether the trace may be a call, and there is anything that it may repeat."""
        start, scopes = trace.start_time_unix_nano, trace.scopes
        self._small_scopes |= scopes
        if start == trace.end_time_unix_nano and any(held.waiting for held in self._held):
            return True
        if len(self._scopes) < 2 and "" not in scopes:
            return _is_bare(trace) and any(held.trace.end_time_unix_nano >= start for held in self._held)
        if not _has_call_keys(trace):
            return False
        if self._beside.is_open(start):
            return True
        others = [held.trace for held in self._held if held.trace.end_time_unix_nano >= start]
        return bool(others) and ("" in scopes or any(not other.scopes <= scopes for other in others) or _is_bare(trace))

    def _compare(self, trace: Trace) -> None:
        call = _only_call(trace)
        if call is None:
            return
        if is_stream_answer(call.span):
            self._find_stream(trace, call.span)
            return
        for held in self._held:
            self._compare_with(held)
        # What is shorter, and started no earlier, is rather within this one.
        barred = [_key(call) for other in self._out_of_order(trace) for call in other.call_count.calls]
        found = self._beside.around(call.facts(), barred)
        if found is not None:
            self._join(trace, call.span, *found, Rule.TWO_INSTRUMENTATIONS)

    def _out_of_order(self, late: Trace) -> list[Trace]:
        """Give what came before a trace and may lie within it: traces of one moment come in any order.

        Args:
            late: The trace, which came last.
        """
        start, end = late.start_time_unix_nano, late.end_time_unix_nano
        traces = (held.trace for held in reversed(self._held))
        near = takewhile(lambda trace: trace.start_time_unix_nano > start - _MOMENT_NANO, traces)
        return sorted(
            (
                trace
                for trace in near
                if trace is not late
                and trace.start_time_unix_nano >= start > 0
                and trace.end_time_unix_nano < end
                and _is_small(trace)
                and not trace.counts_elsewhere
            ),
            key=lambda trace: (trace.start_time_unix_nano, trace.trace_id),
        )

    def _compare_earlier(self, late: _Held) -> None:
        """Compare a trace with what came before it and may lie within it."""
        if late.trace.counts_elsewhere:
            return
        scopes = late.trace.scopes
        for trace in self._out_of_order(late.trace):
            is_other = "" in scopes or not trace.scopes <= scopes or _is_bare(trace)
            call = _only_call(trace) if is_other and _has_call_keys(trace) else None
            if call is not None and not is_stream_answer(call.span):
                self._compare_with(late)
                own = _key(call)
                found = self._beside.around(call.facts(), {own})
                if found is not None:
                    self._beside.take_out(own)
                    self._join(trace, call.span, *found, Rule.TWO_INSTRUMENTATIONS)

    def _compare_with(self, held: _Held) -> None:
        if held.is_compared or held.trace.counts_elsewhere:
            return
        held.is_compared = True
        for call in held.trace.call_count.calls:
            self._beside.add(call.facts(), _key(call))

    def _find_stream(self, trace: Trace, answer: LLMSpan) -> None:
        call = call_of_answer(answer, (call for held in self._held for call in held.waiting))
        if call is None:
            return
        self._join(trace, answer, call.trace_id, call.span_id, Rule.STREAM_ANSWER)
        for held in self._held:
            if held.trace.trace_id == call.trace_id:
                held.waiting = [other for other in held.waiting if other is not call]
                held.until = held.until if held.waiting else held.trace.end_time_unix_nano

    def _join(self, trace: Trace, recorded: LLMSpan, trace_id: str, call_id: str, rule: Rule) -> None:
        holders = [held.trace for held in self._held if held.trace.trace_id == trace_id]
        for repeat in [repeat for holder in holders for repeat in holder.foreign_repeats]:
            if repeat.trace_id == trace_id and repeat.counted and repeat.counted_trace_id:
                # It belongs to what is itself only a recording of another trace's call.
                trace_id, call_id = repeat.counted_trace_id, repeat.counted
                holders = [held.trace for held in self._held if held.trace.trace_id == trace_id]
        repeat = Repeat(rule, recorded.trace_id, recorded.span_id, recorded.name, call_id, trace_id)
        trace.count_elsewhere(repeat)
        message = f"its one model call is a call of trace {trace_id}, and counts there: {REASONS[rule]}"
        trace.add_problem(Problem("doubled-call", message, trace.source, trace_id=trace.trace_id))
        for holder in holders:
            holder.join(call_id, recorded, repeat)


def _key(call: Call) -> tuple[str, str]:
    return call.span.trace_id, call.span.span_id


def _is_before(time: int, start: int | None) -> bool:
    return start is None or time < start


def _is_small(trace: Trace) -> bool:
    """Say, without decoding, whether a trace may be one call: a single span, with at most what was sent below it."""
    if len(trace.roots) != 1:
        return False
    children = trace.roots[0].children
    return not children or (len(children) == 1 and not children[0].children)


def _has_call_keys(trace: Trace) -> bool:
    """Say, without decoding, whether a trace's root may be a model call."""
    data, *_ = trace.roots[0].wire_bytes() or [b""]
    return any(map(data.__contains__, _CALL_KEYS))


def _is_bare(trace: Trace) -> bool:
    """Say, without decoding, whether a trace is a single span that names an answer and does not hold it.

    Within JSON's strings every quote has a backslash before it, so what is found is a key. One spelled with escapes is
    not found, and then the call counts like any other.
    """
    if trace.roots[0].children:
        return False
    span, *_ = trace.roots[0].wire_bytes() or [b""]
    return _RESPONSE_ID in span and not any(key in span for key in _CONTENT)


def _only_call(trace: Trace) -> Call | None:
    """Give the model call that a trace is made of, and nothing else; ``None`` where there is more in it, or less."""
    if not all(node.span.kind in _PLAIN_KINDS for node in trace.walk()):
        return None
    calls = trace.call_count.calls
    return calls[0] if len(calls) == 1 else None


def _waiting(trace: Trace) -> list[LLMSpan]:
    """Give the streamed calls of a trace whose answer is a span of its own and not in it."""
    if not any(_MODEL in part and _USAGE not in part for _, part in trace.wire_bytes()):
        return []
    return [call.span for call in trace.call_count.calls if can_be_answered(call.span)]


@lru_cache(maxsize=256)
def _may_stream(scopes: frozenset[str]) -> bool:
    """Say whether a name lets it be; it is only asked to save the search in what cannot be."""
    return any(scope.startswith(_STREAMING_SCOPE) or not scope for scope in scopes)
