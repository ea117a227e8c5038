"""Streamed calls whose answer is a span of its own.

Logfire ends a streamed call's span when the stream begins, and when it has ended writes a second span that takes no
time, with the question, the answer and the usage. It stands beside the first where both have the same parent, and
elsewhere, in a trace of its own even, where the stream was used up outside.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

from pixie_otel.attributes import logfire as logfire_keys
from pixie_otel.traces.dialects.values import number
from pixie_otel.traces.sameness import models_agree, same_question
from pixie_otel.traces.spans import LLMSpan
from pixie_otel.traces.tree import order

__all__ = ["call_of_answer", "can_be_answered", "is_stream_answer", "stream_pairs"]

_LONGEST_SECONDS: Final = 1_000_000
_MOST_WAITING: Final = 256
"""How many calls may wait for their answers at a time; more than that, and the oldest is given up."""
_LOG: Final = "log"
"""The span type of what takes no time."""


def is_stream_answer(span: LLMSpan) -> bool:
    """Say whether a span is what was written when a stream had ended."""
    return (
        span.attributes.get(logfire_keys.SPAN_TYPE) == _LOG
        and 0 < span.start_time_unix_nano == span.end_time_unix_nano
        and not _is_unanswered(span)
    )


def can_be_answered(span: LLMSpan) -> bool:
    """Say whether a call's answer may be a span of its own."""
    return logfire_keys.SPAN_TYPE in span.attributes and span.start_time_unix_nano > 0 and _is_unanswered(span)


def call_of_answer(answer: LLMSpan, calls: Iterable[LLMSpan]) -> LLMSpan | None:
    """Find the call that a stream's answer belongs to: one with the same question, before it.

    Args:
        answer: The answer.
        calls: Calls whose answer was not recorded with them.

    Returns:
        Of several the one whose stream took as long as the answer says, else the one that came last, those with the
        answer's parent first; ``None`` where none fits.
    """
    fitting = [call for call in calls if _fits(call, answer)]
    took = number(answer.attributes.get(logfire_keys.DURATION)) or 0
    began = answer.start_time_unix_nano - (round(took * 1e9) if 0 <= took < _LONGEST_SECONDS else 0)

    def distance(call: LLMSpan) -> tuple[bool, int, int, str]:
        elsewhere = (call.trace_id, call.parent_span_id) != (answer.trace_id, answer.parent_span_id)
        return elsewhere, abs(began - call.end_time_unix_nano), call.start_time_unix_nano, call.span_id

    return min(fitting, key=distance, default=None)


def stream_pairs(spans: Sequence[LLMSpan]) -> list[tuple[LLMSpan, LLMSpan]]:
    """Find the streamed calls of a trace whose answer is a span of its own.

    Args:
        spans: The model spans of a trace.

    Returns:
        Those calls, each with its answer.
    """
    answers = sorted((span for span in spans if is_stream_answer(span)), key=order)
    calls = deque(sorted((span for span in spans if can_be_answered(span)), key=order) if answers else ())
    waiting: deque[LLMSpan] = deque(maxlen=_MOST_WAITING)
    found: list[tuple[LLMSpan, LLMSpan]] = []
    for answer in answers:
        while calls and calls[0].start_time_unix_nano <= answer.start_time_unix_nano:
            waiting.append(calls.popleft())
        call = call_of_answer(answer, waiting)
        if call is not None:
            waiting = deque((other for other in waiting if other is not call), _MOST_WAITING)
            found.append((call, answer))
    return found


def _fits(call: LLMSpan, answer: LLMSpan) -> bool:
    return (
        call.scope.name == answer.scope.name
        and call.end_time_unix_nano <= answer.start_time_unix_nano
        and models_agree(call.model, answer.model)
        and same_question(call, answer)
    )


def _is_unanswered(span: LLMSpan) -> bool:
    """Say whether nothing of an answer was recorded, and no error either."""
    return (
        not span.output_messages
        and span.output is None
        and span.output_tokens is None
        and not span.finish_reasons
        and span.error is None
    )
