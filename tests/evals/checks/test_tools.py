"""The checks of what became of tool calls."""

from __future__ import annotations

import pytest
from checked_traces import agent, judge, llm, result, says, tool, user
from hypothesis import given
from hypothesis import strategies as st

from pixie_otel.errors import SkipEvaluation
from pixie_otel.evals.evaluators.checks import NoRepeatedToolCalls, ToolCallsAnswered, ToolsSucceeded
from pixie_otel.evaluable import JsonValue, ToolCall
from pixie_otel.traces.spans import ObserveSpan, SpanError, ToolSpan

FIRST = ToolCall("search", {"q": "a"}, "1")
SECOND = ToolCall("search", {"q": "b"}, "2")
NAMELESS = ToolCall("search", {"q": "c"})


@pytest.mark.parametrize(
    "rest",
    [
        [tool("02", "search", tool_call_id="1"), tool("03", "search", tool_call_id="2"), llm("04", says("done"))],
        [tool("02", "search"), tool("03", "search")],
        [tool("02", "execute_tool search"), tool("03", "search", tool_call_id="another")],
        [llm("04", says("done"), input_messages=(result("x", "1"), result("y", "2")))],
        [llm("04", says("done"), input_messages=(result("x"), result("y")))],
        [tool("02", "search", tool_call_id="1"), llm("04", input_messages=(result("y", "2"),))],
        [tool("02", "search", tool_call_id="1"), llm("04", input_messages=(result("x"), result("y")))],
        [
            tool("02", "search", tool_call_id="1"),
            tool("03", "search"),
            llm("04", input_messages=(user("?"), result("x", "1"))),
        ],
    ],
)
def test_calls_are_answered_by_spans_or_by_messages(rest: list[ObserveSpan]) -> None:
    """An id joins call and answer; where there is none, the tool's name does, or the number of answers."""
    evaluation = judge(ToolCallsAnswered(), agent(), llm("01", says("", FIRST, SECOND)), *rest)
    assert evaluation.reasoning == "2 tool calls, none left unanswered"
    assert evaluation.score == 1.0


@pytest.mark.parametrize(
    "rest",
    [
        [tool("02", "search", tool_call_id="1"), llm("04", says("done"))],
        [tool("02", "search"), llm("04", says("done"), input_messages=(result("x", "1"),))],
        [tool("02", "search", tool_call_id="1"), llm("04", says("done"), input_messages=(result("x"),))],
        [tool("02", "search", tool_call_id="1"), tool("03", "fetch"), llm("04", says("done"))],
    ],
)
def test_a_call_that_nothing_answers_is_found(rest: list[ObserveSpan]) -> None:
    """One answer, however often it was recorded, answers one call."""
    evaluation = judge(ToolCallsAnswered(), agent(), llm("01", says("", FIRST, SECOND)), *rest)
    assert evaluation.score == 0.0
    assert evaluation.reasoning == "1 of 2 tool calls never answered: search (asked in span 01)"
    assert evaluation.details["findings"] == [{"tool": "search", "tool_call_id": "2", "span_id": "01"}]


def test_a_trace_that_ends_with_calls_says_so() -> None:
    """Calls that nobody got to answer are told from those passed over in the middle."""
    spans = [llm("01", says("", FIRST)), tool("02", "search"), llm("03", says("", NAMELESS))]
    evaluation = judge(ToolCallsAnswered(), agent(), *spans)
    assert evaluation.score == 0.0
    assert evaluation.reasoning.endswith("search (asked in span 03); the trace ends with them")


def test_structured_output_is_no_unanswered_call() -> None:
    """A last call whose arguments are the run's output is how models are made to answer in a given form."""
    final = ToolCall("final_result", {"city": "Paris"}, "9")
    spans = [llm("01", says("", FIRST)), tool("02", "search"), llm("03", says("", final))]
    assert judge(ToolCallsAnswered(), agent(output={"city": "Paris"}), *spans).score == 1.0
    assert judge(ToolCallsAnswered(), agent(output="Paris"), *spans).score == 0.0


def test_a_lone_llm_call_is_answered_elsewhere() -> None:
    """An instrumented SDK makes a trace of every call, so its tools' answers stand in other traces."""
    with pytest.raises(SkipEvaluation, match="answered elsewhere"):
        judge(ToolCallsAnswered(), llm("01", says("", FIRST), parent=None))


def test_without_calls_there_is_nothing_to_answer() -> None:
    """A trace in which no tool was asked for is skipped."""
    with pytest.raises(SkipEvaluation, match="no model asked"):
        judge(ToolCallsAnswered(), llm("01", says("hello")))


def test_a_failed_tool_is_found() -> None:
    """The finding names the tool, its span and its error."""
    failed = tool("02", "search", error=SpanError("no\nconnection", "OSError"))
    evaluation = judge(ToolsSucceeded(), agent(), failed, tool("03", "fetch"))
    assert evaluation.score == 0.0
    assert evaluation.reasoning == "1 of 2 tools failed: search (span 02: OSError: no connection)"
    assert evaluation.details["findings"] == [{"tool": "search", "span_id": "02", "error": "OSError: no\nconnection"}]


def test_tools_that_work_are_clean_and_none_are_skipped() -> None:
    """Without tools there is nothing to judge."""
    assert judge(ToolsSucceeded(), agent(), tool("02", "search")).score == 1.0
    with pytest.raises(SkipEvaluation, match="no tool ran"):
        judge(ToolsSucceeded(), agent())


def same(number: int, name: str = "search") -> list[ToolSpan]:
    """Run a tool a number of times in the same way, its keys in any order."""
    turns: list[JsonValue] = [{"q": "a", "n": 1}, {"n": 1.0, "q": "a"}]
    return [tool(f"{10 + at:02x}", name, arguments=turns[at % 2]) for at in range(number)]


def test_the_same_call_again_and_again_is_found() -> None:
    """More often than the limit is a loop, by the arguments' meaning and not by how they are written."""
    assert judge(NoRepeatedToolCalls(), agent(), *same(3)).score == 1.0
    evaluation = judge(NoRepeatedToolCalls(), agent(), *same(4))
    assert evaluation.score == 0.0
    assert evaluation.reasoning == (
        'the same call again and again: search({"n":1,"q":"a"}) 4 times (span 0a and 3 more)'
    )
    assert evaluation.details["findings"] == [
        {"tool": "search", "arguments": '{"n":1,"q":"a"}', "times": 4, "span_ids": ["0a", "0b", "0c", "0d"]}
    ]


@given(st.integers(1, 6), st.integers(0, 8), st.integers(0, 8))
def test_a_call_asked_for_and_run_is_one(limit: int, asked: int, run: int) -> None:
    """Calls are counted by models or by tools, whichever saw more of them, and never by both together."""
    calls = [ToolCall("search", {"q": "a", "n": 1}, str(number)) for number in range(asked)]
    spans = [agent(), llm("01", says("", *calls)), *same(run)]
    if not asked and not run:
        with pytest.raises(SkipEvaluation, match="no tool was called"):
            judge(NoRepeatedToolCalls(limit=limit), *spans)
    else:
        evaluation = judge(NoRepeatedToolCalls(limit=limit), *spans)
        assert (evaluation.score == 0.0) is (max(asked, run) > limit)


def test_calls_that_differ_are_no_loop() -> None:
    """Other arguments, other tools and arguments that are not known are other calls."""
    spans = [tool(f"{at:02x}", "search", arguments={"page": at}) for at in range(1, 10)]
    unknown = [tool(f"{at:02x}", "fetch") for at in range(10, 20)]
    assert judge(NoRepeatedToolCalls(), agent(), *spans, *unknown).score == 1.0


def test_the_worst_loop_comes_first() -> None:
    """Several loops stand in the order of how often they went round."""
    few = [tool(f"{30 + at:02x}", "fetch", arguments={}) for at in range(4)]
    evaluation = judge(NoRepeatedToolCalls(), agent(), *few, *same(6))
    assert evaluation.details["count"] == 2
    assert evaluation.reasoning.index("search") < evaluation.reasoning.index("fetch")
