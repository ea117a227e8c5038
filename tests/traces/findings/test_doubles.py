"""Whether calls are recorded more than once."""

from __future__ import annotations

from typing import Any

from checked_traces import llm, says, user

from pixie_otel.traces.findings import find_problems
from pixie_otel.traces.report import Problem
from pixie_otel.traces.spans import LLMSpan, Scope
from pixie_otel.traces.trace import Trace


def call(span_id: str, scope: str, parent: str | None = None) -> LLMSpan:
    """Make a recording of one call; what is in the other lies within its time."""
    start = 1_700_000_000_000_000_000 + int(span_id, 16) * 1_000
    fields: dict[str, Any] = {
        "scope": Scope(scope),
        "request_model": "gpt-4o-mini",
        "input_messages": (user("The capital of France?"),),
        "input_tokens": 14,
        "output_tokens": 8,
        "start_time_unix_nano": start,
        "end_time_unix_nano": 1_700_000_000_900_000_000 - int(span_id, 16) * 1_000,
    }
    return llm(span_id, says("Paris."), parent=parent, **fields)


def problems(*spans: LLMSpan) -> dict[str, Problem]:
    """Find what is wrong with a trace, by kind."""
    return {problem.kind: problem for problem in find_problems(Trace.from_spans(spans))}


def test_two_instrumentations_are_named() -> None:
    """Those that recorded one call, one around the other or beside it."""
    outer = call("00000000000000b0", "openinference.instrumentation.langchain")
    inner = call("00000000000000b1", "openinference.instrumentation.openai", "00000000000000b0")

    found = problems(outer, inner)["two-instrumentations"]
    assert found.message.endswith(
        "recorded twice, by openinference.instrumentation.langchain and openinference.instrumentation.openai"
    )
    assert found.fix is None


def test_an_sdk_that_makes_spans_of_its_own_can_be_told_not_to() -> None:
    """Anthropic's does, whichever instrumentation is at work."""
    outer = call("00000000000000b0", "openinference.instrumentation.anthropic")
    inner = call("00000000000000b1", "com.anthropic.sdk.python", "00000000000000b0")

    assert (problems(outer, inner)["two-instrumentations"].fix or "").endswith("ANTHROPIC_OPEN_TELEMETRY=false")


def test_one_instrumentation_may_record_a_call_twice() -> None:
    """That is only good to know."""
    outer = call("00000000000000b0", "litellm")

    assert set(problems(outer, call("00000000000000b1", "litellm", "00000000000000b0"))) == {"repeated-call"}
    assert problems(outer) == {}
