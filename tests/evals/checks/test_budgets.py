"""Budgets for a run."""

from __future__ import annotations

import pytest
from checked_traces import agent, judge, llm, says, tool

from pixie_otel.errors import ObservationError
from pixie_otel.evals.evaluation import Severity
from pixie_otel.evals.evaluators.checks import MaxLatency, MaxLLMCalls, MaxTokens, MaxToolCalls
from pixie_otel.evaluable import ToolCall


def test_latency_is_held_against_its_budget() -> None:
    """The run counts from the earliest start to the latest end."""
    spans = [llm("01"), llm("02")]
    assert judge(MaxLatency(seconds=0.0015), *spans).score == 1.0
    evaluation = judge(MaxLatency(seconds=0.001), *spans)
    assert evaluation.score == 0.0
    assert evaluation.reasoning == "0.0015 s, over the budget of 0.001 s"
    assert MaxLatency(seconds=1).severity is Severity.FAIL


def test_a_latency_that_is_not_known_is_no_pass() -> None:
    """Without times there is an error, not a verdict."""
    with pytest.raises(ObservationError, match="its latency is not known"):
        judge(MaxLatency(seconds=1), llm("01", start_time_unix_nano=0))


def test_tokens_are_held_against_their_budget() -> None:
    """Tokens of all calls count, in and out."""
    spans = [agent(), llm("01", input_tokens=10, output_tokens=5), llm("02", input_tokens=20)]
    assert judge(MaxTokens(tokens=35), *spans).reasoning == "35 tokens, within the budget of 35"
    assert judge(MaxTokens(tokens=34), *spans).score == 0.0
    assert judge(MaxTokens(tokens=0), agent()).score == 1.0


def test_tokens_that_are_not_known_are_no_pass() -> None:
    """A call that recorded none may have used any number; too many without it are too many all the same."""
    spans = [agent(), llm("01", input_tokens=10), llm("02")]
    with pytest.raises(ObservationError, match=r"1 of 2 LLM calls recorded no token counts \(span 02\)"):
        judge(MaxTokens(tokens=10), *spans)
    assert judge(MaxTokens(tokens=9), *spans).score == 0.0


def test_llm_calls_are_held_against_their_budget() -> None:
    """Every real call counts once."""
    spans = [agent(), llm("01"), llm("02")]
    assert judge(MaxLLMCalls(calls=2), *spans).reasoning == "2 LLM calls, within the budget of 2"
    evaluation = judge(MaxLLMCalls(calls=1), *spans)
    assert evaluation.score == 0.0
    assert evaluation.details["findings"] == [{"measured": 2, "most": 1}]


def test_tool_calls_are_held_against_their_budget() -> None:
    """A call counts once, whether it was asked for, seen to run, or both."""
    asked = llm("01", says("", ToolCall("search", {}, "1"), ToolCall("search", {}, "2")))
    assert judge(MaxToolCalls(calls=2), agent(), asked, tool("02", "search")).score == 1.0
    assert judge(MaxToolCalls(calls=1), agent(), asked, tool("02", "search")).score == 0.0
    assert judge(MaxToolCalls(calls=1), agent(), tool("02", "a"), tool("03", "b")).score == 0.0


def test_tokens_of_calls_that_only_a_span_around_them_counted() -> None:
    """They are known together, which is enough for a budget."""
    around = llm("0a", input_tokens=20, output_tokens=10)
    steps = [llm(number, parent="0a") for number in ("0b", "0c")]
    assert judge(MaxTokens(tokens=30), agent(), around, *steps).score == 1.0
    assert judge(MaxTokens(tokens=29), agent(), around, *steps).score == 0.0
    with pytest.raises(ObservationError, match=r"1 of 3 LLM calls recorded no token counts \(span 0d\)"):
        judge(MaxTokens(tokens=30), agent(), around, *steps, llm("0d"))
