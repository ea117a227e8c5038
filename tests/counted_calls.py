"""Model spans that record the same call, or not, and how they count, for tests."""

from __future__ import annotations

from checked_traces import agent, llm, says, user

from pixie_otel.traces.repeats import Rule
from pixie_otel.traces.spans import LLMSpan, ObserveSpan, Scope, SpanError
from pixie_otel.traces.trace import Trace

__all__ = ["BROKE", "beside", "calls", "ids", "rules", "within", "wrapper"]

START = 1_700_000_000_000_000_000
BROKE = SpanError("broke", "Timeout")


def calls(*spans: ObserveSpan) -> list[LLMSpan]:
    """Give the real calls of a trace with an agent on top."""
    return Trace.from_spans([agent(), *spans]).llm_calls


def ids(*spans: ObserveSpan) -> list[str]:
    """Give the last two digits of the calls' ids."""
    return [call.span_id[-2:] for call in calls(*spans)]


def rules(*spans: ObserveSpan) -> list[tuple[str, Rule, str | None]]:
    """Say which spans do not count by themselves, by which rule, and what counts in their place."""
    repeats = Trace.from_spans([agent(), *spans]).repeats
    return [(repeat.span_id[-2:], repeat.rule, repeat.counted and repeat.counted[-2:]) for repeat in repeats]


def beside(span_id: str, scope: str, start: int, end: int, **fields: object) -> LLMSpan:
    """Make a model span of an instrumentation, below the agent, from one millisecond of the trace to another."""
    known = {"input_messages": (user("?"),), "request_model": "gpt-4o", "input_tokens": 5, "output_tokens": 2}
    times = {"start_time_unix_nano": START + start * 1_000_000, "end_time_unix_nano": START + end * 1_000_000}
    answers = fields.pop("answers", (says("hi"),))
    return llm(span_id, *answers, scope=Scope(scope), **{**known, **times, **fields})


def wrapper(span_id: str = "00000000000000b0", **fields: object) -> LLMSpan:
    """Make a framework's span around a call, which knows the messages only."""
    return llm(span_id, says("hi"), input_messages=(user("?"),), **{"operation": None, **fields})


def within(span_id: str, **fields: object) -> LLMSpan:
    """Make a provider's own span within the wrapper, which knows the tokens only."""
    return llm(span_id, parent="00000000000000b0", **{"input_tokens": 5, "output_tokens": 2, **fields})
