"""The check of tools' arguments."""

from __future__ import annotations

import pytest
from checked_traces import agent, judge, llm, says

from pixie_otel.errors import SkipEvaluation
from pixie_otel.evals.evaluation import Evaluation
from pixie_otel.evals.evaluators.checks import ToolArgumentsValid
from pixie_otel.evaluable import JsonValue, ToolCall
from pixie_otel.traces.spans import ToolDefinition

WEATHER = ToolDefinition(
    "get_weather",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def judged(call: ToolCall, *tools: ToolDefinition, **fields: object) -> Evaluation:
    """Judge one call of a model that was offered the tools."""
    return judge(ToolArgumentsValid(), agent(), llm("01", says("", call), tool_definitions=tools, **fields))


def test_arguments_that_fit_are_clean() -> None:
    """A call as it was declared is what should happen."""
    evaluation = judged(ToolCall("get_weather", {"city": "Paris"}), WEATHER)
    assert evaluation.score == 1.0
    assert evaluation.reasoning == "1 of 1 tool call held against the declared schema"


def test_arguments_that_break_the_schema_are_found() -> None:
    """The finding names the tool, the call, the span and what does not fit."""
    evaluation = judged(ToolCall("get_weather", {"town": "Paris"}, "call_1"), WEATHER)
    assert evaluation.score == 0.0
    assert evaluation.reasoning == (
        "1 of 1 tool call cannot work: get_weather: $: 'city' is a required property (span 01)"
    )
    assert evaluation.details["findings"] == [
        {
            "tool": "get_weather",
            "tool_call_id": "call_1",
            "span_id": "01",
            "problem": "$: 'city' is a required property",
        }
    ]


@pytest.mark.parametrize("tools", [(), (WEATHER,)])
def test_arguments_that_are_no_json_are_found(tools: tuple[ToolDefinition, ...]) -> None:
    """Text that does not parse cannot be passed to a tool, declared or not."""
    evaluation = judged(ToolCall("get_weather", '{"city": "Par'), *tools)
    assert evaluation.score == 0.0
    assert "the arguments are no JSON" in evaluation.reasoning


def test_a_tool_that_was_not_offered_is_found() -> None:
    """A made-up tool is named with those there are."""
    evaluation = judged(ToolCall("get_wether", {}), WEATHER, ToolDefinition("search"))
    assert evaluation.score == 0.0
    assert "get_wether: no such tool was offered, but get_weather, search" in evaluation.reasoning


@pytest.mark.parametrize(
    ("call", "tools", "dropped"),
    [
        (ToolCall("other", {}, type="MCP"), (WEATHER,), 0),
        (ToolCall("other", {}), (WEATHER, ToolDefinition("")), 0),
        (ToolCall("other", {}), (WEATHER,), 3),
        (ToolCall("other", {}), (), 0),
    ],
)
def test_a_tool_may_be_missing_from_a_list_that_is_not_whole(
    call: ToolCall, tools: tuple[ToolDefinition, ...], dropped: int
) -> None:
    """Tools of MCP servers, tools without names and dropped attributes leave gaps in what is known."""
    assert judged(call, *tools, dropped_attributes=dropped).score == 1.0


@pytest.mark.parametrize(
    ("arguments", "tool"),
    [
        (None, WEATHER),
        ("__REDACTED__", WEATHER),
        ("free text", ToolDefinition("get_weather")),
    ],
)
def test_what_cannot_be_held_against_a_schema_is_not(arguments: JsonValue, tool: ToolDefinition) -> None:
    """Arguments that were not recorded or were hidden, and tools that take free text, are left alone."""
    evaluation = judged(ToolCall("get_weather", arguments), tool)
    assert evaluation.score == 1.0
    assert evaluation.reasoning == "1 tool call; no schema to hold their arguments against was recorded"


def test_a_schema_that_is_none_is_told() -> None:
    """A bad declaration is no fault of the call, and is not passed over in silence."""
    bad = ToolDefinition("get_weather", parameters={"type": "objekt"})
    evaluation = judged(ToolCall("get_weather", {}), bad)
    assert evaluation.score == 1.0
    assert evaluation.details["unusable_schemas"] == {
        "get_weather": "it is no JSON Schema: $.type: 'objekt' is not valid under any of the given schemas"
    }


def test_without_tool_calls_there_is_nothing_to_check() -> None:
    """A trace in which no tool was asked for is skipped."""
    with pytest.raises(SkipEvaluation, match="no model asked for a tool"):
        judge(ToolArgumentsValid(), agent(), llm("01", says("hello")))
